/* Mouse, pen, fingers and keys. */

const CLICK_MOST = 4, WHEEL = 0.0016, KEY_ZOOM = 1.4, KEY_PAN = 80; /* CSS pixels */
const TOUCH_REACH = 22, TAPS_APART = 350; /* milliseconds */

class Input {
    constructor(screen, inspector) {
        Object.assign(this, { screen, inspector, pointers: new Map(), tapped: -1e9 });
        const { over } = screen;
        over.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
        over.addEventListener("pointerdown", (event) => this.down(event));
        over.addEventListener("pointermove", (event) => this.moved(event));
        for (const end of ["pointerup", "pointercancel"]) {
            over.addEventListener(end, (event) => this.up(event, end === "pointerup"));
        }
        over.addEventListener("pointerleave", () => {
            if (inspector.held < 0) inspector.show(-1);
        });
        over.addEventListener("dblclick", () => screen.home());
        over.addEventListener("keydown", (event) => this.key(event));
        document.getElementById("in").addEventListener("click", () => this.zoom(KEY_ZOOM));
        document.getElementById("out").addEventListener("click", () => this.zoom(1 / KEY_ZOOM));
        document.getElementById("reset").addEventListener("click", () => screen.home());
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
        else this.start.isClick = false;
    }

    moved(event) {
        const at = this.pixels(event), before = this.pointers.get(event.pointerId);
        if (!before) {
            if (event.pointerType !== "touch") this.inspector.hover(at.x, at.y);
            return;
        }
        const far = Math.hypot(at.x - this.start.x, at.y - this.start.y);
        if (far > CLICK_MOST * this.screen.view.ratio) this.start.isClick = false;
        if (this.pointers.size === 1 && !this.start.isClick) {
            this.screen.over.classList.add("dragging");
            this.screen.pan(at.x - before.x, at.y - before.y);
        }
        if (this.pointers.size === 2) this.pinch(event.pointerId, before, at);
        if (this.pointers.size !== 1 || !this.start.isClick) this.pointers.set(event.pointerId, at);
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
        this.screen.over.classList.remove("dragging");
        if (!isUp || !this.start.isClick || this.pointers.size > 0) return;
        const isTouch = event.pointerType === "touch", { x, y } = this.pixels(event);
        if (isTouch && event.timeStamp - this.tapped < TAPS_APART) this.screen.home();
        else this.inspector.click(x, y, isTouch ? TOUCH_REACH : REACH);
        this.tapped = event.timeStamp;
    }

    key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const step = KEY_PAN * this.screen.view.ratio;
        const actions = {
            "+": () => this.zoom(KEY_ZOOM), "=": () => this.zoom(KEY_ZOOM),
            "-": () => this.zoom(1 / KEY_ZOOM), "_": () => this.zoom(1 / KEY_ZOOM),
            "0": () => this.screen.home(), Escape: () => this.inspector.letGo(),
            ArrowLeft: () => this.screen.pan(step, 0), ArrowRight: () => this.screen.pan(-step, 0),
            ArrowUp: () => this.screen.pan(0, step), ArrowDown: () => this.screen.pan(0, -step),
        };
        if (!Object.hasOwn(actions, event.key)) return;
        event.preventDefault();
        actions[event.key]();
    }
}
