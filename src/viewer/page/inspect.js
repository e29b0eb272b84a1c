/* What is known of a single row: beside its point, when it is pointed at; held on to by a click.
 * Where there are two maps the row is ringed on both. */

const REACH = 9, PICTURE_SIDE = 140; /* CSS pixels */
const NEAREST = 8;

class Inspector {
    constructor(data, screens, colours) {
        Object.assign(this, { data, screens, colours, place: -1, held: -1, shown: 0 });
        const { pictures } = data.about;
        this.screen = screens[0]; /* on which the card is */
        this.pictures = pictures ? new Pictures(pictures, data.n) : null;
        for (const id of ["card", "facts", "picture", "absent", "close", "near", "neighbours",
            "answer", "announce"]) {
            this[id] = document.getElementById(id);
        }
        this.close.addEventListener("click", () => this.letGo());
        for (const screen of screens) screen.onDraw = () => this.put();
        this.onHold = () => {};
    }

    /* The row at these pixels of a map; -1: none. */
    placeAt(screen, x, y, reach) {
        const { view, cloud } = screen, least = reach * view.ratio;
        const units = Math.max(least, screen.radius()) / view.scale;
        const point = nearestPoint(cloud, view.fromX(x), view.fromY(y), units,
            (i) => screen.isShown(i));
        return point < 0 ? -1 : cloud.placeOf(point);
    }

    hover(screen, x, y) {
        if (this.held < 0) this.show(this.placeAt(screen, x, y, REACH), screen);
    }

    click(screen, x, y, reach = REACH) {
        this.hold(this.placeAt(screen, x, y, reach), screen);
    }

    hold(place, screen = this.screen) {
        this.held = place;
        this.show(place, screen);
        this.onHold();
    }

    letGo() {
        this.answer.textContent = "";
        this.hold(-1);
    }

    /* Goes to a row on all maps and holds on to it. */
    goTo(place) {
        for (const screen of this.screens) {
            const point = screen.cloud.pointOf(place), { xy } = screen.cloud;
            screen.goTo(xy[2 * point], xy[2 * point + 1],
                Math.max(screen.view.scale, 8 * screen.view.fitScale()));
        }
        this.hold(place, this.screens[0]);
        const { screen } = this;
        this.answer.textContent = screen.isShown(screen.cloud.pointOf(place)) ? ""
            : "The row is among those in grey or hidden.";
    }

    show(place, screen = this.screen) {
        const isHeld = this.held >= 0;
        if (place === this.place && screen === this.screen && isHeld === !this.close.hidden) return;
        Object.assign(this, { place, screen });
        this.card.hidden = place < 0;
        this.close.hidden = this.near.hidden = !isHeld;
        this.card.classList.toggle("held", isHeld);
        screen.frame.append(this.card);
        this.ring([]);
        if (place < 0) return;
        this.describe(place);
        this.showPicture(place);
        if (isHeld) this.showNearest(place);
    }

    /* Rings round the row, and fainter ones round others. */
    ring(others) {
        for (const screen of this.screens) {
            screen.rings = others.map((place) => ({ place, isFaint: true }));
            if (this.place >= 0) screen.rings.push({ place: this.place });
            screen.refresh();
        }
    }

    coordinates(place) {
        const { cloud } = this.screen, point = cloud.pointOf(place);
        if (point < 0) return "";
        return cloud.coordinates(point)
            .map((at) => at.toPrecision(5).replace("-", "−")).join(", ");
    }

    /* The columns that are told of: those to be shown, and the one that gives the colours. */
    get told() {
        const { teller } = this.colours.column || {};
        return this.data.columns.filter((column) => column.isHover || column === teller);
    }

