"""The page of iktsne view in Chromium: view_browser.py CHROMIUM FOLDER.

Speaks to chromedriver by its plain protocol (W3C WebDriver), with real events of mouse, wheel, keys
and fingers. FOLDER holds page.html (two dimensions, pictures of a quarter of the rows, row 5 marked)
and solid.html (three). Exit code 77 where the browser does not start."""

import base64
import json
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zlib

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--enable-unsafe-swiftshader", "--window-size=1100,800"]
WAIT = 30  # seconds


class Browser:
    def __init__(self, binary):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.profile = tempfile.mkdtemp()
        self.address = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = ""
        try:
            self.begin(binary)
        except (OSError, RuntimeError) as error:
            print("Chromium does not start here: not tested:", error)
            self.end()
            sys.exit(77)

    def begin(self, binary):
        for _ in range(10 * WAIT):
            try:
                self.call("GET", "/status")
                break
            except OSError:
                time.sleep(0.1)
        options = {"binary": binary, "args": FLAGS + ["--user-data-dir=" + self.profile]}
        wanted = {"goog:chromeOptions": options,
                  "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = "/session/" + made["sessionId"]

    def end(self):
        if self.session:
            self.call("DELETE", self.session)
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data=data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=2 * WAIT) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:500]) from error

    def post(self, path, **body):
        return self.call("POST", self.session + path, body)

    def run(self, script, *arguments):
        return self.post("/execute/sync", script=script, args=list(arguments))

    def open(self, path):
        self.post("/url", url="about:blank")  # so that another fragment is another page
        self.post("/url", url="file://" + path)
        self.until("return typeof page !== 'undefined' && Boolean(page.ready)")

    def until(self, script, *arguments):
        end = time.time() + WAIT
        while not self.run(script, *arguments):
            assert time.time() < end, "not within time: " + script + self.run(
                "return document.getElementById('state').textContent")
            time.sleep(0.03)

    def rest(self):
        """Until nothing moves and no frame is asked for."""
        self.until("return !page.screen.way && !page.screen.asked")

    def actions(self, kind, actions, name="one", **parameters):
        # chromedriver does not survive two kinds of one name.
        source = {"type": kind, "id": kind + " " + name, "actions": actions}
        if parameters:
            source["parameters"] = parameters
        return source

    def act(self, *sources):
        self.post("/actions", actions=list(sources))

    def mouse(self, *steps):
        moves = []
        for step in steps:
            moves.append({"type": step} if isinstance(step, str) else
                         {"type": "pointerMove", "duration": 0, "x": round(step[0]), "y": round(step[1])})
            if isinstance(step, str):
                moves[-1]["button"] = 0
        self.act(self.actions("pointer", moves, pointerType="mouse"))

    def wheel(self, at, down):
        self.act(self.actions("wheel", [{"type": "scroll", "x": round(at[0]), "y": round(at[1]),
                                         "deltaX": 0, "deltaY": down}]))

    def key(self, key):
        self.act(self.actions("key", [{"type": "keyDown", "value": key},
                                      {"type": "keyUp", "value": key}]))

    def log(self, kind):
        return self.post("/se/log", type=kind)

    def requests(self):
        """Addresses that pages from files asked for and the page's policy let through."""
        asked, refused = {}, set()
        for entry in self.log("performance"):
            message = json.loads(entry["message"])["message"]
            parameters = message["params"]
            if message["method"] == "Network.requestWillBeSent":
                if parameters["documentURL"].startswith("file:"):
                    asked[parameters["requestId"]] = parameters["request"]["url"]
            if message["method"] == "Network.loadingFailed":
                if parameters.get("blockedReason") == "csp":
                    refused.add(parameters["requestId"])
        return ([url for key, url in asked.items() if key not in refused],
                [url for key, url in asked.items() if key in refused])


