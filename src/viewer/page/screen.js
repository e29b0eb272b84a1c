/* What is on the screen: the view, and frames when something has changed.
 *
 * Method: few points in view are drawn as discs (discs.js), many as tiles
 * of sums (tiles.js). Frames are asked for, never drawn by themselves, so a page at rest takes no
 * time.
 * Advantage: either way a frame takes a few milliseconds. Disadvantage: where one way gives way to
 * the other, points change their look a little. */

const DISCS_MOST = 250000, DISC_AREA_MOST = 6e6, TILE_BUDGET = 8, OPACITY = 0.85;
const MARGIN = 0.94, SCALE_MOST = 4000 / 2 ** 20, MOVE_TIME = 220;

class View {
    constructor() {
        Object.assign(this, { x: SIDE / 2, y: SIDE / 2, scale: 1e-7, width: 1, height: 1 });
    }

    /* Pixels a unit at which all is seen. */
    fitScale() {
        return Math.min(this.width, this.height) * MARGIN / SIDE;
    }

    toX(x) {
        return (x - this.x) * this.scale + this.width / 2;
    }

    toY(y) {
        return (this.y - y) * this.scale + this.height / 2;
    }

    fromX(pixel) {
        return this.x + (pixel - this.width / 2) / this.scale;
    }

    fromY(pixel) {
        return this.y - (pixel - this.height / 2) / this.scale;
    }

    /* Units that are seen, and a border of so many pixels. */
    box(border = 0) {
        return { x0: this.fromX(-border), x1: this.fromX(this.width + border),
            y0: this.fromY(this.height + border), y1: this.fromY(-border) };
    }

    /* Neither is all lost from sight, nor are single steps of the positions. */
    limit() {
        const fit = this.fitScale();
        this.scale = Math.min(SCALE_MOST, Math.max(0.4 * fit, this.scale));
        this.x = Math.min(SIDE, Math.max(0, this.x));
        this.y = Math.min(SIDE, Math.max(0, this.y));
    }
}

/* What is done with points of a paint. */
const HIDDEN = 0, CONTEXT = 1, SHOWN = 2;

class MapScreen {
    /* frame: the element with the canvases of this map; marked: rows that have a cross. */
    constructor(cloud, frame, marked) {
        Object.assign(this, { cloud, frame, marked });
        this.view = new View();
        for (const part of ["map", "gl", "over"]) this[part] = frame.querySelector("." + part);
        this.sizeFactor = 1;
        this.rings = []; /* rows that are ringed: { place, isFaint } */
        this.layers = []; /* functions that draw on the points: (context, screen) */
        this.tiles = new Tiles(cloud);
        this.discs = this.makeDiscs();
        this.resize();
        this.home();
        new ResizeObserver(() => this.resize()).observe(this.frame);
    }

    makeDiscs() {
        const canvas = this.gl;
        if (!requested.has("canvas")) {
            try {
                const discs = new WebglDiscs(canvas, this.cloud);
                canvas.addEventListener("webglcontextrestored", () => this.refresh());
                return discs;
            } catch (error) {
                /* no WebGL: below */
            }
        }
        canvas.hidden = true;
        return new Discs(this.map, this.cloud);
    }

    get isWebgl() {
        return this.discs instanceof WebglDiscs;
    }

    resize() {
        if (this.isPrinting) return; /* paper shows the canvases as they are */
        const { view } = this, ratio = window.devicePixelRatio || 1;
        const width = Math.max(1, Math.round(this.frame.clientWidth * ratio));
        const height = Math.max(1, Math.round(this.frame.clientHeight * ratio));
        if (width === view.width && height === view.height) return;
        const zoom = view.scale / view.fitScale();
        Object.assign(view, { width, height, ratio });
        view.scale = zoom * view.fitScale();
        for (const canvas of [this.map, this.over, this.gl]) {
            Object.assign(canvas, { width, height });
        }
        this.frame.style.setProperty("--shape", `${width} / ${height}`);
        this.drawNow();
    }

