/* Mouse, pen, fingers and keys on a map, and its tools: pan, box, lasso, and turn where the map has
 * three dimensions. Both maps of a page share the tool. */

const CLICK_MOST = 4, WHEEL = 0.0016, KEY_ZOOM = 1.4, KEY_PAN = 80; /* CSS pixels */
const TOUCH_REACH = 22, TAPS_APART = 350; /* milliseconds */
const KEY_TURN = Math.PI / 18, DRAG_TURN = Math.PI / 500; /* a key; a CSS pixel */

/* Which tool is in hand. */
class Tools {
    constructor(screens) {
        this.listeners = [];
        this.names = ["pan", "box", "lasso"];
        if (screens.some((screen) => screen.cloud.isSolid)) this.names.push("turn");
        this.name = this.names.includes("turn") ? "turn" : "pan";
        for (const name of ["pan", "box", "lasso", "turn"]) {
            const button = document.getElementById("tool-" + name);
            button.hidden = !this.names.includes(name);
            button.addEventListener("click", () => this.take(name));
        }
        document.getElementById("sides").hidden = !this.names.includes("turn");
        this.take(this.name);
    }

    take(name) {
        if (!this.names.includes(name)) return;
        this.name = name;
        for (const other of this.names) {
            document.getElementById("tool-" + other)
                .setAttribute("aria-pressed", String(other === name));
        }
        for (const listen of this.listeners) listen();
    }
}

class Input {
    constructor(screen, number, { screens, inspector, tools, selection }) {
        Object.assign(this, { screen, number, screens, inspector, tools, selection });
        Object.assign(this, { pointers: new Map(), tapped: -1e9, drawn: null });
        const { over } = screen;
        over.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
        over.addEventListener("pointerdown", (event) => this.down(event));
        over.addEventListener("pointermove", (event) => this.moved(event));
        for (const end of ["pointerup", "pointercancel"]) {
            over.addEventListener(end, (event) => this.up(event, end === "pointerup"));
        }
        over.addEventListener("pointerleave", () => {
            if (inspector.held < 0) inspector.show(-1, screen);
        });
        over.addEventListener("dblclick", () => screen.home());
        over.addEventListener("keydown", (event) => this.key(event));
        for (const [name, act] of [["in", () => this.zoom(KEY_ZOOM)],
            ["out", () => this.zoom(1 / KEY_ZOOM)], ["reset", () => screen.home()]]) {
            screen.frame.querySelector("." + name).addEventListener("click", act);
        }
        tools.listeners.push(() => this.showTool());
        this.showTool();
        screen.layers.push((context) => this.drawShape(context));
    }

    /* What a drag does here: a flat map beside a solid one is panned. */
    get tool() {
        const { name } = this.tools;
        return name === "turn" && !this.screen.cloud.isSolid ? "pan" : name;
    }

    showTool() {
        this.screen.over.dataset.tool = this.tool;
    }

    /* Pixels of the canvas. */
    pixels(event) {
        const box = this.screen.over.getBoundingClientRect(), { ratio } = this.screen.view;
        return { x: (event.clientX - box.left) * ratio, y: (event.clientY - box.top) * ratio };
    }

    zoom(factor) {
        const { view } = this.screen;
        this.screen.zoomAt(factor, view.width / 2, view.height / 2);
    }

    wheel(event) {
        event.preventDefault();
        const unit = event.deltaMode === 1 ? 24 : event.deltaMode === 2 ? 400 : 1;
        const { x, y } = this.pixels(event);
        /* A pinch on a touch pad comes as a wheel with the control key, in small steps. */
        const speed = WHEEL * unit * (event.ctrlKey ? 6 : 1);
        this.screen.zoomAt(Math.exp(-Math.max(-400, Math.min(400, event.deltaY)) * speed), x, y);
    }

    down(event) {
        if (event.button > 0) return;
        const at = this.pixels(event);
        this.screen.over.setPointerCapture(event.pointerId);
        this.pointers.set(event.pointerId, at);
        if (this.pointers.size === 1) this.start = { ...at, isClick: true };
        else {
            this.start.isClick = false;
            this.drawn = null;
        }
    }

    moved(event) {
        const at = this.pixels(event), before = this.pointers.get(event.pointerId);
        if (!before) {
            if (event.pointerType !== "touch") this.inspector.hover(this.screen, at.x, at.y);
            return;
        }
        const far = Math.hypot(at.x - this.start.x, at.y - this.start.y);
        if (far > CLICK_MOST * this.screen.view.ratio) this.start.isClick = false;
        if (this.pointers.size === 1 && !this.start.isClick) this.drag(before, at);
        if (this.pointers.size === 2) this.pinch(event.pointerId, before, at);
        if (this.pointers.size !== 1 || !this.start.isClick) this.pointers.set(event.pointerId, at);
    }

