/* Far views: points summed into cells of about a pixel.
 *
 * Method: at level L the square round the map has 2^L x 2^L cells. Each keeps how many shown points
 * it has and the sums of their colours in linear light; it is drawn in their mean colour, the more
 * opaque the more there are, by the logarithm, as `iktsne plot` does. Points of the context (of
 * classes that are hidden, or not selected) are counted apart and lie in grey below. Levels are
 * made in tiles of 256 x 256 cells when they come into view, and kept. The points of a tile stand
 * together, so a tile costs a few nanoseconds a point of it; the coarsest three levels come from
 * one pass over all.
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

/* Sums of `parts` numbers a cell, of twice as wide cells. */
function coarser(sums, width, parts) {
    const half = width / 2, out = new Float32Array(parts * half * half);
    for (let y = 0; y < width; y++) {
        for (let x = 0; x < width; x++) {
            const from = parts * (y * width + x), to = parts * ((y >> 1) * half + (x >> 1));
            for (let c = 0; c < parts; c++) out[to + c] += sums[from + c];
        }
    }
    return out;
}

/* The count that 99 % of the cells with points do not exceed. */
function highCount(sums, parts) {
    const counts = [];
    for (let cell = 0; cell < sums.length; cell += parts) {
        if (sums[cell] > 0) counts.push(sums[cell]);
    }
    const sorted = Float32Array.from(counts).sort();
    return Math.max(2, sorted[Math.floor(0.99 * (sorted.length - 1))] || 0);
}

/* Sums of a square of cells: count and colour of the points that are shown, and the count of those
 * of the context. */
class Sums {
    constructor(width, colour = new Float32Array(4 * width * width),
        grey = new Float32Array(width * width)) {
        Object.assign(this, { width, colour, grey });
    }

    clear() {
        this.colour.fill(0);
        this.grey.fill(0);
    }

    half() {
        return new Sums(this.width / 2, coarser(this.colour, this.width, 4),
            coarser(this.grey, this.width, 1));
    }
}

class Tiles {
    constructor(cloud) {
        this.cloud = cloud;
        this.kept = new Map();
        this.base = new Sums(1 << BASE);
        this.scratch = new Sums(TILE);
    }

    /* colours: { red, green, blue, state, context } by paint, which says a point's colour. */
    setColours(colours, paint) {
        this.paint = paint;
        this.state = colours.state;
        this.context = colours.context;
        this.light = new Float32Array(3 * colours.state.length);
        colours.state.forEach((_, i) => {
            this.light[3 * i] = LINEAR[colours.red[i]];
            this.light[3 * i + 1] = LINEAR[colours.green[i]];
            this.light[3 * i + 2] = LINEAR[colours.blue[i]];
        });
        this.levels = null;
        this.kept.clear();
    }

    /* Adds points first .. end - 1 to cells of side 2^shift from (column, row) on. */
    add(sums, shift, column, row, first, end) {
        const { paint, state, light } = this, { xy } = this.cloud, { colour, grey, width } = sums;
        for (let i = first; i < end; i++) {
            const p = paint[i], s = state[p];
            if (s === HIDDEN) continue;
            const x = (xy[2 * i] >>> shift) - column, y = (xy[2 * i + 1] >>> shift) - row;
            if (s === CONTEXT) {
                grey[y * width + x]++;
                continue;
            }
            const cell = 4 * (y * width + x);
            colour[cell]++;
            colour[cell + 1] += light[3 * p];
            colour[cell + 2] += light[3 * p + 1];
            colour[cell + 3] += light[3 * p + 2];
        }
    }

    /* The coarsest levels, and how dense they are. */
    prepare() {
        this.base.clear();
        this.add(this.base, 32 - BASE, 0, 0, 0, this.cloud.n);
        this.levels = [];
        this.levels[BASE] = this.base;
        for (let l = BASE - 1; l >= COARSEST; l--) this.levels[l] = this.levels[l + 1].half();
        this.high = this.levels.map((sums) => highCount(sums.colour, 4));
        this.highGrey = this.levels.map((sums) => highCount(sums.grey, 1));
    }

    /* How opaque cells are, by the logarithm of their count: [of one point, of the logarithm]. */
    opacityOf(high, level) {
        const most = high[Math.min(level, BASE)] / 4 ** Math.max(0, level - BASE);
        const logMost = Math.log(Math.max(2, most)); /* of the count at which a cell is opaque */
        return [Math.min(0.85, Math.max(0.3, 0.85 - 0.55 * logMost / Math.log(1000))), logMost];
    }

    /* Cells to a picture: those from cell `from` on. */
    shade(sums, from, level) {
        const canvas = document.createElement("canvas"), { colour, grey, width } = sums;
        canvas.width = canvas.height = TILE;
        const context = canvas.getContext("2d"), image = context.createImageData(TILE, TILE);
        const [one, logMost] = this.opacityOf(this.high, level);
        const [oneGrey, logGrey] = this.opacityOf(this.highGrey, level);
        for (let y = 0; y < TILE; y++) {
            let cell = from + y * width, pixel = 4 * (TILE - 1 - y) * TILE;
            for (let x = 0; x < TILE; x++, cell++, pixel += 4) {
                const count = colour[4 * cell], below = grey[cell];
                if (count === 0 && below === 0) continue;
                const front = count === 0 ? 0
                    : one + (1 - one) * Math.min(1, Math.log(count) / logMost);
                const grown = Math.min(1, Math.log(Math.max(1, below)) / logGrey);
                const back = below === 0 ? 0
                    : (1 - front) * (oneGrey + (1 - oneGrey) * grown);
                for (let c = 0; c < 3; c++) {
                    const own = count === 0 ? 0
                        : FROM_LINEAR[colour[4 * cell + 1 + c] / count * 4096 | 0];
                    image.data[pixel + c] = (own * front + this.context[c] * back) / (front + back);
                }
                image.data[pixel + 3] = 255 * (front + back);
            }
        }
        context.putImageData(image, 0, 0);
        return canvas;
    }

    make(level, column, row) {
        if (level <= BASE) {
            const width = 1 << level;
            return this.shade(this.levels[level], row * TILE * width + column * TILE, level);
        }
        const [first, end] = rangeOfSquare(this.cloud, level - TILE_BITS, column, row);
        if (first === end) return null;
        this.scratch.clear();
        this.add(this.scratch, 32 - level, column * TILE, row * TILE, first, end);
        return this.shade(this.scratch, 0, level);
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
