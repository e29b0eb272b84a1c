"""Vectors as searches and models keep them (fvecs, fbin and their kin, safetensors, word2vec in binary), and what
must come out of them; damaged ones among them.

    vector_files.py make     writes files, cases.txt for dump_source, and what is expected, into this folder
    vector_files.py check    compares what dump_source wrote
"""
import gzip
import json
import pickle
import random
import struct
import sys

from cases import check
from texts import check_case

N, D = 61, 9
cases, expected = [], {}
CODES = {"U8": "B", "I8": "b", "U16": "H", "I16": "h", "U32": "I", "I32": "i", "U64": "Q", "I64": "q", "F16": "e",
         "F32": "f", "F64": "d", "BOOL": "?"}


def case(name, content, rows=None, file=None, dataset="X", transposed="auto", labels="-", classes=None, names=None, error=None):
    file = file or name
    if content is not None:
        with open(file, "wb") as out:
            out.write(content)
    cases.append(f"{name} {file} {dataset} {labels} {transposed} 0 -")
    expected[name] = dict(rows=rows, classes=classes, names=names, error=error)


def values(draw, code, rows=N, columns=D):
    """Numbers that the type holds, the ends of its range among them."""
    if code in "efd":
        return [[struct.unpack("<" + code, struct.pack("<" + code, draw.gauss(0, 9)))[0] for _ in range(columns)] for _ in range(rows)]
    size = struct.calcsize(code)
    low = 0 if code in "?BHIQ" else -2 ** min(8 * size - 1, 53)
    high = 1 if code == "?" else 2 ** min(8 * size - (code in "bhiq"), 53) - 1
    table = [[draw.randint(low, high) for _ in range(columns)] for _ in range(rows)]
    table[0][:2] = low, high
    return table


def packed(rows, code, lead=False):
    return b"".join((struct.pack("<i", len(r)) if lead else b"") + struct.pack(f"<{len(r)}{code}", *r) for r in rows)


def searches(draw):
    for ending, code in ("fvecs", "f"), ("bvecs", "B"), ("ivecs", "i"):
        x = values(draw, code)
        case("x." + ending, packed(x, code, True), x)
    for ending, code in ("fbin", "f"), ("f16bin", "e"), ("u8bin", "B"), ("i8bin", "b"), ("ibin", "i"):
        x = values(draw, code)
        case("x." + ending, struct.pack("<II", N, D) + packed(x, code), x)
    # A row longer than a buffer, many rows in one, the first bytes of an IDX file.
    wide = values(draw, "f", 3, 300001)
    case("wide.fvecs", packed(wide, "f", True), wide)
    long = values(draw, "B", 90001, 8)
    case("long.bvecs", packed(long, "B", True), long)
    few = [[i % 251] for i in range(0x10000 + 0x0800)]
    case("idx.u8bin", struct.pack("<II", len(few), 1) + packed(few, "B"), few)

    good = packed(values(draw, "f"), "f", True)
    case("cut.fvecs", good[:-1], error=(4, f"announces {D} numbers, and its {len(good) - 1} bytes are no whole rows"))
    case("short.fvecs", good[:3], error=(4, "ends in its header"))
    case("none.fvecs", struct.pack("<i", 0) + good, error=(4, "announces 0 numbers"))
    case("minus.fvecs", struct.pack("<i", -1) + good, error=(4, "announces 4294967295 numbers"))
    odd = bytearray(good)
    struct.pack_into("<i", odd, 40 * (4 + 4 * D), D + 1)
    case("odd.fvecs", bytes(odd), error=(4, f"row 40 .counted from 0. announces another number of columns than the first, {D}"))
    case("turned.fvecs", good, transposed="yes", error=(2, "input.transposed: yes is for arrays"))
    case("named.fvecs", good, dataset="Y", error=(2, "one array: there is no data set 'Y'"))
    good = struct.pack("<II", N, D) + packed(values(draw, "f"), "f")
    case("cut.fbin", good[:-1], error=(4, f"truncated: its header announces {N} rows of {4 * D} bytes"))
    case("longer.fbin", good + b"x", error=(3, "but its header announces"))
    case("LOUD.FBIN", good, [list(r) for r in struct.iter_unpack(f"<{D}f", good[8:])])
    for name in ("text.fvecs", "text.u8bin"):
        case(name, b"0.1,0.2\n0.3,0.4\n", error=(3, f"is text, but its name says {name[5:]}"))
    case("short.fbin", good[:7], error=(4, "ends in its header"))
    case("empty.fbin", struct.pack("<II", 0, D), error=(3, "holds no numbers: 0 rows"))
    case("lies.fbin", struct.pack("<II", 2**32 - 1, 2**32 - 1) + good, error=(3, "impossible size"))


