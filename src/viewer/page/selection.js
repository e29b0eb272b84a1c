/* The rows that are selected: by a lasso or a box on a map, by what is in view, by a search; how
 * many there are of each class; and their export as CSV.
 *
 * A selection is a list of steps, each of which begins anew, adds or takes away. It can be made
 * again from them, which is how a link keeps it. Corners of a shape lie on a grid of 2^20 a side of
 * the map, and as far beyond it, so that what a link says is exactly what was drawn. */

const GRID_BITS = 20, CORNERS_MOST = 48;
const KINDS = { new: "new", add: "add", cut: "cut" };

function toGrid(unit) {
    const step = Math.floor(unit / 2 ** (32 - GRID_BITS)), side = 2 ** GRID_BITS;
    return Math.min(2 * side, Math.max(-side, step));
}

function fromGrid(step) {
    return (step + 0.5) * 2 ** (32 - GRID_BITS);
}

/* The corners of a line that matter, at most so many: those farthest from the line without them
 * (Douglas and Peucker 1973, the farthest first). */
function thinned(corners, most) {
    if (corners.length <= most) return corners;
    const kept = new Set([0, corners.length - 1]), gaps = [];
    const farthest = (from, to) => {
        const [a, b] = [corners[from], corners[to]];
        const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
        let best = -1, most = -1;
        for (let i = from + 1; i < to; i++) {
            const p = corners[i];
            const away = length > 0
                ? Math.abs((b[0] - a[0]) * (a[1] - p[1]) - (a[0] - p[0]) * (b[1] - a[1])) / length
                : Math.hypot(p[0] - a[0], p[1] - a[1]);
            if (away > most) [best, most] = [i, away];
        }
        if (best >= 0) gaps.push({ from, to, best, away: most });
    };
    farthest(0, corners.length - 1);
    while (kept.size < most && gaps.length > 0) {
        gaps.sort((a, b) => a.away - b.away);
        const { from, to, best } = gaps.pop();
        kept.add(best);
        farthest(from, best);
        farthest(best, to);
    }
    return [...kept].sort((a, b) => a - b).map((i) => corners[i]);
}

/* Whether a point lies within the corners (even-odd rule). */
function isInside(corners, x, y) {
    let inside = false;
    for (let i = 0, j = corners.length - 1; i < corners.length; j = i++) {
        const [xi, yi] = corners[i], [xj, yj] = corners[j];
        if (yi > y !== yj > y && x < (xj - xi) * (y - yi) / (yj - yi) + xi) inside = !inside;
    }
    return inside;
}

