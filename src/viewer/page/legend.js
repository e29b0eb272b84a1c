/* The legend: what the colours mean, which classes are shown, how many rows of each are selected.
 * Long lists can be searched and sorted. */

const LONG = 12; /* classes from which on a list has its own search */

/* A new element with these members and what stands in it. */
function element(tag, members = {}, ...content) {
    const made = Object.assign(document.createElement(tag), members);
    made.append(...content);
    return made;
}

const SORTS = {
    own: (a, b) => a.c - b.c,
    name: (a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }) || a.c - b.c,
    count: (a, b) => b.entry[1] - a.entry[1] || a.c - b.c,
    selected: (a, b) => b.selected - a.selected || a.c - b.c,
};

class Legend {
    constructor(data, colours, selection) {
        Object.assign(this, { data, colours, selection });
        for (const id of ["column", "classes", "all", "kind", "bar", "ramp", "ticks", "missing",
            "log", "count", "theme", "filter", "sort"]) {
            this[id] = document.getElementById(id);
        }
        for (const column of colours.columns) this.column.add(new Option(column.name));
        document.getElementById("column-line").hidden = colours.columns.length < 2;
        this.column.addEventListener("change", () =>
            colours.choose(colours.columns[this.column.selectedIndex]));
        this.all.addEventListener("click", () => colours.show(() => true));
        this.log.addEventListener("change", () =>
            colours.choose(colours.column, this.log.checked));
        this.theme.addEventListener("click", () => colours.chooseBlack(!colours.isBlack));
        this.filter.addEventListener("input", () => this.listClasses());
        this.sort.addEventListener("change", () => this.listClasses());
        this.count.textContent = manyText(data.n, "row");
        colours.listeners.push(() => this.write());
        selection.listeners.push(() => this.write());
    }

    /* Writes the legend anew. */
    write() {
        const { column, isBlack } = this.colours, isClasses = Boolean(column && column.classes);
        this.theme.textContent = isBlack ? "White" : "Black";
        if (column) this.column.selectedIndex = this.colours.columns.indexOf(column);
        this.classes.hidden = !isClasses;
        this.bar.hidden = !column || isClasses;
        document.getElementById("list-tools").hidden = !isClasses || column.classes.length <= LONG;
        this.kind.textContent = !column ? "" : !isClasses ? column.name
            : column.name + ": " + manyText(column.classes.length, "class");
        this.all.hidden = !(isClasses && column.hidden.size > 0);
        if (isClasses) this.listClasses();
        else if (column) this.drawBar();
    }

    /* The classes that the search leaves, sorted. */
    listClasses() {
        const { column } = this.colours, wanted = this.filter.value.trim().toLowerCase();
        const isLong = column.classes.length > LONG;
        const selected = this.selection.mask ? this.selection.countByPaint(column) : null;
        const items = column.classes.map((entry, c) =>
            ({ c, entry, name: classText(entry), selected: selected ? selected[c] : 0 }))
            .filter((item) => !isLong || item.name.toLowerCase().includes(wanted));
        const focused = document.activeElement && document.activeElement.dataset.key;
        items.sort(SORTS[isLong ? this.sort.value : "own"]);
        this.classes.replaceChildren(...items.map((item) => this.item(item, selected !== null)));
        if (items.length === 0) {
            this.classes.append(element("li", { className: "none" }, "No class has this name."));
        }
        if (focused) {
            const again = this.classes.querySelector(`[data-key="${focused}"]`);
            if (again) again.focus();
        }
    }

    item({ c, entry, name, selected }, hasSelection) {
        const { colours } = this, isShown = !colours.column.hidden.has(c);
        const colour = `rgb(${colours.classColour(entry).join(" ")})`;
        const swatch = element("i"), only = element("button", { type: "button", className: "only" },
            "only");
        swatch.style.backgroundColor = isShown ? colour : "transparent";
        swatch.style.borderColor = isShown ? "" : colour;
        const count = hasSelection ? `${countText(selected)} of ${countText(entry[1])}`
            : countText(entry[1]);
        const toggle = element("button", { type: "button", className: "class", title: name },
            swatch, element("span", { className: "name" }, name),
            element("span", { className: "count" }, count));
        toggle.setAttribute("aria-pressed", String(isShown));
        toggle.dataset.key = "class-" + c;
        only.dataset.key = "only-" + c;
        only.setAttribute("aria-label", "Show only " + name);
        toggle.addEventListener("click", (event) => colours.toggle(c, event.shiftKey));
        only.addEventListener("click", () => colours.toggle(c, true));
        return element("li", {}, toggle, only);
    }

    drawBar() {
        const { column, isLogarithmic } = this.colours;
        const { least, largest, leastAboveZero, missing } = column.about;
        const canvas = this.ramp, context = canvas.getContext("2d");
        Object.assign(canvas, { width: RAMP, height: 1 });
        for (let step = 0; step < RAMP; step++) {
            context.fillStyle = `rgb(${this.colours.rampColour(step).join(" ")})`;
            context.fillRect(step, 0, 1, 1);
        }
        const low = isLogarithmic ? leastAboveZero : least;
        const middle = isLogarithmic ? Math.sqrt(low) * Math.sqrt(largest) : low / 2 + largest / 2;
        const texts = least === null ? ["", "no numbers", ""]
            : [low, middle, largest].map((value) => numberText(value, 4));
        [...this.ticks.children].forEach((tick, t) => { tick.textContent = texts[t]; });
        this.missing.hidden = missing === 0;
        this.missing.textContent = "not a number: " + countText(missing);
        document.getElementById("log-line").hidden = leastAboveZero === null;
        this.log.checked = isLogarithmic;
    }
}
