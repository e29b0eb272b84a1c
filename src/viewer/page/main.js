/* The page from data to what is seen: read, show, listen. Everything hangs on `page`. */

const page = {};

function say(text) {
    document.getElementById("state").textContent = text;
}

/* A frame for the browser between two blocks, at most each 50 milliseconds. */
async function breathe(part) {
    const now = performance.now();
    if (now - (page.breathed || 0) < 50) return;
    say(`Unpacking the points: ${Math.round(100 * part)} %`);
    await new Promise((done) => setTimeout(done));
    page.breathed = performance.now();
}

/* What is drawn, beside colours: the size of points, names on the map, the grey context. */
class Settings {
    constructor({ screens, names, colours }, later) {
        Object.assign(this, { screens, names, colours });
        for (const id of ["size", "names", "context"]) {
            this[id + "Control"] = document.getElementById(id);
            this[id + "Control"].addEventListener("input", () => {
                this.apply();
                later();
            });
        }
    }

    apply() {
        for (const screen of this.screens) {
            screen.sizeFactor = 2 ** Number(this.sizeControl.value);
            screen.refresh();
        }
        for (const names of this.names) names.isOn = this.namesControl.checked;
        if (this.colours.hasContext === this.contextControl.checked) return;
        this.colours.hasContext = this.contextControl.checked;
        if (this.colours.list) this.colours.apply();
    }

    /* Those that are not as at the beginning. */
    changed() {
        return [["size", Number(this.sizeControl.value) === 0 ? "" : this.sizeControl.value],
            ["names", this.namesControl.checked ? "" : "0"],
            ["grey", this.contextControl.checked ? "" : "0"]];
    }

    restore(entries) {
        this.sizeControl.value = entries.get("size") || "0";
        this.namesControl.checked = entries.get("names") !== "0";
        this.contextControl.checked = entries.get("grey") !== "0";
        this.apply();
    }
}

/* The frames of the maps: the first is in the page, the second a copy of it. */
function makeFrames(data, title) {
    const first = document.getElementById("frame");
    const frames = data.clouds.map((_, m) => m === 0 ? first : first.cloneNode(true));
    frames.forEach((frame, m) => {
        if (m > 0) {
            for (const part of [frame, ...frame.querySelectorAll("[id]")]) {
                part.removeAttribute("id");
            }
            for (const extra of frame.querySelectorAll(".once")) extra.remove();
            frames[m - 1].after(frame);
        }
        const name = frame.querySelector(".map-name");
        name.hidden = data.clouds.length < 2;
        name.textContent = m === 0 ? title : data.clouds[m].about.name;
    });
    return frames;
}

/* The maps side by side as one PNG file. */
function savePicture(screens, name) {
    const pictures = screens.map((screen) => screen.picture());
    const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
    canvas.width = pictures.reduce((sum, picture) => sum + picture.width, 0);
    canvas.height = Math.max(...pictures.map((picture) => picture.height));
    let left = 0;
    for (const picture of pictures) {
        context.drawImage(picture, left, 0);
        left += picture.width;
    }
    canvas.toBlob((blob) => saveFile(blob, name + ".png"));
}

async function copyLink(button) {
    page.state.write();
    try {
        await navigator.clipboard.writeText(location.href);
        button.textContent = "Copied";
    } catch (error) {
        button.textContent = "It is in the address bar";
    }
    setTimeout(() => { button.textContent = "Copy link"; }, 2000);
}

/* Another background of the system is that of the page, unless one was chosen; and paper is white
 * whatever the screen is. A browser may say that the system is light while it prints, and only
 * afterwards that it is so. */
function followSystem(colours, screens) {
    let isPrinting = false;
    const follow = () => colours.setBlack(!isPrinting && Colours.isBlackBy(colours.chosenBlack));
    const print = (isBegun) => {
        isPrinting = isBegun;
        follow();
        for (const screen of screens) screen.print(isBegun);
    };
    SYSTEM_BLACK.addEventListener("change", follow);
    addEventListener("beforeprint", () => print(true));
    addEventListener("afterprint", () => print(false));
}

async function start() {
    const about = JSON.parse(document.getElementById("about").textContent);
    document.getElementById("title").textContent = about.title;
    document.getElementById("note").textContent = about.note;
    document.documentElement.classList.toggle("black", Colours.isBlackBy(about.black));
    const data = await readData(breathe), frames = makeFrames(data, about.title);
    const marked = about.marked.map(data.placeOf);
    const screens = data.clouds.map((cloud, m) => new MapScreen(cloud, frames[m], marked));
    const selection = new Selection(data), colours = new Colours(data, screens, selection);
    const name = about.title.replace(/\.[^.]*$/, "").replace(/[^\p{L}\p{N}._-]+/gu, "-") || "map";
    selection.colours = colours;
    selection.listeners.push(() => colours.apply());
    Object.assign(page, { data, screens, screen: screens[0], selection, colours });
    page.names = screens.map((screen) => new Names(screen, colours));
    page.legend = new Legend(data, colours, selection);
    page.panel = new SelectionPanel(selection, colours, screens, name);
    page.inspector = new Inspector(data, screens, colours);
    page.search = new Search(data, colours, selection, page.inspector);
    page.tools = new Tools(screens);
    page.inputs = screens.map((screen, m) => new Input(screen, m, page));
    page.settings = new Settings(page, () => page.state.later());
    page.state = new State(page);
    for (const side of document.querySelectorAll("#sides button")) {
        side.addEventListener("click", () => {
            for (const screen of screens) {
                if (screen.cloud.isSolid) screen.turn(SIDES[side.dataset.side], false);
            }
        });
    }
    document.getElementById("save").addEventListener("click", () => savePicture(screens, name));
    const link = document.getElementById("link");
    link.addEventListener("click", () => copyLink(link));
    await page.state.restore();
    followSystem(colours, screens);
    say(data.n === 0 ? "There are no points." : "");
    page.ready = performance.now();
}

document.addEventListener("DOMContentLoaded", () => {
    start().catch((error) => say("This page cannot be shown: " + error.message));
});
