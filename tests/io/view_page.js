"use strict";

/* The page's own scripts without a browser: node view_page.js FOLDER PAGE.html.
 * What it unpacks; its arrays; what its quadtree finds against a look at every point. */

const assert = require("node:assert");
const fs = require("node:fs");
const { Duplex } = require("node:stream");
const vm = require("node:vm");
const zlib = require("node:zlib");

const [folder, path] = process.argv.slice(2);
const html = fs.readFileSync(path, "utf8");

function textOf(id) {
    const found = html.match(new RegExp(`id="${id}">([^<]*)</script>`));
    return found ? found[1] : null;
}

/* A page that is just enough for the scripts; not every node has raw deflate in its own stream. */
const texts = {};
const element = (id) => {
    const text = texts[id] ?? textOf(id);
    return text === null ? null : { textContent: text, remove() {} };
};
const world = vm.createContext({
    location: { hash: "" }, atob, TextDecoder, Blob, Response, document: { getElementById: element },
});
function newBrowser() {
    world.DecompressionStream = function () { return Duplex.toWeb(zlib.createInflateRaw()); };
}
newBrowser();
const scripts = ["data.js", "columns.js", "cloud.js", "selection.js",
    "state.js", "names.js", "screen.js", "inspect.js"];
vm.runInContext(scripts.map((name) => fs.readFileSync(`${folder}/${name}`, "utf8")).join("") +
    ";globalThis.own = { unpack, readData, rangesOfRectangle, rangeOfSquare, nearestPoint, turnAbout," +
    "turnTwice, matrixOf, SIDES, isInside, thinned, stepText, stepOf, rangesText, rangesOf," +
    "densestPlaces, Selection, Inspector };", world);
const { own } = world;

