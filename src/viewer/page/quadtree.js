/* The points of squares and rectangles, by the order they stand in.
 *
 * Method: along the Z-curve the points of each square of the quadtree stand together, and within it
 * those of its four quarters one after the other; where a quarter begins is found by bisection.
 * Advantage: no tree is stored, any depth. Disadvantage: a bisection for each quarter on the
 * way. */

const SIDE = 2 ** 32;

/* First of the points lo .. hi - 1 of a square whose quarter (0 .. 3, by this bit) is q or more. */
function quarterBegin(xy, lo, hi, bit, q) {
    while (lo < hi) {
        const middle = lo + hi >>> 1;
        const own = (xy[2 * middle + 1] >>> bit & 1) << 1 | xy[2 * middle] >>> bit & 1;
        if (own < q) lo = middle + 1;
        else hi = middle;
    }
    return lo;
}

/* [first, end) of the square (column, row) of the 4^depth of that depth. */
function rangeOfSquare(data, depth, column, row) {
    let lo = 0, hi = data.n;
    for (let level = 1; level <= depth && lo < hi; level++) {
        const half = 2 ** (depth - level);
        const q = Math.floor(row / half) % 2 * 2 + Math.floor(column / half) % 2;
        const begin = quarterBegin(data.xy, lo, hi, 32 - level, q);
        hi = q === 3 ? hi : quarterBegin(data.xy, begin, hi, 32 - level, q + 1);
        lo = begin;
    }
    return [lo, hi];
}

/* Ranges [first, end, first, end, ..] that hold all points of the rectangle and few others: squares
 * at its edge that hold no more than `few` points are taken whole. */
function rangesOfRectangle(data, box, few) {
    const ranges = [];
    const visit = (lo, hi, bit, x, y) => {
        const side = 2 ** (bit + 1);
        if (lo === hi || x > box.x1 || y > box.y1 || x + side < box.x0 || y + side < box.y0) return;
        const inside = x >= box.x0 && y >= box.y0 && x + side <= box.x1 && y + side <= box.y1;
        if (inside || hi - lo <= few || bit < 8) {
            if (ranges[ranges.length - 1] === lo) ranges[ranges.length - 1] = hi;
            else ranges.push(lo, hi);
            return;
        }
        for (let q = 0, begin = lo; q < 4; q++) {
            const end = q === 3 ? hi : quarterBegin(data.xy, begin, hi, bit, q + 1);
            visit(begin, end, bit - 1, x + (q & 1) * side / 2, y + (q >> 1) * side / 2);
            begin = end;
        }
    };
    visit(0, data.n, 31, 0, 0);
    return ranges;
}

/* The point of the ranges nearest to (x, y) that `isShown` and lies within `reach`; -1: none. */
function nearestPoint(data, x, y, reach, isShown) {
    const box = { x0: x - reach, x1: x + reach, y0: y - reach, y1: y + reach };
    const ranges = rangesOfRectangle(data, box, 64);
    let best = -1, least = reach * reach;
    for (let r = 0; r < ranges.length; r += 2) {
        for (let i = ranges[r]; i < ranges[r + 1]; i++) {
            const dx = data.xy[2 * i] - x, dy = data.xy[2 * i + 1] - y;
            const square = dx * dx + dy * dy;
            if (square > least || square === least && best >= 0 || !isShown(i)) continue;
            least = square;
            best = i;
        }
    }
    return best;
}

/* One stable pass of a radix sort by 16 bits of key. */
function sortPass(key, shift, from, to) {
    const place = new Uint32Array(65537);
    for (let i = 0; i < key.length; i++) place[(key[i] >>> shift & 65535) + 1]++;
    for (let d = 0; d < 65536; d++) place[d + 1] += place[d];
    for (let i = 0; i < from.length; i++) to[place[key[from[i]] >>> shift & 65535]++] = from[i];
}

/* Bits 0 .. 11 of a number to bits 0, 2, .. 22. */
const SPREAD = Uint32Array.from({ length: 4096 }, (_, value) => {
    let spread = 0;
    for (let b = 0; b < 12; b++) spread |= (value >> b & 1) << 2 * b;
    return spread;
});

/* For maps in three dimensions: two other axes, in the order along their curve. */
function chooseAxes(data, axes) {
    const { n, xy, z } = data, upper = new Uint32Array(n), lower = new Uint32Array(n);
    const held = [0, 1, 2].filter((axis) => !data.axes.includes(axis))[0];
    const along = (axis, i) => axis === held ? z[i] : xy[2 * i + data.axes.indexOf(axis)];
    let order = new Uint32Array(n), work = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
        const x = along(axes[0], i), y = along(axes[1], i);
        order[i] = i;
        upper[i] = SPREAD[x >>> 20] | SPREAD[y >>> 20] << 1;
        lower[i] = SPREAD[x >>> 8 & 4095] | SPREAD[y >>> 8 & 4095] << 1;
    }
    for (const [key, shift] of [[lower, 0], [lower, 16], [upper, 0], [upper, 16]]) {
        sortPass(key, shift, order, work);
        [order, work] = [work, order];
    }
    const other = [0, 1, 2].filter((axis) => !axes.includes(axis))[0];
    const sorted = (array) => array.map((_, i) => array[order[i]]);
    const third = z.map((_, i) => along(other, order[i]));
    data.xy = xy.map((_, e) => along(axes[e & 1], order[e >>> 1]));
    data.z = third;
    data.row = sorted(data.row);
    data.place = sorted(data.place || Uint32Array.from({ length: n }, (_, i) => i));
    for (const column of data.columns) {
        for (const part of ["paint", "value"]) {
            if (column[part]) column[part] = sorted(column[part]);
        }
    }
    data.axes = axes;
}
