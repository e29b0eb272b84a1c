"use strict";

/* The positions in the page: from blocks of text to arrays. docs/view.md describes the form.
 *
 * Positions become 32-bit fixed-point numbers, 0 .. 2^32 along the side of the square round the
 * map, of which the file holds the upper 24 bits. The rows stand in the order in which the file has
 * the points of the first map, along a Z-curve: what a row is called here is its place in that
 * order. */

/* "#webgl" and the like behind the page's name: ways that are not taken by themselves. */
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

function inflater() {
    try {
        return new DecompressionStream("deflate-raw");
    } catch (error) {
        throw new Error("this browser cannot unpack its data, as browsers can since 2023; " +
            "please open the file in a newer one");
    }
}

/* The bytes of the block with this id, which must be `size` where that is known. A block that is
 * not kept leaves the page. */
async function unpack(id, size = -1, isKept = false) {
    const element = document.getElementById(id);
    if (!element) throw new Error("the file is cut short: it has no block " + id);
    const packed = new Blob([bytesOfBase64(element.textContent)]);
    if (!isKept) element.remove();
    const bytes = new Uint8Array(
        await new Response(packed.stream().pipeThrough(inflater())).arrayBuffer());
    if (size >= 0 && bytes.length !== size) throw new Error("block " + id + " is damaged");
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

/* The bytes of numbers, which stand plane after plane, each number's together. */
function placeItems(items, bytes, planes, first, count) {
    for (let p = 0; p < planes; p++) {
        for (let i = 0; i < count; i++) items[(first + i) * planes + p] = bytes[p * count + i];
    }
}

/* A block of points, plane after plane: codes to positions, and the numbers behind them. */
function placeBlock(map, bytes, first, count) {
    const { xy } = map;
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
    const from = placeNumbers(map.row, bytes, CODE_PLANES * count, ROW_PLANES, first, count);
    if (!map.z) return;
    placeNumbers(map.z, bytes, from, Z_PLANES, first, count);
    for (let i = first; i < first + count; i++) map.z[i] = map.z[i] << 8 | 128;
}

/* A map of the page: the rows and positions of its points. */
async function readMap(about, n, name, progress) {
    const isSolid = about.dimensions === 3;
    const map = { about, n, row: new Uint32Array(n), xy: new Uint32Array(2 * n),
        z: isSolid ? new Uint32Array(n) : null };
    const record = CODE_PLANES + ROW_PLANES + (isSolid ? Z_PLANES : 0);
    for (let first = 0, block = 0; first < n; first += about.block, block++) {
        const count = Math.min(about.block, n - first);
        placeBlock(map, await unpack(`${name}-${block}`, count * record), first, count);
        await progress((first + count) / n);
    }
    return map;
}

/* The rows of the page, its columns and its maps. `progress` is called with the part that is
 * done. */
async function readData(progress) {
    const about = JSON.parse(document.getElementById("about").textContent);
    if (about.format !== "iktsne-view" || about.version !== 2) throw new Error("unknown format");
    const n = about.rows, maps = [];
    for (const [m, map] of about.maps.entries()) {
        maps.push(await readMap(map, n, ["points", "beside"][m], progress));
    }
    const row = maps[0].row;
    /* Places of rows, made when they are asked for: all of them are 4 bytes a row. */
    let places = null;
    const placeOf = (wanted) => {
        if (!places) {
            places = new Uint32Array(n);
            for (let i = 0; i < n; i++) places[row[i]] = i;
        }
        return places[wanted];
    };
    const clouds = maps.map((map, m) =>
        new Cloud(map, m === 0 ? null : map.row.map((own) => placeOf(own))));
    const columns = about.columns.map((column, c) => new Column(column, c, n));
    columns.forEach((column, c) => { column.teller = column.isTold ? column : columns[c + 1]; });
    return { about, n, row, placeOf, clouds, columns };
}
