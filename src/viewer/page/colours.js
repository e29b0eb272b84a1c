/* The colours of the rows.
 *
 * Every row has a paint, a small number: its class, or its step on the ramp of numbers. A list says
 * what is done with each paint, and its colour. Rows that are not selected, while others are, have
 * one paint more, that of the context. */

const RAMP = 254, MISSING = 254; /* steps, and the paint of what is not a number */
const SYSTEM_BLACK = matchMedia("(prefers-color-scheme: dark)");

function rgbOf(hex) {
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/* A column is loaded when it is chosen, which takes time; the last choice wins. */
class Colours {
    constructor(data, screens, selection) {
        Object.assign(this, { data, screens, selection, column: null, isLogarithmic: false });
        this.chosenBlack = data.about.black; /* by the file or by hand; null: the system's */
        this.isBlack = Colours.isBlackBy(this.chosenBlack);
        this.hasContext = true; /* hidden points are grey rather than not there at all */
        this.listeners = [];
    }

    /* Where neither the file nor the reader says which background, that of the reader's system. */
    static isBlackBy(chosen) {
        return chosen ?? SYSTEM_BLACK.matches;
    }

    get columns() {
        return this.data.columns.filter((column) => column.isColour);
    }

    get theme() {
        return this.data.about.themes[this.isBlack ? 1 : 0];
    }

    /* Colours by this column; null: all alike. */
    async choose(column, isLogarithmic = false) {
        this.wanted = column;
        if (column) await column.load();
        if (this.wanted !== column) return;
        Object.assign(this, { column, isLogarithmic });
        if (column && column.value) this.paintNumbers();
        this.apply();
        for (const listen of this.listeners) listen();
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

    classColour(entry) {
        return rgbOf(entry[this.isBlack ? 3 : 2]);
    }

    /* [red, green, blue] by paint. */
    colourList() {
        if (!this.column) return [rgbOf(this.theme.plain)];
        if (this.column.classes) return this.column.classes.map((entry) => this.classColour(entry));
        const steps = Array.from({ length: RAMP }, (_, step) => this.rampColour(step));
        return steps.concat([rgbOf(this.theme.missing)]);
    }

    /* The paint of every row, as it is without a selection. */
    get paint() {
        if (this.column) return this.column.paint;
        if (!this.plainPaint) this.plainPaint = new Uint8Array(this.data.n);
        return this.plainPaint;
    }

    /* The paint of every row; those that are not selected have paint `context`. */
    selectedPaint(context) {
        const { paint, selection: { mask } } = this;
        if (!mask) return paint;
        const out = context < 256 ? new Uint8Array(paint.length) : new Uint16Array(paint.length);
        for (let i = 0; i < out.length; i++) out[i] = mask[i] ? paint[i] : context;
        return out;
    }

    /* Gives all maps their colours. */
    apply() {
        const list = this.colourList(), hidden = this.column ? this.column.hidden : new Set();
        const context = this.isBlack ? [58, 58, 58] : [216, 216, 216];
        const aside = this.hasContext ? CONTEXT : HIDDEN;
        const state = Uint8Array.from(list, (_, i) => hidden.has(i) ? aside : SHOWN);
        list.push(context);
        const states = Uint8Array.from([...state, aside]);
        const colours = { context, state: states };
        ["red", "green", "blue"].forEach((name, c) => {
            colours[name] = list.map((colour, i) => states[i] === CONTEXT ? context[c] : colour[c]);
        });
        this.list = colours;
        const paint = this.selectedPaint(list.length - 1);
        for (const screen of this.screens) {
            screen.setColours(colours, paint, this.isBlack ? [0, 0, 0] : [255, 255, 255],
                this.isBlack ? [235, 235, 235] : [25, 25, 25]);
        }
    }

    chooseBlack(isBlack) {
        this.chosenBlack = isBlack;
        this.setBlack(Colours.isBlackBy(isBlack));
    }

    setBlack(isBlack) {
        this.isBlack = isBlack;
        document.documentElement.classList.toggle("black", isBlack);
        this.apply();
        for (const listen of this.listeners) listen();
    }

    /* Hides the classes that `isShown` does not want. */
    show(isShown) {
        const { classes } = this.column;
        this.column.hidden = new Set([...classes.keys()].filter((c) => !isShown(c)));
        this.apply();
        for (const listen of this.listeners) listen();
    }

    /* Hides or shows a class; alone: shows it and no other, or all again. */
    toggle(c, alone) {
        const { hidden, classes } = this.column;
        const wasAlone = !hidden.has(c) && hidden.size === classes.length - 1;
        if (alone) this.show((other) => wasAlone || other === c);
        else this.show((other) => other === c ? hidden.has(c) : !hidden.has(other));
    }
}
