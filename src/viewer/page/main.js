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

async function start() {
    const about = JSON.parse(document.getElementById("about").textContent);
    document.getElementById("title").textContent = about.title;
    document.getElementById("note").textContent = about.note;
    document.documentElement.classList.toggle("black", about.black);
    const data = await readData(breathe);
    page.data = data;
    page.screen = new MapScreen(data);
    page.legend = new Legend(data, page.screen);
    page.inspector = new Inspector(data, page.screen);
    page.input = new Input(page.screen, page.inspector);
    const size = document.getElementById("size");
    size.addEventListener("input", () => {
        page.screen.sizeFactor = 2 ** Number(size.value);
        page.screen.refresh();
    });
    const name = about.title.replace(/\.[^.]*$/, "").replace(/[^\p{L}\p{N}._-]+/gu, "-") || "map";
    document.getElementById("save").addEventListener("click", () => page.screen.save(name + ".png"));
    say(data.n === 0 ? "There are no points." : "");
    page.ready = performance.now();
}

document.addEventListener("DOMContentLoaded", () => {
    start().catch((error) => say("This page cannot be shown: " + error.message));
});
