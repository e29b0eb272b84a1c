/* The points of a map, in the order in which they are drawn and found.
 *
 * `xy` holds two numbers a point along the Z-curve of what is seen. `place` says which row of the
 * page a point is; it is null where the points stand as the rows do, which is so for the first map
 * in two dimensions, and spares a copy of every column.
 *
 * Method for three dimensions: the points are turned, projected and sorted anew along the curve, so
 * that all that draws and finds them knows two dimensions only. While a map is being turned that is
 * done with some of the points, as many as a frame has time for.
 * Advantage: one way of drawing, zooming and finding for all maps. Disadvantage: a million points
 * take a third of a second when the map comes to rest. */

const TURNED_MOST = 120000; /* points of a map that is being turned */
const ORDERED_MOST = 250000; /* points that are drawn from the farthest to the nearest */
const HALF = 2 ** 31, NONE = 0xffffffff;

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

/* The order of points along the Z-curve of the upper 24 bits of their positions. */
function curveOrder(x, y) {
    const n = x.length, upper = new Uint32Array(n), lower = new Uint32Array(n);
    let order = new Uint32Array(n), work = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
        order[i] = i;
        upper[i] = SPREAD[x[i] >>> 20] | SPREAD[y[i] >>> 20] << 1;
        lower[i] = SPREAD[x[i] >>> 8 & 4095] | SPREAD[y[i] >>> 8 & 4095] << 1;
    }
    for (const [key, shift] of [[lower, 0], [lower, 16], [upper, 0], [upper, 16]]) {
        sortPass(key, shift, order, work);
        [order, work] = [work, order];
    }
    return order;
}

/* --- turns, as quaternions [w, x, y, z] of length 1 ------------------------------------------- */

function turnAbout(axis, angle) {
    const turn = [Math.cos(angle / 2), 0, 0, 0];
    turn[1 + axis] = Math.sin(angle / 2);
    return turn;
}

/* First b, then a. */
function turnTwice(a, b) {
    const turn = [a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]];
    const length = Math.hypot(...turn);
    return turn.map((part) => part / length);
}

/* The three rows of the matrix of a turn. */
function matrixOf([w, x, y, z]) {
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]];
}

const SIDES = { /* what is seen of a map in three dimensions, to the right and up */
    xy: [1, 0, 0, 0],
    xz: turnAbout(0, -Math.PI / 2),
    yz: turnTwice(turnAbout(0, -Math.PI / 2), turnAbout(2, -Math.PI / 2)),
};

/* --- the points of squares and rectangles, by the order they stand in ---------------------------
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

/* --- the map ------------------------------------------------------------------------------------ */

class Cloud {
    constructor(map, place) {
        this.about = map.about;
        this.total = this.n = map.n;
        this.xy = map.xy;
        this.place = place;
        if (!map.z) return;
        this.solid = { xy: map.xy, z: map.z, place, reach: reachOf(map) };
        this.turn(SIDES.xy);
    }

    get isSolid() {
        return Boolean(this.solid);
    }

    /* Shows the map from another side; with `isMoving` only some of its points. */
    turn(turn, isMoving = false) {
        const { solid } = this, [right, up, near] = matrixOf(turn);
        const step = isMoving ? Math.max(1, Math.ceil(this.total / TURNED_MOST)) : 1;
        const n = Math.ceil(this.total / step), unit = HALF / solid.reach;
        const x = new Uint32Array(n), y = new Uint32Array(n), depth = new Uint8Array(n);
        for (let k = 0, i = 0; k < n; k++, i += step) {
            const a = (solid.xy[2 * i] - HALF) * unit / HALF;
            const b = (solid.xy[2 * i + 1] - HALF) * unit / HALF;
            const c = (solid.z[i] - HALF) * unit / HALF;
            const across = right[0] * a + right[1] * b + right[2] * c + HALF;
            const upwards = up[0] * a + up[1] * b + up[2] * c + HALF;
            x[k] = Math.min(2 * HALF - 1, Math.max(0, across));
            y[k] = Math.min(2 * HALF - 1, Math.max(0, upwards));
            depth[k] = Math.min(255, Math.max(0,
                128 + 127 * (near[0] * a + near[1] * b + near[2] * c) / HALF));
        }
        const order = curveOrder(x, y);
        this.facing = turn;
        this.n = n;
        this.xy = new Uint32Array(2 * n);
        this.index = new Uint32Array(n); /* of the points among those of the file */
        for (let k = 0; k < n; k++) {
            this.xy[2 * k] = x[order[k]];
            this.xy[2 * k + 1] = y[order[k]];
            this.index[k] = order[k] * step;
        }
        this.place = solid.place ? this.index.map((i) => solid.place[i]) : this.index;
        this.inverse = null;
        this.depth = order.map((k) => depth[k]);
        this.back = n <= ORDERED_MOST ? this.farToNear() : null;
    }

