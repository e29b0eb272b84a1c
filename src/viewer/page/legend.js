/* The legend: what colours mean, and which classes are shown.
 *
 * Every point has a paint, a small number: its class, or its step on the ramp of numbers. The
 * legend turns paints into colours; hidden classes are not shown. */

const RAMP = 255, MISSING = 255; /* steps, and the paint of what is not a number */

function rgbOf(hex) {
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function countText(count) {
    return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/* A number as it is read best; a float holds seven digits. */
function numberText(value, digits = 7) {
    if (!Number.isFinite(value)) return "none";
    const text = String(Number(value.toPrecision(digits)));
    return text.replace("e+", "e");
}

/* A new element with these members and what stands in it. */
function element(tag, members = {}, ...content) {
    const made = Object.assign(document.createElement(tag), members);
    made.append(...content);
    return made;
}

function classText(entry) {
    return entry.length > 4 ? entry[4] : String(entry[0]);
}

class Legend {
    constructor(data, screen) {
        Object.assign(this, { data, screen, column: null, isLogarithmic: false });
        this.black = data.about.black;
        for (const id of ["column", "axes", "classes", "all", "kind", "bar", "ramp", "ticks",
            "missing", "log", "count", "theme"]) {
            this[id + "Element"] = document.getElementById(id);
        }
        for (const column of data.columns) {
            column.hidden = new Set();
            this.columnElement.add(new Option(column.name));
        }
        document.getElementById("column-line").hidden = data.columns.length < 2;
        document.getElementById("axes-line").hidden = data.about.dimensions !== 3;
        this.columnElement.addEventListener("change", () => this.choose());
        this.axesElement.addEventListener("change", () => this.turn());
        this.allElement.addEventListener("click", () => this.show(() => true));
        this.logElement.addEventListener("change", () => {
            this.isLogarithmic = this.logElement.checked;
            this.choose();
        });
        this.themeElement.addEventListener("click", () => {
            this.black = !this.black;
            this.recolour();
            this.list();
        });
        this.countElement.textContent = countText(data.n) + (data.n === 1 ? " point" : " points");
        this.choose(0);
    }

    choose(number = this.columnElement.selectedIndex) {
        this.column = this.data.columns[number] || null;
        if (this.column && this.column.value) this.paintNumbers();
        this.recolour();
        this.list();
    }

    turn() {
        chooseAxes(this.data, this.axesElement.value.split(" ").map(Number));
        this.screen.forget();
        this.recolour();
    }

    get paint() {
        if (this.column) return this.column.paint;
        if (!this.plainPaint) this.plainPaint = new Uint8Array(this.data.n);
        return this.plainPaint;
    }

    /* Part 0 .. 1 of the ramp that a number has. */
    position(value) {
        const { least, largest, leastAboveZero } = this.column.about;
        const bend = this.isLogarithmic ? Math.log : (number) => number;
        const low = bend(this.isLogarithmic ? leastAboveZero : least), high = bend(largest);
        /* Halves first: the span of two numbers may be too large for one. */
        const part = high > low ? (bend(value) / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
        return Math.min(1, Math.max(0, part));
    }

    paintNumbers() {
        const { value } = this.column, { leastAboveZero } = this.column.about;
        const paint = new Uint8Array(value.length);
        if (leastAboveZero === null) this.isLogarithmic = false;
        for (let i = 0; i < value.length; i++) {
            const isNumber = Number.isFinite(value[i]) && !(this.isLogarithmic && value[i] <= 0);
            paint[i] = isNumber ? Math.round(this.position(value[i]) * (RAMP - 1)) : MISSING;
        }
        this.column.paint = paint; /* a new array, so that it is sent anew */
    }

    /* Colour of a step of the ramp, between the anchors of the file. */
    rampColour(step) {
        const anchors = this.theme.ramp, at = step / (RAMP - 1) * (anchors.length - 1);
        const from = Math.min(anchors.length - 2, Math.floor(at)), part = at - from;
        const low = rgbOf(anchors[from]), high = rgbOf(anchors[from + 1]);
        return low.map((v, c) => Math.round(v + (high[c] - v) * part));
    }

    /* [red, green, blue] by paint. */
    colourList() {
        if (!this.column) return [rgbOf(this.theme.plain)];
        if (this.column.classes) {
            return this.column.classes.map((entry) => rgbOf(entry[this.black ? 3 : 2]));
        }
        const steps = Array.from({ length: RAMP }, (_, step) => this.rampColour(step));
        return steps.concat([rgbOf(this.theme.missing)]);
    }

    recolour() {
        this.theme = this.data.about.themes[this.black ? 1 : 0];
        document.documentElement.classList.toggle("black", this.black);
        this.themeElement.textContent = this.black ? "White" : "Black";
        const list = this.colourList(), hidden = this.column ? this.column.hidden : new Set();
        this.colours = {
            red: list.map((c) => c[0]), green: list.map((c) => c[1]), blue: list.map((c) => c[2]),
            shown: Uint8Array.from(list, (_, i) => hidden.has(i) ? 0 : 1),
        };
        this.screen.setColours(this.colours, this.paint, this.black ? [0, 0, 0] : [255, 255, 255],
            this.black ? [235, 235, 235] : [25, 25, 25]);
    }

    /* Writes the legend anew. */
    list() {
        const { column } = this, isClasses = Boolean(column && column.classes);
        this.classesElement.hidden = !isClasses;
        this.barElement.hidden = !column || isClasses;
        this.kindElement.textContent = !column ? "" : !isClasses ? column.name
            : column.name + ": " + countText(column.classes.length) +
                (column.classes.length === 1 ? " class" : " classes");
        this.classesElement.replaceChildren();
        if (isClasses) column.classes.forEach((entry, c) => this.addClass(entry, c));
        else if (column) this.drawBar();
        this.mark();
    }

    addClass(entry, c) {
        const name = classText(entry);
        const toggle = element("button", { type: "button", className: "class", title: name },
            element("i"), element("span", { className: "name" }, name),
            element("span", { className: "count" }, countText(entry[1])));
        const only = element("button", { type: "button", className: "only" }, "only");
        only.setAttribute("aria-label", "Show only " + name);
        toggle.addEventListener("click", (event) => this.toggle(c, event.shiftKey));
        only.addEventListener("click", () => this.toggle(c, true));
        this.classesElement.append(element("li", {}, toggle, only));
    }

    /* Hides or shows a class; alone: shows it and no other, or all again. */
    toggle(c, alone) {
        const { hidden, classes } = this.column;
        const wasAlone = !hidden.has(c) && hidden.size === classes.length - 1;
        if (alone) this.show((other) => wasAlone || other === c);
        else this.show((other) => other === c ? hidden.has(c) : !hidden.has(other));
    }

    show(isShown) {
        this.column.hidden = new Set([...this.column.classes.keys()].filter((c) => !isShown(c)));
        this.recolour();
        this.mark();
    }

    /* Which classes are shown, in the list. */
    mark() {
        const { column } = this;
        this.allElement.hidden = !(column && column.hidden.size > 0);
        if (!column || !column.classes) return;
        [...this.classesElement.children].forEach((item, c) => {
            const isShown = !column.hidden.has(c);
            const colour = `rgb(${rgbOf(column.classes[c][this.black ? 3 : 2]).join(" ")})`;
            const swatch = item.querySelector("i");
            swatch.style.borderColor = colour;
            swatch.style.backgroundColor = isShown ? colour : "transparent";
            item.firstChild.setAttribute("aria-pressed", String(isShown));
        });
    }

    drawBar() {
        const { least, largest, leastAboveZero, missing } = this.column.about;
        const canvas = this.rampElement, context = canvas.getContext("2d");
        Object.assign(canvas, { width: RAMP, height: 1 });
        for (let step = 0; step < RAMP; step++) {
            context.fillStyle = `rgb(${this.rampColour(step).join(" ")})`;
            context.fillRect(step, 0, 1, 1);
        }
        const low = this.isLogarithmic ? leastAboveZero : least;
        const middle = this.isLogarithmic ? Math.sqrt(low) * Math.sqrt(largest)
            : low / 2 + largest / 2;
        const texts = least === null ? ["", "no numbers", ""]
            : [low, middle, largest].map((value) => numberText(value, 4));
        [...this.ticksElement.children].forEach((tick, t) => { tick.textContent = texts[t]; });
        this.missingElement.hidden = missing === 0;
        this.missingElement.textContent = "not a number: " + countText(missing);
        document.getElementById("log-line").hidden = leastAboveZero === null;
        this.logElement.checked = this.isLogarithmic;
    }
}
