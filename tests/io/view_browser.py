"""The page of iktsne view in Chromium: view_browser.py CHROMIUM FOLDER.

Speaks to chromedriver by its plain protocol (W3C WebDriver), with real events of mouse, wheel, keys
and fingers. FOLDER holds page.html (two dimensions, pictures of a quarter of the rows, row 5 marked, a text of
300 characters for each row), solid.html (three dimensions) and beside.html (both). Exit code 77 where the browser does not start."""

import base64
import collections
import csv
import io
import json
import math
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
PLACE_OF = PLACE.replace("pixelOf(", "pixelOfPlace(")
# Pixels of the canvas in the colour of a class: the discs' middles are, but for their opacity.
COLOURED = """const c = arguments[0], g = page.colours.colourList(), k = page.screen;
k.drawNow();
const pixels = k.map.getContext("2d").getImageData(0, 0, k.map.width, k.map.height).data;
const want = g[c].map((v) => 255 + (v - 255) * 0.85);
let count = 0;
for (let p = 0; p < pixels.length; p += 4)
    if (want.every((v, i) => Math.abs(pixels[p + i] - v) < 4)) count++;
return count"""

GREY = COLOURED.replace("g[c].map", "page.colours.list.context.map")


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
    assert b.run("return page.screen.marked.map((place) => page.data.row[place])") == [5]
    assert b.run("return page.names[0].drawn.length") == 10, "not every name is on the map"
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
        b.run("const s = page.screen, d = s.cloud, p = arguments[0];"
              "s.goTo(d.xy[2 * p], d.xy[2 * p + 1], 40 * s.view.fitScale())", point)
        b.rest()
        b.mouse(b.run(PLACE, point))
        row = b.run("return String(page.data.row[arguments[0]])", point)
        b.until("const e = document.querySelector('#facts dd'); return e && e.textContent === arguments[0]",
                row)
        b.until("return document.querySelector('#facts dd.text') !== null")
        known = facts(b)
        assert len(known["note"]) == 300 and known["note"].startswith(f"Sheet {row}, "), known
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


def type_into(b, selector, text):
    field = b.call("POST", b.session + "/element", {"using": "css selector", "value": selector})
    b.call("POST", f"{b.session}/element/{next(iter(field.values()))}/value", {"text": text})


