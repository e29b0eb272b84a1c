/* What is seen, in the fragment of the page's address, so that a link, a bookmark or the button
 * Back shows it again: the views, the column of colours, hidden classes, the row that is held, the
 * selection, the settings.
 *
 * The form is that of a query, name=value with & between; names stand in `State.write`. Words
 * without a value ("canvas") are requests of other parts, and stay as they are. */

const WRITE_AFTER = 250, ADDRESS_MOST = 6000; /* milliseconds; characters */

/* "1.3-5" for 1, 3, 4, 5. */
function rangesText(numbers) {
    const parts = [];
    for (const number of [...numbers].sort((a, b) => a - b)) {
        const last = parts[parts.length - 1];
        if (last && last[1] === number - 1) last[1] = number;
        else parts.push([number, number]);
    }
    return parts.map(([a, b]) => a === b ? String(a) : `${a}-${b}`).join(".");
}

function rangesOf(text) {
    return text.split(".").filter(Boolean).flatMap((part) => {
        const [a, b = a] = part.split("-").map(Number);
        return Number.isInteger(a) && b >= a && b - a < 65536
            ? Array.from({ length: b - a + 1 }, (_, i) => a + i) : [];
    });
}

/* A step of a selection: its kind, then "s0." and the corners of a shape in base 36, or "w" and the
 * words that were looked for. */
function stepText(step) {
    const kind = { new: "", add: "+", cut: "~" }[step.kind];
    if (step.by === "words") return `${kind}w${step.words}`;
    return `${kind}s${step.map}.` + step.corners.map((at) =>
        at.map((number) => number.toString(36)).join(".")).join(".");
}

function stepOf(text) {
    const kind = text[0] === "+" ? KINDS.add : text[0] === "~" ? KINDS.cut : KINDS.new;
    const rest = kind === KINDS.new ? text : text.slice(1);
    if (rest[0] === "w") return { kind, by: "words", words: rest.slice(1) };
    const [map, ...numbers] = rest.slice(1).split(".").map((part, i) =>
        parseInt(part, i === 0 ? 10 : 36));
    const corners = [];
    for (let i = 0; i + 1 < numbers.length; i += 2) corners.push([numbers[i], numbers[i + 1]]);
    return { kind, by: "shape", map, corners };
}

/* The text that was encoded; "" where a link is damaged. */
function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch (error) {
        return "";
    }
}

class State {
    constructor(page) {
        this.page = page;
        for (const screen of page.screens) screen.onMove = () => this.later();
        for (const part of [page.colours, page.selection, page.tools]) {
            part.listeners.push(() => this.later());
        }
        page.inspector.onHold = () => this.later();
        addEventListener("hashchange", () => {
            if (location.hash !== this.written) this.restore();
        });
    }

    /* Writes the fragment when nothing has changed for a while. */
    later() {
        if (this.isRestoring) return;
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.write(), WRITE_AFTER);
    }

    /* The view of map m: middle as parts of its side, zoom, and which side is seen. */
    viewText(screen) {
        const { view, cloud } = screen, zoom = view.scale / view.fitScale();
        const isHome = Math.abs(zoom - 1) < 1e-6 && view.x === SIDE / 2 && view.y === SIDE / 2;
        const parts = isHome ? [] : [(view.x / SIDE).toFixed(7), (view.y / SIDE).toFixed(7),
            zoom.toPrecision(6)];
        if (cloud.isSolid && cloud.facing.join() !== SIDES.xy.join()) {
            if (isHome) parts.push(0.5, 0.5, 1);
            parts.push(...cloud.facing.map((part) => part.toFixed(4)));
        }
        return parts.join(",");
    }

    text() {
        const { data, colours, selection, inspector, screens, settings } = this.page, entries = [];
        const put = (name, value) => {
            if (value !== "") entries.push(`${name}=${encodeURIComponent(value)}`);
        };
        screens.forEach((screen, m) => put("view" + (m || ""), this.viewText(screen)));
        const { column } = colours;
        if (column && column !== colours.columns[0]) put("by", String(column.number));
        if (colours.isLogarithmic) put("log", "1");
        if (column && column.hidden.size > 0) put("hide", rangesText(column.hidden));
        if (colours.isBlack !== Colours.isBlackBy(data.about.black)) put("black", colours.isBlack ? "1" : "0");
        if (inspector.held >= 0) put("row", String(data.row[inspector.held]));
        for (const [name, value] of settings.changed()) put(name, value);
        const selected = selection.steps.map(stepText).join("!");
        if (selected.length < ADDRESS_MOST) put("select", selected);
        const words = [...requested].filter((word) => word && !word.includes("="));
        return words.concat(entries).join("&");
    }

    write() {
        const text = this.text();
        this.written = text ? "#" + text : "";
        try {
            history.replaceState(null, "", this.written || location.pathname + location.search);
        } catch (error) {
            /* a page within another, which has no address of its own */
        }
    }

    /* Shows what the fragment says; what it does not name is as at the beginning. */
    async restore() {
        const { data, colours, selection, inspector, screens, settings } = this.page;
        const entries = new Map(location.hash.slice(1).split("&").filter((part) =>
            part.includes("=")).map((part) => {
            const at = part.indexOf("=");
            return [part.slice(0, at), decoded(part.slice(at + 1))];
        }));
        const get = (name) => entries.get(name) || "";
        this.isRestoring = true;
        const column = colours.columns.find((one) => one.number === Number(entries.get("by"))) ||
            colours.columns[0] || null;
        if (column && column.classes) {
            column.hidden = new Set(rangesOf(get("hide")).filter((c) => c < column.classes.length));
        }
        settings.restore(entries);
        await colours.choose(column, get("log") === "1");
        colours.chooseBlack(entries.has("black") ? get("black") === "1" : data.about.black);
        screens.forEach((screen, m) => this.restoreView(screen, get("view" + (m || ""))));
        if (selection.mask) selection.clear();
        const steps = get("select").split("!").filter(Boolean);
        for (const text of steps) await this.takeStep(stepOf(text));
        const row = entries.has("row") ? Number(get("row")) : -1;
        inspector.hold(Number.isInteger(row) && row >= 0 && row < data.n ? data.placeOf(row) : -1);
        this.isRestoring = false;
    }

    restoreView(screen, text) {
        const [x, y, zoom, ...facing] = text.split(",").map(Number), { view } = screen;
        if (screen.cloud.isSolid) {
            const isGiven = facing.length === 4 && facing.every(Number.isFinite);
            screen.turn(isGiven ? turnTwice(facing, SIDES.xy) : SIDES.xy, false);
        }
        const isGiven = [x, y, zoom].every(Number.isFinite) && text;
        screen.way = null;
        Object.assign(view, isGiven ? { x: x * SIDE, y: y * SIDE, scale: zoom * view.fitScale() }
            : { x: SIDE / 2, y: SIDE / 2, scale: view.fitScale() });
        view.limit();
        screen.refresh();
    }

    async takeStep(step) {
        const { selection, screens, search } = this.page;
        if (step.by === "shape") {
            if (screens[step.map] && step.corners.length > 2) {
                selection.takeShape(step.kind, screens, step.map, step.corners);
            }
            return;
        }
        const found = await search.findTexts(step.words, () => true);
        if (found) selection.take(step, found.places);
    }
}
