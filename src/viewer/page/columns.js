/* What is known of the rows: columns of classes, numbers or texts, unpacked when they are asked
 * for, and pictures.
 *
 * Texts stay packed: a block of them is unpacked for a look and a few are kept, so a page with a
 * gigabyte of text needs no more memory than one without. */

const TEXT_BLOCKS_KEPT = 24;

class Column {
    constructor(about, number, n) {
        Object.assign(this, { about, number, n, name: about.name, kind: about.kind });
        this.classes = about.classes || null;
        this.hidden = new Set(); /* classes that are not shown */
        this.isColour = about.use !== "hover" && about.kind !== "texts";
        this.isHover = about.use === "both" || about.use === "hover";
        this.isTold = about.use !== "untold";
        this.paint = null; /* class of each row, or step on the ramp of colours */
        this.value = null; /* number of each row */
        this.kept = new Map(); /* blocks of texts */
    }

    get isReady() {
        return this.kind === "texts" || Boolean(this.paint || this.value);
    }

    /* Unpacks classes or numbers, once. */
    load() {
        if (!this.loading) this.loading = this.kind === "texts" ? Promise.resolve() : this.read();
        return this.loading;
    }

    async read() {
        const { block, bytes } = this.about, { n } = this;
        const Form = { 1: Uint8Array, 2: Uint16Array, 4: Float32Array, 8: Float64Array }[bytes];
        const out = new Form(n), items = new Uint8Array(out.buffer);
        for (let first = 0, b = 0; first < n; first += block, b++) {
            const count = Math.min(block, n - first);
            const packed = await unpack(`column-${this.number}-${b}`, count * bytes);
            placeItems(items, packed, bytes, first, count);
        }
        if (this.classes) this.paint = out;
        else this.value = out;
    }

    /* The texts of a block, one for each of its rows. */
    textsOfBlock(block) {
        let texts = this.kept.get(block);
        this.kept.delete(block);
        if (!texts) {
            texts = unpack(`column-${this.number}-${block}`, -1, true).then((bytes) =>
                new TextDecoder().decode(bytes).split("\0").slice(0, -1));
        }
        this.kept.set(block, texts);
        if (this.kept.size > TEXT_BLOCKS_KEPT) this.kept.delete(this.kept.keys().next().value);
        return texts;
    }

    /* What the column says of a row; "" for a text that is empty. */
    async textOf(place) {
        if (this.teller !== this) return this.teller.textOf(place);
        await this.load();
        if (this.kind === "texts") {
            const { block } = this.about;
            return (await this.textsOfBlock(Math.floor(place / block)))[place % block];
        }
        return this.classes ? classText(this.classes[this.paint[place]])
            : numberText(this.value[place], this.about.bytes === 8 ? 16 : 7);
    }

    /* Calls visit(place, text) for all rows whose text holds the words, upper or lower case, until
     * it returns false. `breathe` is awaited between blocks and may return false, too. */
    async search(words, visit, breathe) {
        const wanted = words.toLowerCase(), { block } = this.about;
        for (let first = 0, b = 0; first < this.n; first += block, b++) {
            const texts = await this.textsOfBlock(b);
            for (let i = 0; i < texts.length; i++) {
                if (!texts[i].toLowerCase().includes(wanted)) continue;
                if (visit(first + i, texts[i]) === false) return;
            }
            if (await breathe((first + texts.length) / this.n) === false) return;
        }
    }
}

/* Pictures of rows, unpacked when they are asked for. */
class Pictures {
    constructor(about, n) {
        Object.assign(this, about);
        this.n = n;
        this.blocks = new Map();
    }

    /* Number of the picture of the row at that place of the file's order; -1: it has none. */
    numberOf(place) {
        const number = Math.ceil(place * this.count / this.n);
        return number * this.n < (place + 1) * this.count ? number : -1;
    }

    /* Its pixels. */
    async read(number) {
        const block = Math.floor(number / this.block), first = block * this.block;
        const size = this.height * this.width * this.channels;
        if (!this.blocks.has(block)) {
            const count = Math.min(this.block, this.count - first);
            this.blocks.set(block, unpack("pictures-" + block, count * size));
        }
        const bytes = await this.blocks.get(block);
        return bytes.subarray((number - first) * size, (number - first + 1) * size);
    }
}

/* --- values as text --------------------------------------------------------------------------- */

function countText(count) {
    return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/* "1 row", "1,234 rows" */
function manyText(count, one) {
    return `${countText(count)} ${one}${count === 1 ? "" : /s$/.test(one) ? "es" : "s"}`;
}

/* A number as it is read best: a float holds seven digits, a double whole numbers of sixteen. */
function numberText(value, digits = 7) {
    if (!Number.isFinite(value)) return "none";
    const text = String(Number(value.toPrecision(digits)));
    return text.replace("e+", "e");
}

function classText(entry) {
    return entry.length > 4 ? entry[4] : String(entry[0]);
}