async function checkUnpacking() {
    const bytes = Buffer.from("some bytes, and some bytes again");
    const packed = zlib.deflateRawSync(bytes);
    texts.block = packed.toString("base64");
    assert(Buffer.from(await own.unpack("block", bytes.length)).equals(bytes));
    assert(Buffer.from(await own.unpack("block")).equals(bytes), "of unknown size");
    await assert.rejects(own.unpack("block", 31), /block block is damaged/);
    texts.block = packed.subarray(0, 9).toString("base64");
    await assert.rejects(own.unpack("block", bytes.length));
    await assert.rejects(own.unpack("none"), /it has no block none/);
    delete world.DecompressionStream; /* browsers before 2020 */
    await assert.rejects(own.unpack("block"), /open the file in a newer one/);
    world.DecompressionStream = function () { throw new TypeError("unknown format"); };
    await assert.rejects(own.unpack("block"), /open the file in a newer one/);
    newBrowser();
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

/* What is seen of a map in space: the plain projection, in the order of its curve, of all points or
 * of an even part of them; and every row found again. */
function checkTurns(cloud) {
    const { solid, n } = cloud, turns = [own.SIDES.xy, own.SIDES.xz, own.SIDES.yz,
        own.turnTwice(own.turnAbout(0, 0.7), own.turnAbout(2, -1.9))];
    const rowOf = (i) => solid.place ? solid.place[i] : i;
    for (const turn of turns) {
        cloud.turn(turn);
        assert.strictEqual(cloud.n, n);
        const [right, up] = own.matrixOf(turn), seen = new Set(cloud.place);
        assert.strictEqual(seen.size, n, "a point is lost");
        for (let k = 0; k < n; k++) {
            const i = cloud.index[k], at = [solid.xy[2 * i], solid.xy[2 * i + 1], solid.z[i]]
                .map((unit) => (unit - 2 ** 31) / solid.reach);
            [right, up].forEach((line, axis) => {
                const plain = line.reduce((sum, part, a) => sum + part * at[a], 2 ** 31);
                assert(Math.abs(plain - cloud.xy[2 * k + axis]) < 2, "another projection");
            });
            assert.strictEqual(cloud.place[k], rowOf(i));
            assert.strictEqual(cloud.pointOf(cloud.place[k]), k);
        }
        for (let k = 1; k < n; k++) {
            assert(cloud.depth[cloud.back[k]] >= cloud.depth[cloud.back[k - 1]], "not far to near");
        }
        checkSquares(cloud);
    }
    cloud.turn(own.SIDES.xz);
    const zs = [...cloud.index].map((i) => solid.z[i]);
    const order = [...zs.keys()].sort((a, b) => cloud.xy[2 * a + 1] - cloud.xy[2 * b + 1]);
    for (let k = 1; k < n; k++) assert(zs[order[k]] >= zs[order[k - 1]] - 1000, "z does not grow upwards");
    cloud.turn(own.SIDES.xy);
}

/* The nearest points, and their distances in the units of the embedding, by a look at all. */
function checkNeighbours(cloud) {
    for (let trial = 0; trial < 12 && cloud.n > 9; trial++) {
        const point = trial * 7919 % cloud.n, own_ = cloud.coordinates(point);
        const plain = Array.from({ length: cloud.n }, (_, i) => i).filter((i) => i !== point)
            .map((i) => Math.hypot(...cloud.coordinates(i).map((at, a) => at - own_[a])))
            .sort((a, b) => a - b).slice(0, 8);
        const found = cloud.nearest(point, 8);
        assert.strictEqual(found.length, 8);
        found.forEach((one, k) => assert(Math.abs(one.distance - plain[k]) <= 1e-6 * cloud.about.side));
    }
}

/* Columns, and a search in texts, against a look at every row. */
async function checkColumns(data) {
    for (const column of data.columns) {
        await column.load();
        for (let place = 0; place < data.n; place += 1 + (data.n >> 6)) {
            const text = await column.textOf(place);
            if (column.kind !== "texts") assert(text.length > 0);
        }
        if (column.kind !== "texts") continue;
        for (const words of ["ROW 17 OF", "\u00c9T\u00c9", "no such words"]) {
            const found = [], plain = [];
            await column.search(words, (place) => { found.push(place); }, async () => true);
            for (let place = 0; place < data.n; place++) {
                const text = await column.textOf(place);
                if (text.toLowerCase().includes(words.toLowerCase())) plain.push(place);
            }
            assert.deepStrictEqual(found, plain, words);
        }
    }
}

/* What is told of numbers of things has all their digits, also where it gives the colours. */
async function checkIds(data) {
    const tellers = Object.getOwnPropertyDescriptor(own.Inspector.prototype, "told").get;
    const told = {
        article: (row) => row % 9 === 4 ? "none" : String(30000001 + 7 * row),
        message: (row) => String(1234567890123456789n + 7n * BigInt(row)),
        unsigned: (row) => String(1234567890123456789n + 7n * BigInt(row) + 2n ** 63n),
        ward: (row) => ["1", "01", "001"][row % 3],
    };
    for (const column of data.columns.filter((one) => told[one.name])) {
        const card = { data, colours: { column } }, { teller } = column;
        assert(tellers.call(card).includes(teller), "not told while it gives the colours");
        for (let place = 0; place < data.n; place++) {
            assert.strictEqual(await column.textOf(place), told[column.name](data.row[place]));
        }
    }
}

/* A lasso selects what lies in it, adds and takes away; a link keeps it to the last point. */
function checkSelection(data) {
    const [cloud] = data.clouds, colours = { state: Uint8Array.from([2, 1]) };
    const paint = Uint8Array.from({ length: data.n }, (_, place) => place % 5 === 0 ? 1 : 0);
    const screens = [{ cloud, colours }], corners = [[-70, -9], [900000, 200000], [1048575, 1000000],
        [300000, 700000]];
    const selection = new own.Selection(data);
    selection.colours = { paint };
    selection.takeShape("new", screens, 0, corners);
    const expected = (i) => {
        const shape = corners.map((at) => at.map((step) => (step + 0.5) * 4096));
        let crossings = 0; /* of a ray to the right */
        shape.forEach(([x0, y0], k) => {
            const [x1, y1] = shape[(k + 1) % shape.length], y = cloud.xy[2 * i + 1];
            if (y0 > y === y1 > y) return;
            if (cloud.xy[2 * i] < x0 + (y - y0) / (y1 - y0) * (x1 - x0)) crossings++;
        });
        return crossings % 2 === 1 && paint[cloud.placeOf(i)] === 0;
    };
    let count = 0;
    for (let i = 0; i < cloud.n; i++) {
        const place = cloud.placeOf(i), isIn = selection.mask ? selection.mask[place] === 1 : false;
        assert.strictEqual(isIn, expected(i));
        count += isIn;
    }
    assert.strictEqual(selection.count, count);
    if (count === 0) return;
    const again = new own.Selection(data);
    again.colours = { paint };
    for (const step of selection.steps) {
        const read = own.stepOf(own.stepText(step));
        assert.deepStrictEqual(JSON.stringify(read), JSON.stringify(step));
        again.takeShape(read.kind, screens, read.map, read.corners);
    }
    assert.deepStrictEqual(again.mask, selection.mask);
    again.takeShape("add", screens, 0, [[-1, -1], [1048576, -1], [1048576, 1048576],
        [-1, 1048576]]);
    assert.strictEqual(again.count, paint.reduce((sum, p) => sum + 1 - p, 0));
    again.takeShape("cut", screens, 0, corners);
    assert.strictEqual(again.count, paint.reduce((sum, p) => sum + 1 - p, 0) - count);
}

function checkTexts() {
    assert.strictEqual(own.rangesText(new Set([7, 3, 4, 5, 9])), "3-5.7.9");
    assert.strictEqual(own.rangesOf("3-5.7.9").join(), "3,4,5,7,9");
    assert.strictEqual(own.rangesOf("").length, 0);
    const circle = Array.from({ length: 400 }, (_, i) =>
        [1000 * Math.cos(i / 400 * 2 * Math.PI), 1000 * Math.sin(i / 400 * 2 * Math.PI)]);
    const few = own.thinned(circle, 48);
    assert.strictEqual(few.length, 48);
    for (const [x, y] of circle) {
        assert(own.isInside(few, 0.98 * x, 0.98 * y) && !own.isInside(few, 1.001 * x, 1.001 * y));
    }
}

/* Names stand among the points of their class, and in the larger of two parts. */
function checkNames(cloud) {
    const half = cloud.n >> 1, classes = [[0, half], [1, cloud.n - half]];
    const paint = Uint8Array.from({ length: cloud.n }, (_, i) => i < half ? 0 : 1);
    for (const place of own.densestPlaces(cloud, paint, classes)) {
        const near = own.nearestPoint(cloud, place.x, place.y, 2 ** 29, (i) => paint[i] === place.class);
        assert(near >= 0, "a name stands away from its class");
    }
    const n = 1000, xy = new Uint32Array(2 * n).map((_, e) => (e < 2 * 300 ? 1e9 : 3e9) + e * 1000);
    const [place] = own.densestPlaces({ n, total: n, xy }, new Uint8Array(n), [[0, n]]);
    assert(Math.abs(place.x - 3e9) < 1e7 && Math.abs(place.y - 3e9) < 1e7, "between two parts");
}

async function main() {
    await checkUnpacking();
    checkTexts();
    const data = await own.readData(async () => {});
    assert.deepStrictEqual(Array.from(data.row).sort((a, b) => a - b),
        Array.from({ length: data.n }, (_, i) => i));
    await checkColumns(data);
    await checkIds(data);
    if (data.n > 0) checkSelection(data);
    for (const cloud of data.clouds) {
        for (let i = 0; i < data.n; i += 1 + (data.n >> 8)) {
            assert.strictEqual(cloud.pointOf(cloud.placeOf(i)), i);
        }
        checkRectangles(cloud);
        checkNearest(cloud);
        checkSquares(cloud);
        if (data.n > 20) checkNames(cloud);
        if (data.n < 5000) checkNeighbours(cloud);
        if (cloud.isSolid) checkTurns(cloud);
    }
    console.log(`${path}: ${data.n} points`);
}

main();
