/* The data in the page: from blocks of text to arrays. docs/view.md describes the form.
 *
 * Positions become 32-bit fixed-point numbers, 0 .. 2^32 along the side of the square round the
 * map, of which the file holds the upper 24 bits. Points stay in the order of the file, along a
 * Z-curve. */

/* "#own-inflate" and the like behind the page's name: ways that are not taken by themselves. */
const requested = new Set(location.hash.slice(1).split("&"));

const CODE_PLANES = 6, ROW_PLANES = 4, Z_PLANES = 3;

/* Bits 0, 2, 4 .. of twelve, and above them bits 1, 3, 5 .. */
const APART = Uint16Array.from({ length: 4096 }, (_, code) => {
    let apart = 0;
    for (let b = 0; b < 6; b++) {
        apart |= (code >> 2 * b & 1) << b | (code >> 2 * b + 1 & 1) << b + 6;
    }
    return apart;
});

function bytesOfBase64(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const letters = atob(text), bytes = new Uint8Array(letters.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
    return bytes;
}

/* The bytes of the block with this id, which must be `size`; it leaves the page. */
async function unpack(id, size) {
    const element = document.getElementById(id);
    if (!element) throw new Error("the file is cut short: it has no block " + id);
    const packed = bytesOfBase64(element.textContent);
    element.remove();
    let stream = null;
    try {
        if (!requested.has("own-inflate")) stream = new DecompressionStream("deflate-raw");
    } catch (error) {
        stream = null; /* an older browser */
    }
    const bytes = !stream ? inflate(packed, size) : new Uint8Array(
        await new Response(new Blob([packed]).stream().pipeThrough(stream)).arrayBuffer());
    if (bytes.length !== size) throw new Error("block " + id + " is damaged");
    return bytes;
}

/* Little-endian numbers from `planes` planes that begin at byte `from`. */
function placeNumbers(out, bytes, from, planes, first, count) {
    for (let p = 0; p < planes; p++) {
        const plane = bytes.subarray(from + p * count, from + (p + 1) * count);
        if (p === 0) for (let i = 0; i < count; i++) out[first + i] = plane[i];
        else for (let i = 0; i < count; i++) out[first + i] |= plane[i] << 8 * p;
    }
    return from + planes * count;
}

/* A block of points, plane after plane: codes to positions, and the numbers behind them. */
function placeBlock(data, bytes, first, count) {
    const { xy } = data;
    let upper = 0;
    for (let i = 0; i < count; i++) {
        upper = upper + (bytes[i] << 16 | bytes[count + i] << 8 | bytes[2 * count + i]) & 0xffffff;
        const lower = bytes[3 * count + i] << 16 | bytes[4 * count + i] << 8 | bytes[5 * count + i];
        const a = APART[upper >> 12], b = APART[upper & 4095];
        const c = APART[lower >> 12], d = APART[lower & 4095];
        xy[2 * (first + i)] =
            (a & 63) << 26 | (b & 63) << 20 | (c & 63) << 14 | (d & 63) << 8 | 128;
        xy[2 * (first + i) + 1] =
            (a >> 6) << 26 | (b >> 6) << 20 | (c >> 6) << 14 | (d >> 6) << 8 | 128;
    }
    let from = placeNumbers(data.row, bytes, CODE_PLANES * count, ROW_PLANES, first, count);
    if (data.z) {
        from = placeNumbers(data.z, bytes, from, Z_PLANES, first, count);
        for (let i = first; i < first + count; i++) data.z[i] = data.z[i] << 8 | 128;
    }
    for (const column of data.columns) {
        const out = column.paint || new Uint32Array(column.value.buffer);
        from = placeNumbers(out, bytes, from, column.about.bytes, first, count);
    }
}

/* All points of the page. `progress` is called with the part that is done. */
async function readData(progress) {
    const about = JSON.parse(document.getElementById("about").textContent);
    if (about.format !== "iktsne-view" || about.version !== 1) throw new Error("unknown format");
    const n = about.rows;
    const data = {
        about, n, row: new Uint32Array(n), xy: new Uint32Array(2 * n),
        z: about.dimensions === 3 ? new Uint32Array(n) : null, axes: [0, 1],
        columns: about.columns.map((column) => ({
            about: column, name: column.name, classes: column.classes || null,
            paint: !column.classes ? null
                : new (column.bytes === 1 ? Uint8Array : Uint16Array)(n),
            value: column.classes ? null : new Float32Array(n),
        })),
    };
    const record = about.columns.reduce((sum, column) => sum + column.bytes,
        CODE_PLANES + ROW_PLANES + (data.z ? Z_PLANES : 0));
    for (let first = 0, block = 0; first < n; first += about.block, block++) {
        const count = Math.min(about.block, n - first);
        placeBlock(data, await unpack("points-" + block, count * record), first, count);
        await progress((first + count) / n);
    }
    return data;
}

/* Pictures of points, unpacked when they are asked for. */
class Pictures {
    constructor(about, n) {
        Object.assign(this, about);
        this.n = n;
        this.blocks = new Map();
    }

    /* Number of the picture of the point at that place of the file's order; -1: it has none. */
    numberOf(place) {
        const number = Math.ceil(place * this.count / this.n);
        return number * this.n < (place + 1) * this.count ? number : -1;
    }

    /* Its pixels. */
    async read(number) {
        const block = Math.floor(number / this.block), first = block * this.block;
        const size = this.height * this.width * this.channels;
        if (!this.blocks.has(block)) {
            const count = Math.min(this.block, this.count - first);
            this.blocks.set(block, unpack("pictures-" + block, count * size));
        }
        const bytes = await this.blocks.get(block);
        return bytes.subarray((number - first) * size, (number - first + 1) * size);
    }
}