VIEW = "const v = page.screen.view; return [v.x, v.y, v.scale / v.fitScale()]"
PLACE = """const box = page.screen.over.getBoundingClientRect(), v = page.screen.view;
const [x, y] = page.screen.pixelOf(arguments[0]);
return [x / v.ratio + box.left, y / v.ratio + box.top]"""
# Pixels of the canvas in the colour of a class: the discs' middles are, but for their opacity.
COLOURED = """const c = arguments[0], g = page.legend.colours, k = page.screen;
k.drawNow();
const pixels = k.map.getContext("2d").getImageData(0, 0, k.map.width, k.map.height).data;
const want = [g.red[c], g.green[c], g.blue[c]].map((v) => 255 + (v - 255) * 0.85);
let count = 0;
for (let p = 0; p < pixels.length; p += 4)
    if (want.every((v, i) => Math.abs(pixels[p + i] - v) < 4)) count++;
return count"""


def picture_colours(png, lines):
    """How many different colours the upper lines of an 8-bit PNG picture have (RFC 2083)."""
    at, data, head = 8, b"", None
    while at < len(png):
        length, = struct.unpack(">I", png[at:at + 4])
        kind, body = png[at + 4:at + 8], png[at + 8:at + 8 + length]
        head = struct.unpack(">IIBB", body[:10]) if kind == b"IHDR" else head
        data += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, colour = head
    assert depth == 8 and colour in (2, 6), head
    size, raw = (3 if colour == 2 else 4), zlib.decompress(data)
    stride, before, colours = width * size, bytearray(width * size), set()
    for y in range(min(lines, height)):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            left = line[i - size] if i >= size else 0
            corner = before[i - size] if i >= size else 0
            guess = left + before[i] - corner
            nearest = min((left, before[i], corner), key=lambda v: abs(guess - v))
            line[i] = line[i] + (0, left, before[i], (left + before[i]) // 2, nearest)[kind] & 255
        colours.update(bytes(line[i:i + 3]) for i in range(0, stride, size))
        before = line
    return len(colours)


def check_look(b):
    assert b.run("return document.title") == "Digits & <marks>"
    assert b.run("return document.getElementById('title').textContent") == "Digits & <marks>"
    names = b.run("return [...document.querySelectorAll('#classes .name')].map((e) => e.textContent)")
    assert names == [str(digit) for digit in range(10)], names
    assert b.run("return page.screen.isWebgl") is False
    assert b.run("return page.screen.usesDiscs") is True
    assert b.run("return page.data.row[page.screen.crosses[0]]") == 5
    shot = b.call("GET", b.session + "/screenshot")
    assert picture_colours(base64.b64decode(shot), 120) > 50, "the page is blank"
    nameless = b.run("""return [...document.querySelectorAll('button, input, select')].filter((e) =>
        !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels && e.labels.length))
        .map((e) => e.outerHTML)""")
    assert nameless == [], nameless


def check_zoom(b):
    before = b.run(VIEW)
    box = b.run("const r = page.screen.over.getBoundingClientRect();"
                "return [r.left, r.top, r.width, r.height]")
    at = [box[0] + 0.3 * box[2], box[1] + 0.4 * box[3]]
    under = """const r = page.screen.over.getBoundingClientRect(), v = page.screen.view;
        return [v.fromX((arguments[0] - r.left) * v.ratio), v.fromY((arguments[1] - r.top) * v.ratio)]"""
    spot = b.run(under, round(at[0]), round(at[1]))
    b.wheel(at, -500)
    b.until("return page.screen.view.scale > 1.5 * page.screen.view.fitScale()")
    b.rest()
    still = b.run(under, round(at[0]), round(at[1]))
    assert all(abs(x - y) < 2**32 / 500 for x, y in zip(spot, still)), "the cursor's place moved"
    zoomed = b.run(VIEW)
    b.mouse(at, "pointerDown", [at[0] + 30, at[1] + 10], [at[0] + 60, at[1] - 20], "pointerUp")
    b.rest()
    panned = b.run(VIEW)
    assert panned[2] == zoomed[2] and panned[0] < zoomed[0] and panned[1] < zoomed[1], "no pan"
    b.mouse(at, "pointerDown", "pointerUp", "pointerDown", "pointerUp")
    b.rest()
    assert b.run(VIEW) == before, "a double click does not show everything"
    b.run("page.screen.over.focus()")
    b.key("+")
    b.key("\ue012")
    b.rest()
    keyed = b.run(VIEW)
    assert keyed[2] > 1.3 and keyed[0] < before[0], "no keys"
    b.key("0")
    b.rest()
    assert b.run(VIEW) == before


def check_fingers(b):
    box = b.run("const r = page.screen.over.getBoundingClientRect(); return [r.left + r.width / 2,"
                "r.top + r.height / 2]")

    def finger(name, side):
        steps = [{"type": "pointerMove", "duration": 0, "x": round(box[0] + 40 * side), "y": round(box[1])},
                 {"type": "pointerDown", "button": 0}]
        steps += [{"type": "pointerMove", "duration": 20, "x": round(box[0] + d * side),
                   "y": round(box[1])} for d in (60, 90, 120)]
        return b.actions("pointer", steps + [{"type": "pointerUp", "button": 0}], name,
                         pointerType="touch")

    b.act(finger("left", -1), finger("right", 1))
    b.call("DELETE", b.session + "/actions")
    b.rest()
    assert 2.4 < b.run(VIEW)[2] < 3.6, b.run(VIEW)
    b.run("page.screen.home()")
    b.rest()


def facts(b):
    return b.run("""return document.getElementById('card').hidden ? null : Object.fromEntries(
        [...document.querySelectorAll('#facts dt')].map((e) => [e.textContent,
        e.nextElementSibling.textContent]))""")


def check_points(b):
    """Zooms in on points until they are alone, and points at them."""
    for point in (0, 123, 799):
        b.run("const d = page.data, s = page.screen, p = arguments[0];"
              "s.goTo(d.xy[2 * p], d.xy[2 * p + 1], 40 * s.view.fitScale())", point)
        b.rest()
        b.mouse(b.run(PLACE, point))
        row = b.run("return String(page.data.row[arguments[0]])", point)
        b.until("const e = document.querySelector('#facts dd'); return e && e.textContent === arguments[0]",
                row)
        known = facts(b)
        label = b.run("return String(page.data.columns[0].classes[page.data.columns[0].paint["
                      "arguments[0]]][0])", point)
        assert known["row"] == row and known["labels"] == label, known
        has = point % 4 == 0
        b.until("return document.getElementById(arguments[0]).hidden === false",
                "picture" if has else "absent")
        assert b.run("return document.getElementById(arguments[0]).hidden",
                     "absent" if has else "picture")
    ink = b.run("""page.inspector.show(0); return page.inspector.pictures.read(0).then((p) =>
        [p.length, p.reduce((a, v) => a + v, 0)])""")
    assert ink[0] == 784 and ink[1] > 1000, ink
    b.run("page.screen.home()")
    b.rest()


def check_search(b):
    field = b.call("POST", b.session + "/element", {"using": "css selector", "value": "#row"})
    element = next(iter(field.values()))
    b.call("POST", f"{b.session}/element/{element}/value", {"text": "321\ue007"})
    b.rest()
    assert facts(b)["row"] == "321"
    assert b.run("return page.data.row[page.screen.rings[0].point]") == 321
    b.call("POST", f"{b.session}/element/{element}/clear", {})
    b.call("POST", f"{b.session}/element/{element}/value", {"text": "800\ue007"})
    assert "0 to 799" in b.run("return document.getElementById('answer').textContent")
    b.run("page.inspector.letGo(); page.screen.home()")
    b.rest()
    assert facts(b) is None


def click(b, selector):
    found = b.call("POST", b.session + "/element", {"using": "css selector", "value": selector})
    b.call("POST", f"{b.session}/element/{next(iter(found.values()))}/click", {})
    b.rest()


def check_classes(b):
    first, second = b.run(COLOURED, 0), b.run(COLOURED, 1)
    assert first > 50 and second > 50, (first, second)
    click(b, "#classes li:nth-child(1) .class")
    assert b.run(COLOURED, 0) < first / 20 and b.run(COLOURED, 1) >= second
    assert b.run("return document.querySelector('#classes .class').getAttribute('aria-pressed')"
                 ) == "false"
    hidden = b.run("return page.data.columns[0].paint.indexOf(0)")
    b.mouse(b.run(PLACE, hidden))
    known = facts(b)
    assert known is None or known["labels"] != "0", "a hidden point was found"
    click(b, "#classes li:nth-child(2) .only")
    assert b.run(COLOURED, 0) < first / 20 and b.run(COLOURED, 1) >= second
    assert b.run("return page.data.columns[0].hidden.size") == 9
    click(b, "#all")
    assert b.run(COLOURED, 0) == first and b.run(COLOURED, 1) == second
    click(b, "#theme")
    dark = b.run("return [...page.screen.map.getContext('2d').getImageData(0, 0, 1, 1).data]")
    assert dark == [0, 0, 0, 255], dark
    click(b, "#theme")


def check_tiles(b):
    """Far views of many points, by making few count as many."""
    drawn = b.run("""const s = page.screen; s.view.limit(); while (!s.tiles.draw(s.clearMap(), s.view, 1, 8));
        const pixels = s.map.getContext('2d').getImageData(0, 0, s.map.width, s.map.height).data;
        let ink = 0, counted = 0;
        for (let p = 0; p < pixels.length; p += 4) if (pixels[p] + pixels[p + 1] + pixels[p + 2] < 720) ink++;
        for (let c = 0; c < s.tiles.base.length; c += 4) counted += s.tiles.base[c];
        return [ink, counted, s.tiles.kept.size]""")
    assert drawn[0] > 500 and drawn[1] == 800 and drawn[2] > 0, drawn


def check_closed(b):
    """What would run or load is not allowed to."""
    b.run("""const s = document.createElement('script'); s.textContent = 'globalThis.broken = 1';
        document.body.append(s); const i = new Image(); i.src = 'http://127.0.0.1:9/x.png';
        document.body.append(i);""")
    time.sleep(0.2)
    assert b.run("return globalThis.broken") is None, "the policy lets scripts in"
    sent, refused = b.requests()
    assert refused == ["http://127.0.0.1:9/x.png"] and "http://127.0.0.1:9/x.png" not in sent


def check_save(b):
    saved = b.run("""return new Promise((done) => {
        HTMLAnchorElement.prototype.click = function () { done([this.download, this.href.slice(0, 5)]); };
        page.screen.save('digits.png'); })""")
    assert saved == ["digits.png", "blob:"], saved


def check_webgl(b, folder):
    b.open(folder + "/page.html#webgl&own-inflate")
    if not b.run("return page.screen.isWebgl"):
        print("no WebGL here: its discs are not tested")
        return
    drawn = b.run("""const s = page.screen, gl = s.discs.gl; s.drawNow();
        const pixels = new Uint8Array(4 * s.map.width * s.map.height), seen = new Set();
        gl.readPixels(0, 0, s.map.width, s.map.height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
        let ink = 0;
        for (let i = 0; i < page.data.n; i++) {
            const [x, y] = s.pixelOf(i);
            if (pixels[4 * (Math.floor(s.map.height - y) * s.map.width + Math.floor(x)) + 3] > 0) ink++;
        }
        return [ink, gl.getError()]""")
    assert drawn == [800, 0], drawn


def check_solid(b, folder):
    b.open(folder + "/solid.html")
    assert b.run("return document.getElementById('axes-line').hidden") is False
    before = b.run("return [...page.data.xy.slice(0, 20)]")
    b.run("const e = document.getElementById('axes'); e.selectedIndex = 2;"
          "e.dispatchEvent(new Event('change'))")
    b.rest()
    assert b.run("return page.data.axes") == [1, 2]
    assert b.run("return [...page.data.xy.slice(0, 20)]") != before


def main(binary, folder):
    b = Browser(binary)
    try:
        b.open(folder + "/page.html")
        for check in (check_look, check_zoom, check_points, check_search, check_classes,
                      check_tiles, check_save, check_fingers):
            begun = time.time()
            check(b)
            print(f"ok: {check.__name__} in {time.time() - begun:.1f} s")
        sent, refused = b.requests()
        assert sent == ["file://" + folder + "/page.html"] and refused == [], (sent, refused)
        bad = [entry for entry in b.log("browser") if entry["level"] == "SEVERE"]
        assert bad == [], bad
        check_webgl(b, folder)
        check_solid(b, folder)
        bad = [entry for entry in b.log("browser") if entry["level"] == "SEVERE"]
        assert bad == [], bad
        check_closed(b)
    finally:
        b.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
