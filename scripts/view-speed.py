#!/usr/bin/env python3
"""Frame times of a page that `iktsne view` wrote, in Chromium without a screen, and a picture of it.

  scripts/view-speed.py PAGE.html [PICTURE.png]

For six seconds the view zooms in 200 times on a dense place and out again, while it goes round six times; the time
from one frame to the next is what requestAnimationFrame sees. 16.7 ms is every frame of a 60 Hz screen. Needs
chromium and chromedriver; wants a quiet machine.
"""
import base64
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "io"))
from view_browser import FLAGS, Browser  # noqa: E402

COURSE = """
const done = arguments[arguments.length - 1], screen = page.screen, view = screen.view, fit = view.fitScale();
const seconds = 6, middle = 2147483648, frames = [];
const xy = screen.cloud.xy;
const point = Math.floor(0.37 * page.data.n), x = xy[2 * point], y = xy[2 * point + 1];
let begin = null, last = null;
function step(now) {
    if (begin === null) begin = now;
    if (last !== null) frames.push(now - last);
    last = now;
    const part = (now - begin) / (1000 * seconds);
    if (part >= 1) {
        frames.sort((a, b) => a - b);
        const at = share => frames[Math.min(frames.length - 1, Math.floor(frames.length * share))];
        return done({frames: frames.length, median_ms: at(0.5), p95_ms: at(0.95), worst_ms: frames[frames.length - 1]});
    }
    const zoom = Math.exp(Math.log(200) * (0.5 - 0.5 * Math.cos(2 * Math.PI * part)));
    const angle = 12 * Math.PI * part, radius = 0.2 * 2 * middle / zoom, near = Math.min(1, (zoom - 1) / 20);
    view.scale = fit * zoom;
    view.x = middle * (1 - near) + x * near + radius * Math.cos(angle);
    view.y = middle * (1 - near) + y * near + radius * Math.sin(angle);
    view.limit();
    screen.drawNow();
    requestAnimationFrame(step);
}
requestAnimationFrame(step);
"""


def main(path, picture=None):
    FLAGS[-1] = "--window-size=1280,900"
    browser = Browser("/usr/bin/chromium")
    try:
        browser.call("POST", browser.session + "/timeouts", {"script": 60000})
        browser.open(os.path.abspath(path))
        told = {"points": browser.run("return page.data.n"), "bytes": os.path.getsize(path),
                "ready_ms": round(browser.run("return page.ready")), "webgl": browser.run("return page.screen.isWebgl")}
        browser.rest()
        if picture:
            with open(picture, "wb") as f:
                f.write(base64.b64decode(browser.call("GET", browser.session + "/screenshot")))
        told.update(browser.post("/execute/async", script=COURSE, args=[]))
        print(json.dumps(told))
    finally:
        browser.end()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
