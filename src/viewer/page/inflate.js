"use strict";

/* Inflate (RFC 1951), for browsers without DecompressionStream("deflate-raw").
 *
 * Method: one table for each alphabet, looked up with as many bits as its longest code has.
 * Advantage: short. Disadvantage: five times slower than the browser's own, and it takes what the
 * page's own writer made: damaged input ends in an error, not in advice. */

const LENGTH_BASE = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67,
    83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_EXTRA = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5,
    5, 5, 0];
const DISTANCE_BASE = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513,
    769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577];
const DISTANCE_EXTRA = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10,
    11, 11, 12, 12, 13, 13];
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/* Table of the canonical code with these lengths: symbol * 16 + length, by the bits to come. */
function huffman(lengths) {
    const bits = Math.max(1, ...lengths);
    const table = new Uint16Array(1 << bits);
    let code = 0;
    for (let length = 1; length <= bits; length++) {
        for (let symbol = 0; symbol < lengths.length; symbol++) {
            if (lengths[symbol] !== length) continue;
            let reversed = 0;
            for (let b = 0; b < length; b++) reversed |= (code >> b & 1) << length - 1 - b;
            for (let at = reversed; at < table.length; at += 1 << length) {
                table[at] = symbol << 4 | length;
            }
            code++;
        }
        code <<= 1;
    }
    return { table, mask: table.length - 1 };
}

class BitReader {
    constructor(bytes) {
        this.bytes = bytes;
        this.at = 0;
        this.held = 0;
        this.count = 0;
    }

    need(count) {
        while (this.count < count) {
            this.held |= (this.at < this.bytes.length ? this.bytes[this.at] : 0) << this.count;
            if (this.at++ > this.bytes.length + 8) throw new Error("a block of data ends early");
            this.count += 8;
        }
    }

    take(count) {
        this.need(count);
        const value = this.held & (1 << count) - 1;
        this.held >>>= count;
        this.count -= count;
        return value;
    }

    symbol(code) {
        this.need(15);
        const entry = code.table[this.held & code.mask];
        this.held >>>= entry & 15;
        this.count -= entry & 15;
        return entry >> 4;
    }
}

function readCodes(reader) {
    const literals = reader.take(5) + 257, distances = reader.take(5) + 1;
    const count = reader.take(4) + 4;
    const short = new Uint8Array(19), lengths = [];
    for (let i = 0; i < count; i++) short[CODE_ORDER[i]] = reader.take(3);
    const code = huffman(short);
    while (lengths.length < literals + distances) {
        const symbol = reader.symbol(code);
        if (symbol < 16) lengths.push(symbol);
        const value = symbol === 16 ? lengths[lengths.length - 1] : 0;
        const times = symbol === 16 ? 3 + reader.take(2) : symbol === 17 ? 3 + reader.take(3)
            : symbol === 18 ? 11 + reader.take(7) : 0;
        for (let i = 0; i < times; i++) lengths.push(value);
    }
    return [huffman(lengths.slice(0, literals)), huffman(lengths.slice(literals))];
}

/* What is unpacked: `size` bytes, or where that is not known as many as come. */
class Unpacked {
    constructor(size, packed) {
        this.isOpen = size < 0;
        this.bytes = new Uint8Array(this.isOpen ? 4 * packed + 1024 : size);
    }

    /* The bytes, with room for so many. */
    upTo(end) {
        if (end <= this.bytes.length) return this.bytes;
        if (!this.isOpen) throw new Error("a block of data is damaged");
        const more = new Uint8Array(2 * end);
        more.set(this.bytes);
        this.bytes = more;
        return more;
    }
}

/* The codes of one block to `unpacked` from `at` on; returns where it ends. */
function inflateCodes(reader, [literal, distance], unpacked, at) {
    let out = unpacked.bytes;
    for (;;) {
        const symbol = reader.symbol(literal);
        if (symbol === 256) return at;
        if (symbol < 256) {
            if (at === out.length) out = unpacked.upTo(at + 1);
            out[at++] = symbol;
            continue;
        }
        const length = LENGTH_BASE[symbol - 257] + reader.take(LENGTH_EXTRA[symbol - 257]);
        const back = reader.symbol(distance);
        const from = at - DISTANCE_BASE[back] - reader.take(DISTANCE_EXTRA[back]);
        if (!(from >= 0)) throw new Error("a block of data is damaged");
        if (at + length > out.length) out = unpacked.upTo(at + length);
        for (let i = 0; i < length; i++) out[at++] = out[from + i];
    }
}

/* The `size` bytes that were deflated; all there are where the size is negative. */
function inflate(packed, size) {
    const reader = new BitReader(packed), unpacked = new Unpacked(size, packed.length);
    let at = 0;
    for (let last = 0; !last;) {
        last = reader.take(1);
        const kind = reader.take(2);
        if (kind === 3) throw new Error("a block of data is damaged");
        if (kind === 2) at = inflateCodes(reader, readCodes(reader), unpacked, at);
        if (kind === 1) {
            const lengths = Array.from({ length: 288 }, (_, i) =>
                i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
            const codes = [huffman(lengths), huffman(new Array(30).fill(5))];
            at = inflateCodes(reader, codes, unpacked, at);
        }
        if (kind === 0) {
            reader.take(reader.count & 7);
            const length = reader.take(16), out = unpacked.upTo(at + length);
            reader.take(16);
            for (let i = 0; i < length; i++) out[at + i] = reader.take(8);
            at += length;
        }
    }
    if (size >= 0 && at !== size) throw new Error("a block of data is damaged");
    return unpacked.bytes.subarray(0, at);
}
