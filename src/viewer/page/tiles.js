/* Far views: points summed into cells of about a pixel.
 *
 * Method: at level L the square round the map has 2^L x 2^L cells. Each keeps how many shown points
 * it has and the sums of their colours in linear light; it is drawn in their mean colour, the more
 * opaque the more there are, by the logarithm, as `iktsne plot` does. Levels are made in tiles of
 * 256 x 256 cells when they come into view, and kept. The points of a tile stand together, so a
 * tile costs a few nanoseconds a point of it; the coarsest three levels come from one pass over
 * all.
 * Advantage: a frame copies finished pictures, whatever the number of points, and nothing of it is
 * in the file. Disadvantage: other colours or classes need that pass again (a tenth of a second for
 * ten million points), and between two levels pictures are scaled, so single points look soft. */

const TILE = 256, TILE_BITS = 8, BASE = 10, COARSEST = TILE_BITS, FINEST = 24, TILES_KEPT = 420;

/* Linear light of sRGB values, and back from 4096 steps. */
const LINEAR = Float32Array.from({ length: 256 }, (_, v) =>
    v <= 10 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
const FROM_LINEAR = Uint8Array.from({ length: 4097 }, (_, i) => {
    const l = i / 4096;
    return Math.round(255 * (l <= 0.0031308 ? 12.92 * l : 1.055 * l ** (1 / 2.4) - 0.055));
});

/* Sums of count and colour, four numbers a cell, of twice as wide cells. */
function coarser(sums, width) {
    const half = width / 2, out = new Float32Array(4 * half * half);
    for (let y = 0; y < width; y++) {
        for (let x = 0; x < width; x++) {
            const from = 4 * (y * width + x), to = 4 * ((y >> 1) * half + (x >> 1));
            for (let c = 0; c < 4; c++) out[to + c] += sums[from + c];
        }
    }
    return out;
}

/* The count that 99 % of the cells with points do not exceed. */
function highCount(sums) {
    const counts = [];
    for (let cell = 0; cell < sums.length; cell += 4) if (sums[cell] > 0) counts.push(sums[cell]);
    const sorted = Float32Array.from(counts).sort();
    return Math.max(2, sorted[Math.floor(0.99 * (sorted.length - 1))] || 0);
}

class Tiles {
    constructor(data) {
        this.data = data;
        this.kept = new Map();
        this.base = new Float32Array(4 << 2 * BASE);
        this.scratch = new Float32Array(4 * TILE * TILE);
    }

    /* colours: { red, green, blue, shown } by paint, which says a point's colour. */
    setColours(colours, paint) {
        this.paint = paint;
        this.shown = colours.shown;
        this.light = new Float32Array(3 * colours.shown.length);
        colours.shown.forEach((_, i) => {
            this.light[3 * i] = LINEAR[colours.red[i]];
            this.light[3 * i + 1] = LINEAR[colours.green[i]];
            this.light[3 * i + 2] = LINEAR[colours.blue[i]];
        });
        this.levels = null;
        this.kept.clear();
    }

    /* Adds points first .. end - 1 to cells of side 2^shift from (column, row) on. */
    add(sums, width, shift, column, row, first, end) {
        const { paint, shown, light } = this, { xy } = this.data;
        for (let i = first; i < end; i++) {
            const p = paint[i];
            if (!shown[p]) continue;
            const x = (xy[2 * i] >>> shift) - column, y = (xy[2 * i + 1] >>> shift) - row;
            const cell = 4 * (y * width + x);
            sums[cell]++;
            sums[cell + 1] += light[3 * p];
            sums[cell + 2] += light[3 * p + 1];
            sums[cell + 3] += light[3 * p + 2];
        }
    }

    /* The coarsest levels, and how dense they are. */
    prepare() {
        this.base.fill(0);
        this.add(this.base, 1 << BASE, 32 - BASE, 0, 0, 0, this.data.n);
        this.levels = [];
        this.levels[BASE] = this.base;
        for (let l = BASE - 1; l >= COARSEST; l--) {
            this.levels[l] = coarser(this.levels[l + 1], 2 << l);
        }
        this.high = this.levels.map(highCount);
    }

    /* Cells to a picture: `width` cells a line of sums, from cell `from` on. */
    shade(sums, width, from, level) {
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = TILE;
        const context = canvas.getContext("2d"), image = context.createImageData(TILE, TILE);
        const high = this.high[Math.min(level, BASE)] / 4 ** Math.max(0, level - BASE);
        const logHigh = Math.log(Math.max(2, high)); /* of the count at which a cell is opaque */
        const one = Math.min(0.85, Math.max(0.3, 0.85 - 0.55 * logHigh / Math.log(1000)));
        for (let y = 0; y < TILE; y++) {
            let cell = 4 * (from + y * width), pixel = 4 * (TILE - 1 - y) * TILE;
            for (let x = 0; x < TILE; x++, cell += 4, pixel += 4) {
                const count = sums[cell];
                if (count === 0) continue;
                const opacity = one + (1 - one) * Math.min(1, Math.log(count) / logHigh);
                for (let c = 0; c < 3; c++) {
                    image.data[pixel + c] = FROM_LINEAR[sums[cell + 1 + c] / count * 4096 | 0];
                }
                image.data[pixel + 3] = 255 * opacity;
            }
        }
        context.putImageData(image, 0, 0);
        return canvas;
    }

    make(level, column, row) {
        if (level <= BASE) {
            const width = 1 << level;
            return this.shade(this.levels[level], width, row * TILE * width + column * TILE, level);
        }
        const [first, end] = rangeOfSquare(this.data, level - TILE_BITS, column, row);
        if (first === end) return null;
        this.scratch.fill(0);
        this.add(this.scratch, TILE, 32 - level, column * TILE, row * TILE, first, end);
        return this.shade(this.scratch, TILE, 0, level);
    }

    /* A kept tile, or one made now where mayMake says so; undefined: none. The one used longest ago
     * is dropped first. */
    find(level, column, row, mayMake) {
        const key = (level * 2 ** 24 + row) * 2 ** 24 + column;
        let tile = this.kept.get(key);
        if (tile === undefined && mayMake()) tile = this.make(level, column, row);
        if (tile === undefined) return undefined;
        this.kept.delete(key);
        this.kept.set(key, tile);
        if (this.kept.size > TILES_KEPT) this.kept.delete(this.kept.keys().next().value);
        return tile;
    }

    /* A tile, or the part of a coarser one that covers it. */
    drawTile(context, level, column, row, at, mayMake) {
        const tile = this.find(level, column, row, mayMake);
        if (tile !== undefined) {
            if (tile) context.drawImage(tile, at.x, at.y, at.width, at.height);
            return true;
        }
        for (let up = 1; up <= level - COARSEST; up++) {
            const part = 2 ** up, side = TILE / part;
            const above = this.find(level - up, Math.floor(column / part), Math.floor(row / part),
                () => false);
            if (above === undefined || side < 1) continue;
            if (above) context.drawImage(above, column % part * side,
                TILE - side - row % part * side, side, side, at.x, at.y, at.width, at.height);
            break;
        }
        return false;
    }

    /* Draws the view. cell: pixels that a cell should have, about. Makes tiles for about
     * `budget` milliseconds; returns whether all were there. */
    draw(context, view, cell, budget) {
        if (!this.levels) this.prepare();
        const wanted = Math.round(Math.log2(view.scale * SIDE / cell));
        const level = Math.min(FINEST, Math.max(COARSEST, wanted));
        const side = 2 ** (32 - level + TILE_BITS), last = 2 ** (level - TILE_BITS) - 1;
        const until = performance.now() + budget, box = view.box();
        let made = 0; /* one at least, however slow the machine */
        const mayMake = () => made++ === 0 || performance.now() < until;
        const clamp = (unit) => Math.min(last, Math.max(0, Math.floor(unit / side)));
        let complete = true;
        context.imageSmoothingEnabled = true;
        for (let row = clamp(box.y0); row <= clamp(box.y1); row++) {
            for (let column = clamp(box.x0); column <= clamp(box.x1); column++) {
                const x = Math.round(view.toX(column * side));
                const y = Math.round(view.toY((row + 1) * side));
                const at = { x, y, width: Math.round(view.toX((column + 1) * side)) - x,
                    height: Math.round(view.toY(row * side)) - y };
                complete = this.drawTile(context, level, column, row, at, mayMake) && complete;
            }
        }
        return complete;
    }
}