def tensors(arrays, **changed):
    """A safetensors file of (name, type, shape, bytes); the header's entries may be changed."""
    header, at = {"__metadata__": {"format": "pt", "a": "}{"}}, 0
    for name, kind, shape, data in arrays:
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    for name, entry in changed.items():
        header[name].update(entry)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(a[3] for a in arrays)


def models(draw):
    ids = [draw.randint(0, 9) for _ in range(N)]
    for kind, code in CODES.items():
        x = values(draw, code)
        name = kind + ".safetensors"
        case(name, tensors([("ids", "I64", [N], packed([ids], "q")), ("x", kind, [N, D], packed(x, code))]), x)
    x = values(draw, "f")
    brains = [[struct.unpack("<f", b"\0\0" + struct.pack("<f", v)[2:])[0] for v in r] for r in x]
    data = b"".join(struct.pack("<f", v)[2:] for r in brains for v in r)
    case("BF16.safetensors", tensors([("x", "BF16", [N, D], data)]), brains)
    cube = values(draw, "f", N, 12)
    two = tensors([("a.weight", "F32", [N, D], packed(x, "f")), ("cube", "F32", [N, 3, 4], packed(cube, "f")),
                   ("odd", "F8_E4M3", [N, 2], b"x" * 2 * N), ("one", "F32", [], b"1234")])
    case("two.safetensors", two, error=(3, r"which of its arrays is meant.*a.weight .61 x 9, F32., cube .61 x 3 x 4, F32., odd"))
    case("steered.safetensors", tensors([("a\n\x1b[31mb", "F32", [N, D], packed(x, "f"))]), x)
    case("two-a", None, x, file="two.safetensors", dataset="a.weight")
    case("two-cube", None, cube, file="two.safetensors", dataset="cube")
    case("two-turned", None, [list(c) for c in zip(*x)], file="two.safetensors", dataset="a.weight", transposed="yes")
    case("two-odd", None, file="two.safetensors", dataset="odd", error=(3, "cannot be used: 'odd'"))
    case("two-none", None, file="two.safetensors", dataset="b", error=(3, "no array 'b'"))
    plain = [("embeddings", "F32", [N, D], packed(x, "f")), ("other", "F32", [N, D], packed(x, "f"))]
    case("usual.safetensors", tensors(plain), x)

    good = tensors(plain)
    case("cut.safetensors", good[:-1], error=(4, "the array 'other' is said to end at byte 4392 of 4391"))
    case("head.safetensors", good[:60], error=(4, "it ends in its header"))
    case("shape.safetensors", tensors(plain, embeddings={"shape": [N, D + 1]}), error=(4, "'embeddings' has data_offsets that do not go"))
    case("offsets.safetensors", tensors(plain, embeddings={"data_offsets": [9, 5]}), error=(4, "'embeddings' is said to end at byte 5"))
    case("minus.safetensors", tensors(plain, embeddings={"shape": [-1, D]}), error=(4, "'embeddings' has no shape"))
    case("large.safetensors", tensors(plain, embeddings={"shape": [2**40, 2**40]}), error=(4, "'embeddings' has data_offsets that do not go"))
    case("list.safetensors", tensors(plain, embeddings={"data_offsets": [1]}), error=(4, "'embeddings' has no two data_offsets"))
    case("json.safetensors", good[:8] + b'{"x' + good[11:40] + b"\n" + good[41:], error=(4, "in its header"))
    for kind in ("safetensors", "fvecs"):
        case(f"packed-{kind}", gzip.compress(good if kind == "safetensors" else packed(x, "f", True)), file=f"p.{kind}.gz",
             error=(3, "is only read unpacked: gunzip"))
    case("packed-fbin", gzip.compress(struct.pack("<II", N, D) + packed(x, "f")), file="p.fbin.gz",
         error=(4, "gzipped bin.*`iktsne convert p.fbin.gz p.h5` makes one"))
    size = len(packed(x, "f"))
    case("more.safetensors", good + b"12", error=(4, "2 bytes follow the last array"))
    case("overlap.safetensors", tensors(plain, other={"data_offsets": [size - 4, 2 * size - 4]})[:-4],
         error=(4, "'other' begins where another one has not ended"))
    case("twice.safetensors", good.replace(b'"other"', b'"embeddings"').replace(struct.pack("<Q", len(good) - 2 * size - 8),
         struct.pack("<Q", len(good) - 2 * size - 3), 1), error=(4, "'embeddings' comes twice"))
    case("quoted.safetensors", tensors(plain, embeddings={"shape": f"[{N}, {D}]"}), error=(4, "'embeddings' has no shape"))
    case("places.safetensors", tensors(plain, embeddings={"data_offsets": f"[0, {size}]"}), error=(4, "'embeddings' has no two data_offsets"))
    case("odd.safetensors", tensors([("odd", "F8_E5M2", [N, 2], b"x" * 2 * N)]), error=(3, "has no array of numbers that is read; it holds: odd"))
    case("text.safetensors", struct.pack("<Q", 12) + b'{"x": 5    }' + b"1234", error=(4, "the array 'x' is no object of JSON"))