    /* colours: { red, green, blue, state, context } by paint; rowPaint: the paint of each row;
     * background, ink: [red, green, blue]. */
    setColours(colours, rowPaint, background, ink) {
        Object.assign(this, { colours, rowPaint, background, ink });
        this.paintAgain();
    }

    paintAgain() {
        this.paint = this.cloud.ordered(this.rowPaint);
        this.tiles.setColours(this.colours, this.paint);
        this.discs.setColours(this.colours, this.paint);
        this.refresh();
    }

    /* Shows a map in three dimensions from another side. */
    turn(turn, isMoving) {
        this.isTurning = isMoving;
        this.cloud.turn(turn, isMoving);
        this.paintAgain();
        if (this.onMove) this.onMove();
    }

    isShown(point) {
        return this.colours.state[this.paint[point]] === SHOWN;
    }

    /* Asks for a frame. */
    refresh() {
        if (this.asked) return;
        this.asked = true;
        requestAnimationFrame((now) => {
            this.asked = false;
            this.move(now);
            this.drawNow();
        });
    }

    /* Radius of a point in pixels: as `iktsne plot` draws so many points as there would be in view
     * if they were spread evenly. */
    radius() {
        const { view } = this, zoom = Math.max(1, view.scale / view.fitScale());
        const seen = Math.max(1, this.cloud.total / zoom ** 2);
        const radius = Math.min(6, Math.max(0.65, 3.5 * (1000 / seen) ** 0.25));
        const side = Math.min(view.width, view.height) / 1000;
        return Math.max(0.5, radius * Math.min(side, 2.2 * view.ratio) * this.sizeFactor);
    }

    drawNow() {
        if (!this.colours) return;
        const { view } = this, radius = this.radius();
        const ranges = rangesOfRectangle(this.cloud, view.box(radius + 1), 256);
        const most = this.isWebgl ? DISCS_MOST
            : Math.min(DISCS_MOST, DISC_AREA_MOST / (3 * radius ** 2 + 12));
        const count = ranges.reduce((sum, at, r) => sum + (r % 2 === 1 ? at : -at), 0);
        this.usesDiscs = count <= most;
        if (this.usesDiscs) {
            if (this.isWebgl) this.clearMap();
            this.discs.draw(view, ranges, radius, OPACITY, this.background);
        } else {
            if (this.isWebgl) this.discs.clear();
            const cell = Math.max(1, 1.6 * radius);
            if (!this.tiles.draw(this.clearMap(), view, cell, TILE_BUDGET)) this.refresh();
        }
        this.drawOver();
        if (this.onDraw) this.onDraw();
        this.tellMove();
    }

    /* Tells of another view, once it is another. */
    tellMove() {
        const { x, y, scale } = this.view, seen = `${x} ${y} ${scale}`;
        if (seen === this.seen) return;
        this.seen = seen;
        if (this.onMove) this.onMove();
    }

    clearMap() {
        const context = this.map.getContext("2d"), [red, green, blue] = this.background;
        context.fillStyle = `rgb(${red} ${green} ${blue})`;
        context.fillRect(0, 0, this.map.width, this.map.height);
        return context;
    }

    drawOver() {
        const context = this.over.getContext("2d"), { ratio } = this.view;
        context.clearRect(0, 0, this.over.width, this.over.height);
        context.lineCap = "round";
        for (const draw of this.layers) draw(context, this);
        for (const row of this.marked) {
            const at = this.pixelOfPlace(row), arm = 6 * ratio;
            if (!at) continue;
            const [x, y] = at;
            this.outline(context, () => {
                context.moveTo(x - arm, y);
                context.lineTo(x + arm, y);
                context.moveTo(x, y - arm);
                context.lineTo(x, y + arm);
            });
        }
        for (const ring of this.rings) {
            const at = this.pixelOfPlace(ring.place), part = ring.isFaint ? 0.6 : 1;
            const r = part * Math.max(5 * ratio, this.radius() + 3 * ratio);
            if (at) this.outline(context, () => context.arc(at[0], at[1], r, 0, 2 * Math.PI), part);
        }
    }

