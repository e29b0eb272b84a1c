/* What is known of a single point: beside it, when it is pointed at; held on to by a click. */

const REACH = 9, PICTURE_SIDE = 140; /* CSS pixels */

class Inspector {
    constructor(data, screen) {
        Object.assign(this, { data, screen, point: -1, held: -1, shown: 0 });
        const { pictures } = data.about;
        this.pictures = pictures ? new Pictures(pictures, data.n) : null;
        for (const id of ["card", "facts", "picture", "absent", "close", "row", "answer",
            "announce"]) {
            this[id] = document.getElementById(id);
        }
        this.close.addEventListener("click", () => this.letGo());
        document.getElementById("search").addEventListener("submit", (event) => {
            event.preventDefault();
            this.find(this.row.value.trim());
        });
        screen.onDraw = () => this.place();
        screen.onForget = () => this.letGo();
    }

    /* The point at these pixels of the canvas; -1: none. */
    pointAt(x, y, reach) {
        const { view } = this.screen, least = reach * view.ratio;
        const units = Math.max(least, this.screen.radius()) / view.scale;
        return nearestPoint(this.data, view.fromX(x), view.fromY(y), units,
            (i) => this.screen.isShown(i));
    }

    hover(x, y) {
        if (this.held < 0) this.show(this.pointAt(x, y, REACH));
    }

    click(x, y, reach = REACH) {
        const point = this.pointAt(x, y, reach);
        this.held = point;
        this.show(point);
        this.announce.textContent = point < 0 ? "" : this.facts.innerText;
    }

    letGo() {
        this.held = -1;
        this.show(-1);
        this.answer.textContent = "";
    }

    /* Goes to the row with this number and holds on to it. */
    find(text) {
        const { data, screen } = this, row = /^\d+$/.test(text) ? Number(text) : -1;
        if (row < 0 || row >= data.n) {
            this.answer.textContent = data.n === 0 ? "There are no rows."
                : `Rows are numbered 0 to ${data.n - 1}.`;
            return;
        }
        const point = data.row.indexOf(row);
        this.held = point;
        screen.goTo(data.xy[2 * point], data.xy[2 * point + 1],
            Math.max(screen.view.scale, 8 * screen.view.fitScale()));
        this.show(point);
        this.answer.textContent = screen.isShown(point) ? "" : "Its class is hidden.";
    }

    show(point) {
        if (point === this.point && (this.held >= 0) === !this.close.hidden) return;
        this.point = point;
        this.card.hidden = point < 0;
        this.close.hidden = this.held < 0;
        this.card.classList.toggle("held", this.held >= 0);
        this.screen.rings = point < 0 ? [] : [{ point }];
        if (point >= 0) {
            this.describe(point);
            this.showPicture(point);
        }
        this.screen.refresh();
    }

    /* Coordinates in the units of the embedding. */
    coordinates(point) {
        const { about, axes, xy, z } = this.data, at = [];
        const other = [0, 1, 2].filter((axis) => !axes.includes(axis))[0];
        for (let axis = 0; axis < about.dimensions; axis++) {
            const place = axis === other ? z[point] : xy[2 * point + axes.indexOf(axis)];
            at.push(about.corner[axis] + place / SIDE * about.side);
        }
        return at.map((value) => value.toPrecision(5).replace("-", "−")).join(", ");
    }

    describe(point) {
        const facts = [["row", String(this.data.row[point])]];
        for (const column of this.data.columns) {
            facts.push([column.name, column.classes ? classText(column.classes[column.paint[point]])
                : numberText(column.value[point])]);
        }
        facts.push(["at", this.coordinates(point)]);
        this.facts.replaceChildren(...facts.flatMap(([name, text]) =>
            [element("dt", {}, name), element("dd", {}, text)]));
    }

    async showPicture(point) {
        const time = ++this.shown;
        this.picture.hidden = true;
        this.absent.hidden = true;
        if (!this.pictures) return;
        const place = this.data.place ? this.data.place[point] : point;
        const number = this.pictures.numberOf(place);
        if (number < 0) {
            this.absent.hidden = false;
            this.absent.textContent = `No picture of this row: the page has those of ` +
                `${countText(this.pictures.count)} of ${countText(this.data.n)}.`;
            return;
        }
        const pixels = await this.pictures.read(number);
        if (time !== this.shown) return;
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
        this.place();
    }

    /* The card beside its point, within the frame. */
    place() {
        if (this.point < 0) return;
        const { view, frame } = this.screen, gap = 16;
        const [x, y] = this.screen.pixelOf(this.point).map((pixel) => pixel / view.ratio);
        const { offsetWidth: width, offsetHeight: height } = this.card;
        const isOutside = x < 0 || y < 0 || x > frame.clientWidth || y > frame.clientHeight;
        const left = x + gap + width < frame.clientWidth ? x + gap : x - gap - width;
        const top = Math.min(y - 20, frame.clientHeight - height - 6);
        this.card.style.visibility = isOutside ? "hidden" : "visible";
        this.card.style.left = Math.max(6, left) + "px";
        this.card.style.top = Math.max(6, top) + "px";
    }
}