    async describe(place) {
        const time = ++this.shown;
        const facts = [["row", countText(this.data.row[place])]];
        const rest = [["at", this.coordinates(place)]];
        const write = (list) => this.facts.replaceChildren(...list.flatMap(([name, text, isText]) =>
            [element("dt", {}, name), element("dd", { className: isText ? "text" : "" }, text)]));
        if (!this.told.every((column) => column.isReady)) write(facts.concat(rest));
        const told = await Promise.all(this.told.map(async (column) =>
            [column.name, await column.textOf(place), column.kind === "texts"]));
        if (time !== this.shown) return;
        write(facts.concat(told.filter(([, text]) => text !== ""), rest));
        if (this.held >= 0) this.announce.textContent = this.facts.innerText;
        this.put();
    }

    async showPicture(place) {
        this.picture.hidden = true;
        this.absent.hidden = true;
        if (!this.pictures) return;
        const number = this.pictures.numberOf(place);
        if (number < 0) {
            this.absent.hidden = false;
            this.absent.textContent = `No picture of this row: the page has those of ` +
                `${countText(this.pictures.count)} of ${countText(this.data.n)}.`;
            return;
        }
        const pixels = await this.pictures.read(number);
        if (place !== this.place) return;
        const { width, height, channels } = this.pictures, context = this.picture.getContext("2d");
        Object.assign(this.picture, { width, height });
        const image = context.createImageData(width, height);
        for (let p = 0; p < width * height; p++) {
            for (let c = 0; c < 3; c++) {
                image.data[4 * p + c] = pixels[p * channels + (channels === 3 ? c : 0)];
            }
            image.data[4 * p + 3] = 255;
        }
        context.putImageData(image, 0, 0);
        const zoom = Math.max(1, Math.floor(PICTURE_SIDE / Math.max(width, height)));
        this.picture.style.width = width * zoom + "px";
        this.picture.hidden = false;
        this.put();
    }

    /* The rows nearest on the map; of two maps also how many of them are near on the other. */
    async showNearest(place) {
        const nearOn = (screen) => screen.cloud.nearest(screen.cloud.pointOf(place), NEAREST)
            .map(({ point, distance }) => ({ place: screen.cloud.placeOf(point), distance }));
        if (this.screen.isTurning) return;
        const near = nearOn(this.screen), { column } = this.colours;
        const other = this.screens.find((screen) => screen !== this.screen);
        if (column) await column.load();
        const items = await Promise.all(near.map(async (one) => {
            const row = "row " + countText(this.data.row[one.place]);
            const text = column ? shortText(await column.textOf(one.place), 24) : "";
            const button = element("button", { type: "button" },
                element("span", { className: "name" }, row),
                element("span", { className: "of" }, text),
                element("span", { className: "count" }, numberText(one.distance, 3)));
            button.addEventListener("click", () => this.goTo(one.place));
            return element("li", {}, button);
        }));
        if (place !== this.held) return;
        this.neighbours.replaceChildren(...items);
        if (other) {
            const there = new Set(nearOn(other).map((one) => one.place));
            const shared = near.filter((one) => there.has(one.place)).length;
            this.neighbours.append(element("li", { className: "rest" },
                `${shared} of ${near.length} are also nearest on the other map`));
        }
        this.ring(near.map((one) => one.place));
        this.put();
    }

    /* The card beside its point, within the frame. */
    put() {
        if (this.place < 0) return;
        const { view, frame } = this.screen, gap = 16, at = this.screen.pixelOfPlace(this.place);
        const [x, y] = (at || [-1, -1]).map((pixel) => pixel / view.ratio);
        const { offsetWidth: width, offsetHeight: height } = this.card;
        const isOutside = x < 0 || y < 0 || x > frame.clientWidth || y > frame.clientHeight;
        const left = x + gap + width < frame.clientWidth ? x + gap : x - gap - width;
        const top = Math.min(y - 20, frame.clientHeight - height - 6);
        this.card.style.visibility = isOutside ? "hidden" : "visible";
        this.card.style.left = Math.max(6, left) + "px";
        this.card.style.top = Math.max(6, top) + "px";
    }
}
