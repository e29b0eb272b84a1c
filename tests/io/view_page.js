"use strict";

/* The page's own scripts without a browser: node view_page.js FOLDER PAGE.html.
 * Its inflate against zlib's; its arrays; what its quadtree finds against a look at every point. */

const assert = require("node:assert");
const fs = require("node:fs");
const vm = require("node:vm");
const zlib = require("node:zlib");

const [folder, path] = process.argv.slice(2);
const html = fs.readFileSync(path, "utf8");

function textOf(id) {
    const found = html.match(new RegExp(`id="${id}">([^<]*)</script>`));
    return found ? found[1] : null;
}

/* A page that is just enough for the scripts; its inflate is that of the page. */
const element = (id) => textOf(id) === null ? null : { textContent: textOf(id), remove() {} };
const world = vm.createContext({
    location: { hash: "#own-inflate" }, atob, document: { getElementById: element },
});
const scripts = ["inflate.js", "data.js", "quadtree.js"];
vm.runInContext(scripts.map((name) => fs.readFileSync(`${folder}/${name}`, "utf8")).join("") +
    ";globalThis.own = { inflate, readData, rangesOfRectangle, rangeOfSquare, nearestPoint, chooseAxes };",
world);
const { own } = world;

function checkInflate() {
    const kinds = [Buffer.alloc(0), Buffer.from("a"), Buffer.alloc(100000, "abc"),
        Buffer.from(Array.from({ length: 70000 }, (_, i) => i * i >> 7 & 255)), Buffer.from(html)];
    for (const bytes of kinds) {
        for (const options of [{ level: 0 }, { level: 1 }, { level: 9 },
            { strategy: zlib.constants.Z_FIXED }, { strategy: zlib.constants.Z_HUFFMAN_ONLY }]) {
            const out = own.inflate(zlib.deflateRawSync(bytes, options), bytes.length);
            assert(Buffer.from(out).equals(bytes), JSON.stringify(options));
        }
    }
    const packed = zlib.deflateRawSync(Buffer.from("some bytes, and some bytes again"));
    assert.throws(() => own.inflate(packed, 31));
    assert.throws(() => own.inflate(packed.subarray(0, 9), 32));
}

/* Repeatable, evenly spread numbers below 1. */
function* numbers() {
    for (let i = 1; ; i++) yield i * 0.6180339887498949 % 1;
}

function checkRectangles(data) {
    const next = numbers(), value = () => next.next().value;
    for (let trial = 0; trial < 40; trial++) {
        const width = 2 ** (32 - trial % 20), x0 = value() * 2 ** 32 - width / 2;
        const y0 = value() * 2 ** 32 - width / 2;
        const box = { x0, y0, x1: x0 + width, y1: y0 + width * value() };
        const ranges = own.rangesOfRectangle(data, box, 16);
        const isIn = new Uint8Array(data.n);
        for (let r = 0; r < ranges.length; r += 2) isIn.fill(1, ranges[r], ranges[r + 1]);
        for (let i = 0; i < data.n; i++) {
            const x = data.xy[2 * i], y = data.xy[2 * i + 1];
            const inside = x >= box.x0 && x <= box.x1 && y >= box.y0 && y <= box.y1;
            assert(!inside || isIn[i], `point ${i} is missing`);
        }
    }
}

function checkNearest(data) {
    for (let trial = 0; trial < 25 && data.n > 0; trial++) {
        const at = trial * 7919 % data.n, x = data.xy[2 * at] + 3e5, y = data.xy[2 * at + 1] - 5e5;
        const reach = 2 ** 27, isShown = (i) => i % 3 !== 0;
        let best = -1, least = reach * reach;
        for (let i = 0; i < data.n; i++) {
            const square = (data.xy[2 * i] - x) ** 2 + (data.xy[2 * i + 1] - y) ** 2;
            if (isShown(i) && (square < least || square === least && best < 0)) {
                best = i;
                least = square;
            }
        }
        assert.strictEqual(own.nearestPoint(data, x, y, reach, isShown), best);
    }
}

function checkSquares(data) {
    for (let depth = 0; depth <= 3; depth++) {
        let sum = 0;
        for (let cell = 0; cell < 4 ** depth; cell++) {
            const column = cell % 2 ** depth, row = Math.floor(cell / 2 ** depth);
            const [first, end] = own.rangeOfSquare(data, depth, column, row);
            for (let i = first; i < end; i++) {
                const side = 2 ** (32 - depth);
                assert(Math.floor(data.xy[2 * i] / side) === column);
                assert(Math.floor(data.xy[2 * i + 1] / side) === row);
            }
            sum += end - first;
        }
        assert.strictEqual(sum, data.n);
    }
}

/* Other axes and back again: every row keeps its coordinates and colours. */
function checkAxes(data) {
    const known = new Map();
    const factsOf = (i) => {
        const at = [];
        for (const axis of [0, 1]) at[data.axes[axis]] = data.xy[2 * i + axis];
        at[3 - data.axes[0] - data.axes[1]] = data.z[i];
        return at.concat(data.place ? data.place[i] : i,
            data.columns.map((column) => (column.paint || column.value)[i])).join(" ");
    };
    for (let i = 0; i < data.n; i++) known.set(data.row[i], factsOf(i));
    for (const axes of [[0, 2], [1, 2], [0, 1]]) {
        own.chooseAxes(data, axes);
        for (let i = 0; i < data.n; i++) assert.strictEqual(factsOf(i), known.get(data.row[i]));
        checkSquares(data);
    }
    for (let i = 0; i < data.n; i++) assert.strictEqual(data.place[i], i, "another order");
}

async function main() {
    checkInflate();
    const data = await own.readData(async () => {});
    assert.deepStrictEqual(Array.from(data.row).sort((a, b) => a - b),
        Array.from({ length: data.n }, (_, i) => i));
    checkRectangles(data);
    checkNearest(data);
    checkSquares(data);
    if (data.z) checkAxes(data);
    console.log(`${path}: ${data.n} points`);
}

main();