def check_search(b):
    """A row by its number, words in the texts, a class by its name."""
    type_into(b, "#query", "321\ue007")
    b.rest()
    b.until("return document.querySelector('#facts dd.text') !== null")
    assert facts(b)["row"] == "321"
    assert b.run("return page.data.row[page.screen.rings.at(-1).place]") == 321
    b.run("page.inspector.letGo(); page.search.clear()")
    type_into(b, "#query", "800\ue007")
    assert "0 to 799" in b.run("return document.getElementById('answer').textContent")
    b.run("page.search.clear()")
    type_into(b, "#query", "RARE\" hand")
    b.until("return document.querySelectorAll('#found li').length === 9")
    assert b.run("return document.querySelector('#found button').textContent").startswith("Select 22 rows")
    assert b.run("return document.querySelector('#found mark').textContent") == 'rare" hand'
    b.call("POST", b.session + "/actions", {"actions": []})
    type_into(b, "#query", "\ue007")
    b.until("return page.selection.count === 22")
    rows = b.run("return page.selection.places().map((place) => page.data.row[place])")
    assert rows == list(range(5, 800, 37)), rows
    assert b.run("return document.getElementById('selected').textContent") == "22 rows selected"
    b.run("page.selection.clear(); page.search.clear()")
    type_into(b, "#query", "left")
    b.until("return document.querySelectorAll('#found li').length === 1")
    click(b, "#found button")
    b.until("return page.colours.column.name === 'hand' && page.colours.column.hidden.size === 1")
    b.run("page.colours.show(() => true); page.colours.choose(page.data.columns[0]);"
          "page.search.clear(); page.screen.home()")
    b.until("return page.colours.column.name === 'labels'")
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
    assert b.run(COLOURED, 0) < first / 20 and b.run(COLOURED, 1) >= 0.7 * second
    assert b.run("return document.querySelector('#classes .class').getAttribute('aria-pressed')"
                 ) == "false"
    hidden = b.run("return page.data.columns[0].paint.indexOf(0)")
    b.mouse(b.run(PLACE, hidden))
    known = facts(b)
    assert known is None or known["labels"] != "0", "a hidden point was found"
    grey = b.run(GREY)
    assert grey > first / 2, "no context of hidden points"
    b.run("page.settings.contextControl.click()")
    assert b.run(GREY) < grey / 10, "hidden points are still there"
    assert b.run(COLOURED, 0) < first / 20 and b.run(COLOURED, 1) >= second
    click(b, "#classes li:nth-child(2) .only")
    assert b.run(COLOURED, 0) < first / 20 and b.run(COLOURED, 1) >= second
    assert b.run("return page.data.columns[0].hidden.size") == 9
    b.run("page.settings.contextControl.click()")
    click(b, "#all")
    assert b.run(COLOURED, 0) == first and b.run(COLOURED, 1) == second
    b.run("document.getElementById('theme').closest('details').open = true")
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
        for (let c = 0; c < s.tiles.base.colour.length; c += 4) counted += s.tiles.base.colour[c];
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
        document.getElementById('save').click(); })""")
    assert saved == ["Digits-marks-.png", "blob:"], saved


def drag(b, points):
    b.mouse(points[0], "pointerDown", *points[1:], "pointerUp")
    b.rest()


def check_lasso(b):
    """A lasso by the mouse: its rows, counts by class and CSV against a plain look at every point."""
    click(b, "#tool-lasso")
    middle = b.run(PLACE, 400)
    shape = [[middle[0] + x, middle[1] + y] for x, y in
             ((-120, -10), (-60, -110), (20, -60), (110, -90), (130, 30), (10, 20), (-20, 120), (-120, 60))]
    drag(b, shape)
    found = b.run("return page.selection.places().map((place) => page.data.row[place])")
    pixels = b.run("""const s = page.screen, box = s.over.getBoundingClientRect();
        return Array.from({length: page.data.n}, (_, place) => [page.data.row[place],
            ...s.pixelOfPlace(place).map((at, a) => at / s.view.ratio + [box.left, box.top][a])])""")
    inside = {row for row, x, y in pixels if crossings(shape, x, y) % 2 == 1}
    # What the mouse says comes in whole pixels, and a corner lies on a grid.
    edge = {row for row, x, y in pixels if distance(shape, x, y) < 2}
    assert len(inside) > 30 and inside - edge <= set(found) <= inside | edge, (len(inside), len(found))
    counts = b.run("return page.selection.countByPaint(page.colours.column)")
    assert sum(counts) == len(found) == b.run("return page.selection.count")
    told = b.run("return [...document.querySelectorAll('#shares .count')].map((e) => Number(e.textContent))")
    assert told == sorted((c for c in counts if c), reverse=True)[:6], (told, counts)
    assert f"{counts[0]} of " in b.run("return document.querySelector('#classes .count').textContent")
    csv_text = b.run("return page.selection.csv(page.screens.map((s) => s.cloud)).then((p) => p.join(''))")
    table = list(csv.DictReader(io.StringIO(csv_text, newline="")))
    assert [int(line["row"]) for line in table] == sorted(found)
    assert all(line["note"].startswith(f"Sheet {line['row']}, ") and len(line["note"]) == 300 for line in table)
    assert {line["hand"] for line in table} == {"left", "right"} and "x" in table[0]
    saved = b.run("""return new Promise((done) => {
        HTMLAnchorElement.prototype.click = function () { done([this.download, this.href.slice(0, 5)]); };
        document.getElementById('export').click(); })""")
    assert saved == ["Digits-marks--selected.csv", "blob:"], saved
    count = len(found)
    click(b, "#tool-box")
    box = b.run("const r = page.screen.over.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]")
    begin, end = [round(v) for v in (box[0] + 60, box[1] + 20)], [round(v) for v in (box[2] - 20, box[3] - 60)]
    moves = [{"type": "pause"}, {"type": "pointerMove", "duration": 0, "x": begin[0], "y": begin[1]},
             {"type": "pointerDown", "button": 0},
             {"type": "pointerMove", "duration": 0, "x": end[0], "y": end[1]},
             {"type": "pointerUp", "button": 0}]
    b.act(b.actions("key", [{"type": "keyDown", "value": "\ue008"}]),
          b.actions("pointer", moves, pointerType="mouse"))
    b.call("DELETE", b.session + "/actions")
    b.rest()
    more = b.run("return page.selection.count")
    assert more > count, (more, count)
    b.run("page.screen.over.focus()")
    b.key("\ue00c")
    assert b.run("return page.selection.mask") is None, "Escape does not let go of the selection"
    click(b, "#tool-pan")


def crossings(shape, x, y):
    count = 0
    for (x0, y0), (x1, y1) in zip(shape, shape[1:] + shape[:1]):
        if (y0 > y) != (y1 > y) and x < x0 + (y - y0) / (y1 - y0) * (x1 - x0):
            count += 1
    return count


def distance(shape, x, y):
    least = 1e9
    for (x0, y0), (x1, y1) in zip(shape, shape[1:] + shape[:1]):
        length = (x1 - x0) ** 2 + (y1 - y0) ** 2
        part = min(1, max(0, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length))
        least = min(least, math.hypot(x - x0 - part * (x1 - x0), y - y0 - part * (y1 - y0)))
    return least


def devtools(b, command, **parameters):
    return b.post("/goog/cdp/execute", cmd=command, params=parameters)


def check_print(b, folder):
    """On paper, A4, of a black page: white, the maps as on the screen, the legend with its colours, no tools."""
    if not shutil.which("pdfimages"):
        print("no pdfimages, pdftoppm and pdftotext: what is printed is not tested")
        return
    for page in ("page.html#black=1", "page.html#black=1&webgl", "beside.html#black=1"):
        b.open(folder + "/" + page)
        b.rest()
        wanted = b.run("return page.colours.columns[0].classes.map((entry) => entry[2])")
        with open(folder + "/printed.pdf", "wb") as file:
            file.write(base64.b64decode(b.post("/print", page={"width": 21, "height": 29.7}, background=False)))
        told = read(["pdfimages", "-list", folder + "/printed.pdf"]).splitlines()[2:]
        shapes = [line.split()[12:14] for line in told if int(line.split()[3]) > 99]
        assert shapes and all(abs(int(x) / int(y) - 1) < 0.05 for x, y in shapes), told
        words = read(["pdftotext", folder + "/printed.pdf", "-"])
        assert "labels: 10 classes" in words and "Settings" not in words and "only" not in words, words
        pixels = pixels_of(folder + "/printed.pdf")
        found = collections.Counter(zip(*[iter(pixels)] * 3))
        assert found[255, 255, 255] > 0.7 * len(pixels) / 3, "paper is not white"
        for colour in map(bytes.fromhex, (text[1:] for text in wanted)):
            assert found[tuple(colour)] > 40, ("the legend has no dot of this colour", colour)
            point = [255 + (v - 255) * 0.85 for v in colour]  # of that opacity
            near = sum(n for at, n in found.items() if all(abs(v - w) < 8 for v, w in zip(at, point)))
            assert near > 60, ("the map has no points of this colour", colour, near)
        assert b.run("return page.colours.isBlack"), "the screen is not as before"
    b.open(folder + "/page.html")


def read(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def pixels_of(pdf):
    """Red, green and blue of the first page."""
    done = subprocess.run(["pdftoppm", "-r", "100", "-f", "1", "-l", "1", pdf], check=True, capture_output=True)
    return done.stdout.split(b"\n", 3)[3]  # behind P6, the sides and the range


def check_system(b, folder):
    """A page begins with the background of the system, and follows it, unless its file names one."""
    black = "return [page.colours.isBlack, getComputedStyle(document.body).backgroundColor]"
    for page, follows in (("page.html", True), ("white.html", False)):
        for scheme in ("dark", "light", "dark"):
            devtools(b, "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            is_black = follows and scheme == "dark"
            if scheme == "light":
                b.until("return page.colours.isBlack === arguments[0]", is_black)
            else:
                b.open(folder + "/" + page)
            assert b.run(black) == [is_black, "rgb(0, 0, 0)" if is_black else "rgb(255, 255, 255)"], (page, scheme)
            assert b.run("page.state.write(); return location.hash") == "", "a link keeps what the system says"
    b.open(folder + "/page.html#black=0")
    assert b.run(black)[0] is False, "a link does not keep its background"
    b.open(folder + "/page.html")
    b.run("""window.heard = [matchMedia('(prefers-color-scheme: dark)')];
        heard[0].addEventListener('change', (event) => heard.push(event.matches));
        document.getElementById('theme').click(); dispatchEvent(new Event('beforeprint'))""")
    for scheme, count in (("light", 2), ("dark", 3)):
        devtools(b, "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        b.until("return heard.length === arguments[0]", count)
        b.run("if (heard.length === 2) dispatchEvent(new Event('afterprint'))")
    assert b.run(black)[0] is False, "the system undoes what was chosen by hand"
    devtools(b, "Emulation.setEmulatedMedia", features=[])
    b.open(folder + "/page.html")


def check_state(b, folder):
    """A link shows what was seen: view, classes, column, row, selection, settings."""
    b.run("""page.colours.toggle(3, false); page.colours.toggle(7, false); page.inspector.goTo(page.data.placeOf(77));
        page.selection.takeShape('new', page.screens, 0, [[300000, 300000], [800000, 250000], [600000, 900000]]);
        page.search.findTexts('rare"', () => true).then((f) => page.selection.take({ kind: 'add',
            by: 'words', words: 'rare"' }, f.places));
        page.settings.sizeControl.value = 1; page.settings.apply(); page.colours.setBlack(true)""")
    b.rest()
    told = """return [page.screen.view.x, page.screen.view.y, page.screen.view.scale, [...page.colours.column.hidden].sort(),
        page.inspector.held, page.selection.count, page.screen.sizeFactor, page.colours.isBlack]"""
    b.until("return page.selection.steps.length === 2")
    b.run("page.state.write()")
    before, link = b.run(told), b.run("return location.hash")
    assert before[5] > 22 and before[3] == [3, 7], before
    b.open(folder + "/page.html" + link)
    b.rest()
    after = b.run(told)
    assert all(abs(x - y) <= 1e-5 * abs(x) for x, y in zip(before[:3], after[:3])), (before, after)
    assert before[3:] == after[3:], (before, after)
    b.open(folder + "/page.html#by=1&hide=0&view=nonsense&row=-3&select=s7.1.2!wx&size=%3Cb%3E&names=%")
    assert b.run("return page.colours.column.name") == "hand"
    assert b.run("return [...page.colours.column.hidden]") == [0]
    assert b.run("return [page.inspector.held, page.selection.count]") == [-1, 0]
    b.open(folder + "/page.html")


CONTRAST = """const parse = (text) => { const m = text.match(/[\\d.]+/g).map(Number);
    return m.length > 3 && m[3] === 0 ? null : m.slice(0, 3); };