    /* The points from the farthest to the nearest. */
    farToNear() {
        const first = new Uint32Array(257), back = new Uint32Array(this.n);
        for (const d of this.depth) first[d + 1]++;
        for (let d = 0; d < 256; d++) first[d + 1] += first[d];
        for (let k = 0; k < this.n; k++) back[first[this.depth[k]]++] = k;
        return back;
    }

    /* The row of a point. */
    placeOf(point) {
        return this.place ? this.place[point] : point;
    }

    /* The point of a row; -1 where it is not among those that are drawn. */
    pointOf(place) {
        if (!this.place) return place;
        if (!this.inverse) {
            this.inverse = new Uint32Array(this.total).fill(NONE);
            for (let k = 0; k < this.n; k++) this.inverse[this.place[k]] = k;
        }
        return this.inverse[place] === NONE ? -1 : this.inverse[place];
    }

    /* An array of the rows as one of the points. */
    ordered(values) {
        if (!this.place) return values;
        const out = new values.constructor(this.n), { place } = this;
        for (let k = 0; k < this.n; k++) out[k] = values[place[k]];
        return out;
    }

    /* Coordinates of a point in the units of the embedding. */
    coordinates(point) {
        const { corner, side, dimensions } = this.about, i = this.solid ? this.index[point] : point;
        const { xy, z } = this.solid || this;
        return [xy[2 * i], xy[2 * i + 1], z ? z[i] : 0].slice(0, dimensions)
            .map((at, axis) => corner[axis] + at / SIDE * side);
    }

    /* The `count` points nearest to a point on the map, with their distances in its units. */
    nearest(point, count) {
        const found = this.solid ? this.nearestOfAll(point, count)
            : this.nearestInPlane(point, count);
        return found.sort((a, b) => a.square - b.square || a.point - b.point).slice(0, count)
            .map((one) => ({ point: one.point,
                distance: Math.sqrt(one.square) / SIDE * this.about.side }));
    }

    nearestInPlane(point, count) {
        const { xy } = this, x = xy[2 * point], y = xy[2 * point + 1];
        for (let reach = SIDE / Math.sqrt(this.n + 1); ; reach *= 2) {
            const found = [];
            const ranges = rangesOfRectangle(this,
                { x0: x - reach, x1: x + reach, y0: y - reach, y1: y + reach }, 16);
            for (let r = 0; r < ranges.length; r += 2) {
                for (let k = ranges[r]; k < ranges[r + 1]; k++) {
                    const square = (xy[2 * k] - x) ** 2 + (xy[2 * k + 1] - y) ** 2;
                    if (k !== point && square <= reach * reach) found.push({ point: k, square });
                }
            }
            if (found.length >= count || reach > 2 * SIDE) return found;
        }
    }

    /* In space, by a look at every point; the list is cut when it has grown long. */
    nearestOfAll(point, count) {
        const { xy, z } = this.solid, i = this.index[point];
        let found = [], most = Infinity;
        for (let k = 0; k < this.n; k++) {
            const j = this.index[k];
            const square = (xy[2 * j] - xy[2 * i]) ** 2 + (xy[2 * j + 1] - xy[2 * i + 1]) ** 2 +
                (z[j] - z[i]) ** 2;
            if (k === point || square > most) continue;
            found.push({ point: k, square });
            if (found.length < 16 * count) continue;
            found = found.sort((a, b) => a.square - b.square).slice(0, count);
            most = found[count - 1].square;
        }
        return found;
    }
}

/* How far from the middle of the cube the farthest point is, in halves of its side. */
function reachOf({ xy, z, n }) {
    let most = 1;
    for (let i = 0; i < n; i++) {
        most = Math.max(most, (xy[2 * i] / HALF - 1) ** 2 + (xy[2 * i + 1] / HALF - 1) ** 2 +
            (z[i] / HALF - 1) ** 2);
    }
    return 1.0001 * Math.sqrt(most);
}