def words(draw):
    """word2vec in binary, with line feeds and without; tokens of any bytes."""
    x = values(draw, "f")
    tokens = ["</s>", ",", '"', "1999", "#", "nan", "\u00e4\u2028", "a\tb"] + [f"w{i % 40}" for i in range(N - 8)]
    for name, feed in ("feeds.bin", b"\n"), ("plain.bin", b""):
        rows = [t.encode() + b" " + packed([r], "f") + feed for t, r in zip(tokens, x)]
        case(name, f"{N} {D}\n".encode() + b"".join(rows), x)
    kinds = sorted(set(tokens) - {"nan"}, key=str.encode)  # which is a label that is missing
    case("words-labels", None, x, file="plain.bin", labels="1", classes=[kinds.index(t) if t in kinds else -1 for t in tokens],
         names="".join(k + "\n" for k in kinds))
    head, body = f"{N} {D}\n".encode(), b"".join(rows)
    case("cut.bin", head + body[:-1], error=(4, f"row {N} of {N}: the file ends here"))
    case("more.bin", f"{N + 1} {D}\n".encode() + body, error=(4, f"row {N + 1} of {N + 1}: the file ends here"))
    case("less.bin", f"{N - 1} {D}\n".encode() + body, error=(3, f"row {N - 1} of {N - 1}: the file goes on behind it"))
    case("lies.bin", f"9 {2 ** 28}\n".encode() + body, error=(4, "announces 9 rows of 268435456 numbers, which take more"))
    case("zero.bin", head + b"a\0b" + body[3:], error=(3, "row 1 of .*zero byte"))
    case("long.bin", head + rows[0] + b"x" * 70000 + body, error=(3, "row 2 of .*has no end"))
    case("infinite.bin", head + b"a " + struct.pack("<f", float("inf")) + body[9:], error=(3, "row 1, column 2.* not finite"))


def make():
    draw = random.Random(5)
    searches(draw)
    models(draw)
    words(draw)
    open("cases.txt", "w").write("\n".join(cases) + "\n")
    pickle.dump(expected, open("expected.pickle", "wb"))


if __name__ == "__main__":
    sys.exit(make() if sys.argv[1] == "make" else check(check_case))