const light = (rgb) => { const [r, g, b] = rgb.map((v) => v / 255).map((v) =>
    v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c) return c; } return [255, 255, 255]; };
document.querySelectorAll('details').forEach((d) => { d.open = true; });
const bad = [];
for (const e of document.querySelectorAll('body *')) {
    const style = getComputedStyle(e);
    if (!e.getClientRects().length || style.visibility === 'hidden') continue;
    const hasText = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const r = hasText ? ratio(parse(style.color) || [0, 0, 0], ground(e)) : 99;
    if (r < 4.5) bad.push([e.outerHTML.slice(0, 80), r]);
    if (e.matches('button, select, input[type=search]') && style.borderTopStyle === 'solid' &&
        parseFloat(style.borderTopWidth) > 0 && !e.matches('#classes button, #found button')) {
        const edge = ratio(parse(style.borderTopColor), ground(e.parentElement));
        if (edge < 3) bad.push([e.outerHTML.slice(0, 80), edge]);
    }
}
return bad;"""


def check_contrast(b):
    """WCAG 2.2: 4.5 to 1 for text, 3 to 1 for the edges of controls, on white and on black."""
    b.run("page.selection.takeShape('new', page.screens, 0, [[0, 0], [1048575, 0], [1048575, 1048575]]);"
          "page.inspector.hold(9); page.colours.toggle(2, false)")
    b.rest()
    for black in (False, True):
        b.run("page.colours.setBlack(arguments[0])", black)
        time.sleep(0.1)
        bad = b.run(CONTRAST)
        assert bad == [], bad
    b.run("page.colours.setBlack(false); page.selection.clear(); page.inspector.letGo(); page.colours.show(() => true)")
    b.rest()


def check_keys(b):
    """Every control is reached by the tabulator."""
    wanted = b.run("""return [...document.querySelectorAll('button, input, select, summary, canvas.over')]
        .filter((e) => e.getClientRects().length && !e.disabled).length""")
    b.run("document.activeElement.blur()")
    seen = set()
    for _ in range(wanted + 3):
        b.key("\ue004")
        seen.add(b.run("return [...document.querySelectorAll('*')].indexOf(document.activeElement)"))
    assert len(seen - {-1, 0, 2}) >= wanted - 1, (len(seen), wanted)
    b.run("page.screen.over.focus()")
    b.key("l")
    assert b.run("return page.tools.name") == "lasso"
    b.key("p")
    b.key("/")
    assert b.run("return document.activeElement.id") == "query"
    b.run("document.activeElement.blur()")


def check_nearest(b):
    """A row that is held on to tells of the nearest, which are ringed and lead on."""
    b.run("page.inspector.hold(300)")
    b.until("return document.querySelectorAll('#neighbours li').length === 8")
    plain = b.run("""const c = page.screen.cloud, own = c.coordinates(300);
        return Array.from({length: c.n}, (_, i) => [Math.hypot(...c.coordinates(i).map((v, a) => v - own[a])), i])
            .sort((a, b) => a[0] - b[0]).slice(1, 9).map(([, i]) => i)""")
    rings = b.run("return page.screen.rings.map((ring) => ring.place)")
    assert sorted(rings) == sorted(plain + [300]), (rings, plain)
    click(b, "#neighbours button")
    assert b.run("return page.inspector.held") == plain[0]
    b.run("page.inspector.letGo(); page.screen.home()")
    b.rest()


def check_webgl(b, folder):
    b.open(folder + "/page.html#webgl")
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
    """A map in space is turned by the mouse and by keys, from its sides, and its points are found."""
    b.open(folder + "/solid.html")
    assert b.run("return document.getElementById('sides').hidden") is False
    assert b.run("return page.tools.name") == "turn"
    before = b.run("return page.screen.cloud.facing")
    place = b.run(PLACE_OF, 100)
    drag(b, [place, [place[0] + 50, place[1] + 20], [place[0] + 120, place[1] + 50]])
    turned = b.run("return page.screen.cloud.facing")
    assert turned != before and b.run("return page.screen.isTurning") is False
    place = b.run(PLACE_OF, 100)
    b.run("const s = page.screen, p = s.cloud.pointOf(100), d = s.cloud.xy;"
          "s.goTo(d[2 * p], d[2 * p + 1], 60 * s.view.fitScale())")
    b.rest()
    b.mouse(b.run(PLACE_OF, 100))
    row = b.run("return String(page.data.row[100])")
    b.until("const e = document.querySelector('#facts dd'); return e && e.textContent === arguments[0]", row)
    told = facts(b)["at"].replace("\u2212", "-").split(", ")
    wanted = b.run("return page.screen.cloud.coordinates(page.screen.cloud.pointOf(100))")
    assert len(told) == 3 and all(abs(float(t) - w) < 1e-3 * abs(w) + 1e-9 for t, w in zip(told, wanted))
    b.run("page.state.write()")
    link = b.run("return location.hash")
    turned = b.run("return page.screen.cloud.facing")
    b.open(folder + "/solid.html" + link)
    again = b.run("return page.screen.cloud.facing")
    assert all(abs(x - y) < 1e-3 for x, y in zip(turned, again)), (turned, again)
    click(b, "#sides button:nth-of-type(2)")
    xz = b.run("return page.screen.cloud.facing")
    b.run("page.screen.over.focus()")
    b.key("\ue014")
    b.rest()
    assert b.run("return page.screen.cloud.facing") != xz, "arrows do not turn"


def check_beside(b, folder):
    """Two maps of the same rows: pointing, selecting and colours are shared."""
    b.open(folder + "/beside.html")
    b.rest()
    assert b.run("return page.screens.length") == 2
    b.mouse(b.run(PLACE_OF, 50))
    b.until("return page.inspector.place >= 0")
    rings = b.run("return page.screens.map((s) => s.rings.map((r) => r.place))")
    assert rings[0] == rings[1] and len(rings[0]) == 1, rings
    click(b, "#tool-box")
    box = b.run("const r = page.screens[1].over.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]")
    drag(b, [[box[0] + 5, box[1] + 5], [box[0] + box[2] / 2, box[1] + box[3] - 5]])
    count = b.run("return page.selection.count")
    assert 20 < count < 780, count
    other = b.run("""const m = page.selection.mask; return page.screens.map((s) => {
        let shown = 0; for (let i = 0; i < s.cloud.n; i++) if (s.isShown(i) && m[s.cloud.placeOf(i)]) shown++;
        let all = 0; for (let i = 0; i < s.cloud.n; i++) if (s.isShown(i)) all++; return [shown, all]; })""")
    assert other == [[count, count], [count, count]], (other, count)
    rows = b.run("""return page.screens.map((s) => Array.from({length: 800}, (_, place) =>
        s.paint[s.cloud.pointOf(place)]))""")
    assert rows[0] == rows[1], "the maps' colours are not those of the same rows"
    b.run("page.inspector.hold(50)")
    b.until("return /of 8 are also nearest/.test(document.getElementById('neighbours').textContent)")
    ids = b.run("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids)), "an id stands twice"


def main(binary, folder):
    b = Browser(binary)
    try:
        b.open(folder + "/page.html")
        for check in (check_look, check_zoom, check_points, check_search, check_classes, check_lasso,
                      check_nearest, check_tiles, check_save, check_contrast, check_keys, check_fingers):
            begun = time.time()
            check(b)
            print(f"ok: {check.__name__} in {time.time() - begun:.1f} s")
        sent, refused = b.requests()
        sent = {address.split("#")[0] for address in sent}
        assert sent == {"file://" + folder + "/page.html"} and refused == [], (sent, refused)
        check_state(b, folder)
        check_system(b, folder)
        check_print(b, folder)
        bad = [entry for entry in b.log("browser") if entry["level"] == "SEVERE"]
        assert bad == [], bad
        check_webgl(b, folder)
        check_solid(b, folder)
        check_beside(b, folder)
        bad = [entry for entry in b.log("browser") if entry["level"] == "SEVERE"]
        assert bad == [], bad
        check_closed(b)
    finally:
        b.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