    /* Strokes a path with a halo, so that it is seen on any colour. */
    outline(context, trace, part = 1) {
        for (const [colour, width] of [[this.background, 5], [this.ink, 2]]) {
            context.beginPath();
            trace();
            context.lineWidth = width * part * this.view.ratio;
            context.strokeStyle = `rgb(${colour.join(" ")})`;
            context.stroke();
        }
    }

    pixelOf(point) {
        const { xy } = this.cloud;
        return [this.view.toX(xy[2 * point]), this.view.toY(xy[2 * point + 1])];
    }

    /* Where a row is; null where its point is not drawn. */
    pixelOfPlace(place) {
        const point = this.cloud.pointOf(place);
        return point < 0 ? null : this.pixelOf(point);
    }

    /* Zooms so that what is at this pixel stays there. */
    zoomAt(factor, pixelX, pixelY) {
        const { view } = this, x = view.fromX(pixelX), y = view.fromY(pixelY);
        this.way = null;
        view.scale *= factor;
        view.limit();
        view.x = x - (pixelX - view.width / 2) / view.scale;
        view.y = y + (pixelY - view.height / 2) / view.scale;
        view.limit();
        this.refresh();
    }

    pan(pixelsX, pixelsY) {
        const { view } = this;
        this.way = null;
        view.x -= pixelsX / view.scale;
        view.y += pixelsY / view.scale;
        view.limit();
        this.refresh();
    }

    home() {
        this.goTo(SIDE / 2, SIDE / 2, this.view.fitScale());
    }

    /* Moves there, at once where the user wants no motion. */
    goTo(x, y, scale) {
        const { view } = this, still = matchMedia("(prefers-reduced-motion: reduce)").matches;
        if (still || !this.colours) Object.assign(view, { x, y, scale });
        else this.way = { from: { x: view.x, y: view.y, scale: view.scale }, to: { x, y, scale } };
        view.limit();
        this.refresh();
    }

    move(now) {
        const { way, view } = this;
        if (!way) return;
        if (way.begun === undefined) way.begun = now;
        const part = Math.min(1, (now - way.begun) / MOVE_TIME);
        const eased = part * part * (3 - 2 * part);
        view.scale = way.from.scale * (way.to.scale / way.from.scale) ** eased;
        /* What stays in place while both zoom and middle change. */
        const even = way.from.scale === way.to.scale;
        const done = even ? eased : (1 / way.from.scale - 1 / view.scale) /
            (1 / way.from.scale - 1 / way.to.scale);
        view.x = way.from.x + (way.to.x - way.from.x) * done;
        view.y = way.from.y + (way.to.y - way.from.y) * done;
        if (part === 1) this.way = null;
        view.limit();
        this.refresh();
    }

    /* For paper, until it is done: all of the view as the pixels of one canvas. What is drawn by
     * lines a browser draws anew on paper, and cleared places then hide what is below. */
    print(isPrinting) {
        this.isPrinting = isPrinting;
        if (!isPrinting) return this.drawNow();
        const { width, height } = this.map, whole = this.picture().getContext("2d");
        const pixels = whole.getImageData(0, 0, width, height);
        return this.map.getContext("2d").putImageData(pixels, 0, 0);
    }

    /* The view as a canvas of its own. */
    picture() {
        this.drawNow();
        const canvas = document.createElement("canvas");
        Object.assign(canvas, { width: this.map.width, height: this.map.height });
        const context = canvas.getContext("2d");
        context.drawImage(this.map, 0, 0);
        if (this.isWebgl) context.drawImage(this.gl, 0, 0);
        context.drawImage(this.over, 0, 0);
        return canvas;
    }
}
