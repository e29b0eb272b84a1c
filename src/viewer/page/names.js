/* Names of classes on the map, each at the densest place of its class.
 *
 * Method: points are counted in a grid for each class, which has about as many cells a side as the
 * square root of the points of a class (8 to 64); the counts are smoothed by 1 2 1 along both axes,
 * and the name stands at the mean of the points in and round the densest cell. Of many points an
 * even part is counted. Larger classes come first, and a name that would lie on another is left out
 * until the map is zoomed.
 * Advantage: a class of two parts has its name on the larger one, never between them.
 * Disadvantage: the smaller part has none. */

const NAMED_MOST = 256, COUNTED_MOST = 400000, NAME_SIZE = 12.5; /* CSS pixels */
const GRID_BITS_LEAST = 3, GRID_BITS_MOST = 6;

/* [{ class, count, x, y }] of a column, the largest class first. */
function densestPlaces(cloud, paint, classes) {
    const bits = Math.min(GRID_BITS_MOST, Math.max(GRID_BITS_LEAST,
        Math.floor(Math.log2(cloud.total / classes.length) / 2)));
    const side = 2 ** bits, cells = side * side, shift = 32 - bits, { xy } = cloud;
    const counts = new Uint32Array(cells * classes.length);
    const step = Math.max(1, Math.ceil(cloud.n / COUNTED_MOST));
    const cellOf = (i) => (xy[2 * i + 1] >>> shift) * side + (xy[2 * i] >>> shift);
    for (let i = 0; i < cloud.n; i += step) counts[paint[i] * cells + cellOf(i)]++;
    const own = (c) => counts.subarray(c * cells, (c + 1) * cells);
    const sums = classes.map((_, c) => ({ class: c, cell: densestCell(own(c), side),
        n: 0, x: 0, y: 0 }));
    for (let i = 0; i < cloud.n; i += step) {
        const sum = sums[paint[i]], cell = cellOf(i);
        const dx = cell % side - sum.cell % side, dy = (cell - sum.cell - dx) / side;
        if (Math.abs(dx) > 1 || Math.abs(dy) > 1) continue;
        sum.n++;
        sum.x += xy[2 * i];
        sum.y += xy[2 * i + 1];
    }
    return sums.filter((sum) => sum.n > 0)
        .map((sum) => ({ class: sum.class, count: classes[sum.class][1], x: sum.x / sum.n,
            y: sum.y / sum.n }))
        .sort((a, b) => b.count - a.count || a.class - b.class);
}

/* The cell with the largest smoothed count, of those that have points. */
function densestCell(counts, side) {
    let best = -1, most = 0;
    for (let cell = 0; cell < side * side; cell++) {
        if (counts[cell] === 0) continue;
        const x = cell % side, y = (cell - x) / side;
        let sum = 0;
        for (let v = Math.max(0, y - 1); v <= Math.min(side - 1, y + 1); v++) {
            for (let u = Math.max(0, x - 1); u <= Math.min(side - 1, x + 1); u++) {
                sum += counts[v * side + u] * (u === x ? 2 : 1) * (v === y ? 2 : 1);
            }
        }
        if (sum > most) [best, most] = [cell, sum];
    }
    return best;
}

class Names {
    constructor(screen, legend) {
        Object.assign(this, { screen, legend, isOn: true });
        screen.layers.push((context) => this.draw(context));
    }

    /* The places, found once for a column and a side of the map. */
    find() {
        const { cloud } = this.screen, { column } = this.legend;
        if (this.xy !== cloud.xy || this.column !== column) {
            this.places = densestPlaces(cloud, cloud.ordered(column.paint), column.classes);
            Object.assign(this, { xy: cloud.xy, column });
        }
        return this.places;
    }

    draw(context) {
        const { screen } = this, { column } = this.legend, { view } = screen;
        if (!this.isOn || !column || !column.classes || !column.paint || screen.isTurning ||
            column.classes.length > NAMED_MOST || column.classes.length < 2) return;
        const taken = [];
        this.drawn = []; /* of which names were drawn */
        for (const place of this.find()) {
            if (column.hidden.has(place.class)) continue;
            const x = view.toX(place.x), y = view.toY(place.y);
            if (x < 0 || y < 0 || x > view.width || y > view.height) continue;
            const text = shortText(classText(column.classes[place.class]), 28);
            const stamp = this.stamp(text), half = stamp.width / 2, up = stamp.height / 2;
            const box = { x0: x - half, x1: x + half, y0: y - 0.8 * up, y1: y + 0.8 * up };
            if (taken.some((other) => box.x0 < other.x1 && box.x1 > other.x0 &&
                box.y0 < other.y1 && box.y1 > other.y0)) continue;
            taken.push(box);
            this.drawn.push(text);
            context.drawImage(stamp, Math.round(x - half), Math.round(y - up));
        }
    }

    /* A name with its halo, drawn once. */
    stamp(text) {
        const { ink, background, view } = this.screen, size = NAME_SIZE * view.ratio;
        const look = `${ink} ${size}`;
        if (this.look !== look) Object.assign(this, { look, stamps: new Map() });
        let stamp = this.stamps.get(text);
        if (stamp) return stamp;
        stamp = document.createElement("canvas");
        const context = stamp.getContext("2d"), family = getComputedStyle(document.body).fontFamily;
        const font = `600 ${size}px ${family}`;
        context.font = font;
        stamp.width = Math.ceil(context.measureText(text).width + size * 0.7);
        stamp.height = Math.ceil(1.6 * size);
        Object.assign(context, { font, textAlign: "center", textBaseline: "middle",
            lineJoin: "round", lineWidth: 4 * view.ratio,
            strokeStyle: `rgb(${background.join(" ")} / 85%)`,
            fillStyle: `rgb(${ink.join(" ")})` });
        context.strokeText(text, stamp.width / 2, stamp.height / 2);
        context.fillText(text, stamp.width / 2, stamp.height / 2);
        this.stamps.set(text, stamp);
        return stamp;
    }
}

/* The text, cut to so many characters. */
function shortText(text, most) {
    const letters = [...text];
    return letters.length <= most ? text : letters.slice(0, most - 1).join("").trimEnd() + "…";
}