    drag(before, at) {
        const { screen } = this, { ratio } = screen.view;
        if (this.tool === "pan") {
            screen.over.classList.add("dragging");
            screen.pan(at.x - before.x, at.y - before.y);
        } else if (this.tool === "turn") {
            screen.over.classList.add("dragging");
            this.turn((at.x - before.x) / ratio * DRAG_TURN, (at.y - before.y) / ratio * DRAG_TURN);
        } else {
            this.draw(at);
        }
    }

    /* Turns by these angles to the right and down. */
    turn(right, down, isMoving = true) {
        const by = turnTwice(turnAbout(1, right), turnAbout(0, down));
        this.screen.turn(turnTwice(by, this.screen.cloud.facing), isMoving);
    }

    /* Goes on with a box or a lasso. */
    draw(at) {
        const { view } = this.screen, corner = ({ x, y }) => [view.fromX(x), view.fromY(y)];
        const [x0, y0] = corner(this.start), [x1, y1] = corner(at);
        if (this.tool === "box") this.drawn = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
        else this.drawn = (this.drawn || [[x0, y0]]).concat([[x1, y1]]);
        this.screen.refresh();
    }

    drawShape(context) {
        const { screen, drawn } = this;
        if (!drawn) return;
        const trace = () => {
            drawn.forEach(([x, y], i) => context[i ? "lineTo" : "moveTo"](screen.view.toX(x),
                screen.view.toY(y)));
            context.closePath();
        };
        context.beginPath();
        trace();
        context.fillStyle = `rgb(${screen.ink.join(" ")} / 7%)`;
        context.fill();
        screen.outline(context, trace, 0.7);
    }

    /* The box or lasso is drawn: Shift adds to the selection, Alt takes from it. */
    finish(event) {
        const corners = this.tool === "lasso" ? thinned(this.drawn, CORNERS_MOST) : this.drawn;
        const kind = event.altKey ? KINDS.cut : event.shiftKey ? KINDS.add : KINDS.new;
        this.drawn = null;
        this.selection.takeShape(kind, this.screens, this.number,
            corners.map((at) => at.map(toGrid)));
    }

    /* The point between two fingers stays between them. */
    pinch(id, before, at) {
        const [other] = [...this.pointers].filter(([key]) => key !== id).map(([, place]) => place);
        const apart = (a) => Math.max(1, Math.hypot(a.x - other.x, a.y - other.y));
        this.screen.pan((at.x - before.x) / 2, (at.y - before.y) / 2);
        this.screen.zoomAt(apart(at) / apart(before), (at.x + other.x) / 2, (at.y + other.y) / 2);
    }

    up(event, isUp) {
        if (!this.pointers.delete(event.pointerId)) return;
        const { screen } = this;
        screen.over.classList.remove("dragging");
        if (screen.isTurning) screen.turn(screen.cloud.facing, false);
        if (this.drawn && isUp) this.finish(event);
        if (!isUp || !this.start.isClick || this.pointers.size > 0) return;
        const isTouch = event.pointerType === "touch", { x, y } = this.pixels(event);
        if (isTouch && event.timeStamp - this.tapped < TAPS_APART) screen.home();
        else this.inspector.click(screen, x, y, isTouch ? TOUCH_REACH : REACH);
        this.tapped = event.timeStamp;
    }

    /* Escape lets go of what there is last: a shape, a row, the selection. */
    escape() {
        if (this.drawn) {
            this.drawn = null;
            this.screen.refresh();
        } else if (this.inspector.held >= 0) {
            this.inspector.letGo();
        } else {
            this.selection.clear();
        }
    }

    key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const { screen } = this, step = KEY_PAN * screen.view.ratio;
        const arrow = (x, y) => this.tool === "turn" ? this.turn(x * KEY_TURN, y * KEY_TURN, false)
            : screen.pan(-x * step, -y * step);
        const actions = {
            "+": () => this.zoom(KEY_ZOOM), "=": () => this.zoom(KEY_ZOOM),
            "-": () => this.zoom(1 / KEY_ZOOM), "_": () => this.zoom(1 / KEY_ZOOM),
            "0": () => screen.home(), Escape: () => this.escape(),
            ArrowLeft: () => arrow(-1, 0), ArrowRight: () => arrow(1, 0),
            ArrowUp: () => arrow(0, -1), ArrowDown: () => arrow(0, 1),
            p: () => this.tools.take("pan"), b: () => this.tools.take("box"),
            l: () => this.tools.take("lasso"), t: () => this.tools.take("turn"),
            "/": () => document.getElementById("query").focus(),
        };
        if (!Object.hasOwn(actions, event.key)) return;
        event.preventDefault();
        actions[event.key]();
    }
}
