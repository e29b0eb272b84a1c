/* Near views without WebGL: every point a smooth disc, drawn by the processor.
 *
 * Method: discs are drawn beforehand at 4 x 4 places within a pixel; a point adds the one for its
 * place to an array of pixels, which is copied to the screen as a whole.
 * Advantage: no call for each point, the same picture everywhere. Disadvantage: time grows with the
 * area that the discs cover. */

const PHASES = 4;

/* What a point of a map in three dimensions has left of its opacity, of 256, by its depth. */
const FOG = Uint16Array.from({ length: 256 }, (_, depth) => 70 + 186 * depth / 255);

/* Coverage 0 .. 256 of the pixels of a disc at each place. */
function makeStamps(radius, opacity) {
    const reach = Math.ceil(radius + 1), size = 2 * reach + 1, stamps = [];
    for (let phase = 0; phase < PHASES * PHASES; phase++) {
        const cx = reach + (phase % PHASES + 0.5) / PHASES;
        const cy = reach + (Math.floor(phase / PHASES) + 0.5) / PHASES;
        const cover = [];
        for (let y = 0; y < size; y++) {
            for (let x = 0; x < size; x++) {
                const distance = Math.hypot(x + 0.5 - cx, y + 0.5 - cy);
                const part = Math.min(1, Math.max(0, radius + 0.5 - distance));
                const weight = Math.round(256 * opacity * part * Math.min(1, 2 * radius) ** 2);
                if (weight > 0) cover.push({ dx: x - reach, dy: y - reach, weight });
            }
        }
        stamps.push(cover);
    }
    return { reach, stamps };
}

class Discs {
    constructor(canvas, cloud) {
        this.canvas = canvas;
        this.context = canvas.getContext("2d");
        this.cloud = cloud;
    }

    setColours(colours, paint) {
        this.paint = paint;
        this.state = colours.state;
        this.rgb = Uint32Array.from(colours.state, (_, i) =>
            colours.blue[i] << 16 | colours.green[i] << 8 | colours.red[i]);
    }

    /* Draws the points of the ranges, those of the context below the others. */
    draw(view, ranges, radius, opacity, background) {
        const key = radius + " " + opacity + " " + this.canvas.width;
        if (this.key !== key) {
            const { reach, stamps } = makeStamps(radius, opacity);
            const line = this.canvas.width + 2 * reach;
            const offsetsOf = (cover) => Int32Array.from(cover, (c) => c.dy * line + c.dx);
            const weights = stamps.map((cover) => Int32Array.from(cover, (c) => c.weight));
            Object.assign(this, { key, reach, offsets: stamps.map(offsetsOf), weights });
        }
        /* Pixels as one array, cleared to the background, with a border for discs at the edge. */
        const width = this.canvas.width + 2 * this.reach;
        const height = this.canvas.height + 2 * this.reach;
        if (!this.image || this.image.width !== width || this.image.height !== height) {
            this.image = this.context.createImageData(width, height);
            this.pixels = new Uint32Array(this.image.data.buffer);
        }
        const [red, green, blue] = background;
        this.pixels.fill((0xff000000 | blue << 16 | green << 8 | red) >>> 0);
        for (const state of [CONTEXT, SHOWN]) {
            if (!this.state.includes(state)) continue;
            if (this.cloud.back) this.add(view, this.cloud.back, 0, this.cloud.n, state);
            else for (let r = 0; r < ranges.length; r += 2) {
                this.add(view, null, ranges[r], ranges[r + 1], state);
            }
        }
        this.context.putImageData(this.image, -this.reach, -this.reach);
    }

    /* Points first .. end - 1, or those that stand there in `order`. Far ones are fainter. */
    add(view, order, first, end, state) {
        const { pixels, paint, rgb, reach, offsets, weights } = this, { xy, depth } = this.cloud;
        const { width, height } = this.image, { scale } = view, states = this.state;
        const left = view.x - (width / 2) / scale, top = view.y + (height / 2) / scale;
        for (let k = first; k < end; k++) {
            const i = order ? order[k] : k, p = paint[i];
            if (states[p] !== state) continue;
            const x = (xy[2 * i] - left) * scale, y = (top - xy[2 * i + 1]) * scale;
            if (!(x >= reach && y >= reach && x < width - reach && y < height - reach)) continue;
            const column = x | 0, row = y | 0, near = depth ? FOG[depth[i]] : 256;
            const phase = ((y - row) * PHASES | 0) * PHASES + ((x - column) * PHASES | 0);
            const offset = offsets[phase], weight = weights[phase], at = row * width + column;
            const even = rgb[p] & 0xff00ff, odd = rgb[p] >>> 8 & 0xff;
            for (let d = 0; d < offset.length; d++) {
                const old = pixels[at + offset[d]], w = weight[d] * near >> 8, v = 256 - w;
                const both = Math.imul(even, w) + Math.imul(old & 0xff00ff, v) >>> 8 & 0xff00ff;
                const green = odd * w + (old >>> 8 & 0xff) * v & 0xff00;
                pixels[at + offset[d]] = 0xff000000 | both | green;
            }
        }
    }
}
