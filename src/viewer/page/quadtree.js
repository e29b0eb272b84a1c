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