/* A cell of CSV (RFC 4180). */
function csvCell(text) {
    return /[",\r\n]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text;
}

class Selection {
    constructor(data) {
        Object.assign(this, { data, mask: null, count: 0, steps: [], listeners: [] });
    }

    /* Does a step: { kind: new | add | cut, places } with rows, and what a link keeps of it. */
    take(step, places) {
        const isNew = step.kind === KINDS.new || !this.mask;
        if (isNew) {
            this.mask = new Uint8Array(this.data.n);
            this.steps = [];
        }
        const mark = step.kind === KINDS.cut ? 0 : 1;
        for (const place of places) this.mask[place] = mark;
        this.count = this.mask.reduce((sum, one) => sum + one, 0);
        this.steps.push(step);
        if (this.count === 0) this.clear();
        else this.tell();
    }

    clear() {
        Object.assign(this, { mask: null, count: 0, steps: [] });
        this.tell();
    }

    tell() {
        for (const listen of this.listeners) listen();
    }

    /* Selects what lies within corners [[x, y], ..] on the grid, of the points that are shown. */
    takeShape(kind, screens, map, corners) {
        const screen = screens[map], { cloud } = screen, places = [];
        const shape = corners.map(([x, y]) => [fromGrid(x), fromGrid(y)]);
        const xs = shape.map(([x]) => x), ys = shape.map(([, y]) => y);
        const least = (list) => list.reduce((a, b) => Math.min(a, b));
        const largest = (list) => list.reduce((a, b) => Math.max(a, b));
        const box = { x0: least(xs), x1: largest(xs), y0: least(ys), y1: largest(ys) };
        const ranges = rangesOfRectangle(cloud, box, 64), { state } = screen.colours;
        for (let r = 0; r < ranges.length; r += 2) {
            for (let i = ranges[r]; i < ranges[r + 1]; i++) {
                const place = cloud.placeOf(i);
                /* By the paint without the selection: more can be added to it. */
                if (state[this.paintOf(place)] === SHOWN &&
                    isInside(shape, cloud.xy[2 * i], cloud.xy[2 * i + 1])) places.push(place);
            }
        }
        this.take({ kind, by: "shape", map, corners }, places);
    }

    paintOf(place) {
        return this.colours.paint[place];
    }

    /* Selected rows of each class (or paint) of a column. */
    countByPaint(column) {
        const counts = new Array(column.classes.length).fill(0);
        for (let i = 0; i < this.mask.length; i++) if (this.mask[i]) counts[column.paint[i]]++;
        return counts;
    }

    places() {
        const places = [];
        for (let i = 0; i < this.mask.length; i++) if (this.mask[i]) places.push(i);
        return places.sort((a, b) => this.data.row[a] - this.data.row[b]);
    }

    /* The selected rows as parts of a CSV file: row, coordinates on each map, every column. */
    async csv(clouds) {
        const columns = this.data.columns.filter((column) => column.isTold);
        const { row } = this.data, axes = ["x", "y", "z"];
        const head = ["row"].concat(clouds.flatMap((cloud, m) =>
            axes.slice(0, cloud.about.dimensions).map((axis) => m === 0 ? axis : axis + "_beside")),
        columns.map((column) => column.name));
        const parts = [head.map(csvCell).join(",") + "\r\n"];
        await Promise.all(columns.map((column) => column.load()));
        for (const place of this.places()) {
            const cells = [String(row[place])];
            for (const cloud of clouds) {
                cells.push(...cloud.coordinates(cloud.pointOf(place)).map((at) => numberText(at)));
            }
            for (const column of columns) cells.push(csvCell(await column.textOf(place)));
            parts.push(cells.join(",") + "\r\n");
        }
        return parts;
    }
}

/* --- the panel -------------------------------------------------------------------------------- */

function saveFile(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

class SelectionPanel {
    constructor(selection, colours, screens, name) {
        Object.assign(this, { selection, colours, screens, name });
        this.panel = document.getElementById("selection");
        for (const id of ["selected", "shares", "export", "unselect", "in-view"]) {
            this[id] = document.getElementById(id);
        }
        this.unselect.addEventListener("click", () => selection.clear());
        this.export.addEventListener("click", () => this.save());
        this["in-view"].addEventListener("click", () => this.takeView());
        selection.listeners.push(() => this.write());
        colours.listeners.push(() => this.write());
    }

    /* What is in view of the first map. */
    takeView() {
        const { x0, x1, y0, y1 } = this.screens[0].view.box();
        this.selection.takeShape(KINDS.new, this.screens, 0,
            [[x0, y0], [x1, y0], [x1, y1], [x0, y1]].map((at) => at.map(toGrid)));
    }

    async save() {
        this.export.disabled = true;
        const parts = await this.selection.csv(this.screens.map((screen) => screen.cloud));
        this.export.disabled = false;
        saveFile(new Blob(parts, { type: "text/csv" }), this.name + "-selected.csv");
    }

    /* How many rows are selected, and their share of each class, the largest first. */
    write() {
        const { selection, colours } = this, { column } = colours;
        this.selection_ = document.getElementById("selection");
        this.panel.hidden = !selection.mask;
        this.shares.replaceChildren();
        if (!selection.mask) return;
        this.selected.textContent = manyText(selection.count, "row") + " selected";
        if (!column || !column.classes) return;
        const counts = selection.countByPaint(column);
        const found = [...counts.keys()].filter((c) => counts[c] > 0)
            .sort((a, b) => counts[b] - counts[a]);
        for (const c of found.slice(0, 6)) {
            const share = counts[c] / selection.count, bar = element("i");
            bar.style.width = 100 * share + "%";
            bar.style.backgroundColor = `rgb(${colours.classColour(column.classes[c]).join(" ")})`;
            this.shares.append(element("li", {},
                element("span", { className: "name" }, classText(column.classes[c])),
                element("span", { className: "count" }, countText(counts[c])),
                element("span", { className: "share" }, bar)));
        }
        if (found.length > 6) {
            const rest = found.slice(6).reduce((sum, c) => sum + counts[c], 0);
            this.shares.append(element("li", { className: "rest" },
                `${countText(rest)} in ${manyText(found.length - 6, "other class")}`));
        }
    }
}
