/* The search: a row by its number, classes by their names, and the texts of the rows. */

const SHOWN_MOST = 8, PAUSE = 250, BREATH = 12; /* milliseconds */

class Search {
    constructor(data, colours, selection, inspector) {
        Object.assign(this, { data, colours, selection, inspector, run: 0 });
        for (const id of ["search", "query", "found", "answer"]) {
            this[id] = document.getElementById(id);
        }
        const texts = data.columns.some((column) => column.kind === "texts");
        this.query.placeholder = texts ? "row, class or words" : "row or class";
        this.search.addEventListener("submit", (event) => {
            event.preventDefault();
            this.enter();
        });
        this.query.addEventListener("input", () => {
            clearTimeout(this.timer);
            this.timer = setTimeout(() => this.find(), PAUSE);
        });
        this.query.addEventListener("keydown", (event) => {
            if (event.key === "Escape") this.clear();
        });
    }

    get words() {
        return this.query.value.trim();
    }

    clear() {
        this.query.value = "";
        this.find();
    }

    /* The row that the words number; -1: none. */
    rowOf(words) {
        return /^\d+$/.test(words) && Number(words) < this.data.n ? Number(words) : -1;
    }

    /* Return: goes to a row, or selects all that was found. */
    async enter() {
        const { words } = this, row = this.rowOf(words);
        clearTimeout(this.timer);
        if (row >= 0) {
            this.inspector.goTo(this.data.placeOf(row));
            this.found.replaceChildren();
            this.answer.textContent = "";
            return;
        }
        if (/^\d+$/.test(words)) {
            this.answer.textContent = this.data.n === 0 ? "There are no rows."
                : `Rows are numbered 0 to ${this.data.n - 1}.`;
            return;
        }
        await this.find();
        if (this.places && this.places.length > 0) this.select(KINDS.new);
    }

    select(kind) {
        this.selection.take({ kind, by: "words", words: this.words }, this.places);
    }

    /* Finds the words anew; a later search ends this one. */
    async find() {
        const { words } = this, run = ++this.run;
        this.found.replaceChildren();
        this.answer.textContent = "";
        this.places = null;
        if (!words) return;
        this.listRow(words);
        this.listClasses(words);
        const found = await this.findTexts(words, () => run === this.run, (part) => {
            this.answer.textContent = `Looking through the texts: ${Math.round(100 * part)} %`;
        });
        if (run !== this.run) return;
        this.answer.textContent = "";
        if (found) this.listTexts(words, found);
        if (this.found.children.length === 0) this.answer.textContent = "Nothing was found.";
    }

    /* Rows whose texts hold the words: their places, and the first of them with their texts; null
     * where the page has no texts, or the search has ended. */
    async findTexts(words, goesOn, progress = () => {}) {
        const columns = this.data.columns.filter((column) => column.kind === "texts");
        const places = new Set(), first = [];
        let begun = performance.now();
        if (columns.length === 0 || words.length < 2) return null;
        for (const column of columns) {
            await column.search(words, (place, text) => {
                if (!places.has(place) && first.length < SHOWN_MOST) first.push({ place, text });
                places.add(place);
            }, async (part) => {
                if (performance.now() - begun > BREATH) {
                    progress(part);
                    await new Promise((done) => setTimeout(done));
                    begun = performance.now();
                }
                return goesOn();
            });
        }
        return goesOn() ? { places: [...places], first } : null;
    }

    add(text, act, ...more) {
        const button = element("button", { type: "button" }, text, ...more);
        button.addEventListener("click", act);
        this.found.append(element("li", {}, button));
    }

    listRow(words) {
        const row = this.rowOf(words);
        if (row >= 0) this.add("Row " + countText(row), () => this.enter());
    }

    listClasses(words) {
        const wanted = words.toLowerCase();
        for (const column of this.colours.columns.filter((one) => one.classes)) {
            const found = [...column.classes.keys()].filter((c) =>
                classText(column.classes[c]).toLowerCase().includes(wanted));
            for (const c of found.slice(0, SHOWN_MOST)) {
                const entry = column.classes[c];
                this.add(classText(entry), async () => {
                    await this.colours.choose(column);
                    this.colours.show((other) => other === c);
                }, element("span", { className: "of" },
                    `only this class of ${column.name}: ${manyText(entry[1], "row")}`));
            }
        }
    }

    listTexts(words, { places, first }) {
        this.places = places;
        if (places.length === 0) return;
        this.add(`Select ${manyText(places.length, "row")}`, () => this.select(KINDS.new),
            element("span", { className: "of" }, `whose text holds “${words}”`));
        for (const { place, text } of first) {
            const at = Math.max(0, text.toLowerCase().indexOf(words.toLowerCase()));
            const from = Math.max(0, at - 24), to = at + words.length;
            const snippet = element("span", { className: "snippet" }, (from > 0 ? "…" : "") +
                text.slice(from, at), element("mark", {}, text.slice(at, to)),
            shortText(text.slice(to), 60));
            this.add(snippet, () => this.inspector.goTo(place),
                element("span", { className: "of" }, "row " + countText(this.data.row[place])));
        }
    }
}
