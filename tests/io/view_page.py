"""Pages of iktsne view, decoded by other means than the page's own.

view_page.py make FOLDER                 the files that test_view.sh shows
view_page.py check RUN.h5 PAGE.html ...  whether the page holds the run
"""

import argparse
import base64
import csv
import json
import re
import sys
import zlib

import h5py
import numpy as np

HOSTILE = ["</script><script>alert(1)</script>", "<!--<script>", "a\u2028b & \"c\" \\ 'd'", "\u03c8"]


def make(folder):
    random = np.random.default_rng(1)

    def write(name, y, **data):
        with h5py.File(f"{folder}/{name}.h5", "w") as f:
            f["embedding"] = np.asarray(y, np.float32)
            names = data.pop("names", None)
            if names:
                f.attrs["label_names"] = "\n".join(names) + "\n"
            for key, value in data.items():
                f[key] = value

    n = 1000
    y = random.normal(size=(n, 2)) * [50, 3] + 1000
    y[10:20] = y[10]  # equal points keep the order of their rows
    write("unlabelled", y)
    write("full", y, labels=np.arange(n) % 5 - 1, marked=np.array([7]), names=HOSTILE)
    real = random.normal(size=n)
    real[[5, 6, 7]] = [np.nan, np.inf, 1e300]
    with h5py.File(f"{folder}/values.h5", "w") as f:
        f["real"] = real
        f["wide"] = np.arange(n) % 300
    texts = [f"row {i} of {n}: " + "\u00e9t\u00e9 \u4e2d, \"quoted\"\n" * (i % 7) + HOSTILE[i % 4] for i in range(n)]
    texts[3] = ""
    texts[4] = ("long " * 60000).strip()
    with h5py.File(f"{folder}/texts.h5", "w") as f:
        f.create_dataset("note", data=texts, dtype=h5py.string_dtype())
        f.create_dataset("code", data=[f"R{i:04d}".encode() for i in range(n)], dtype="S5")
    with open(f"{folder}/table.csv", "w", newline="", encoding="utf-8") as f:
        table = csv.writer(f)
        table.writerow(["note", "hand", "weight", "kind"])
        for i in range(n):
            table.writerow([texts[i], ["left", "right", "both"][i * i % 3], i / 8 if i % 9 else "", i % 4])
    make_ids(folder, n)
    write("far", y, labels=2**60 + np.arange(n) % 3)  # which JavaScript would take for one class
    make_cells(f"{folder}/cells.h5ad", random, n)
    write("beside", random.normal(size=(n, 3)))
    with h5py.File(f"{folder}/pictures.h5", "w") as f:
        f["X"] = random.normal(size=(n, 30)).astype(np.float32)
    write("many", random.standard_cauchy(size=(300000, 2)), labels=random.integers(0, 700, 300000))
    write("few", random.normal(size=(5, 2)), labels=[2, 0, 2, 1, 0],
          colours=random.integers(0, 256, (5, 60)).astype(np.uint8))
    write("one", [[3, -4]])
    write("none", np.zeros((0, 2)))
    write("equal", np.full((9, 2), 7))
    write("line", random.normal(size=(400, 1)))
    write("solid", random.normal(size=(700, 3)) * [1, 2, 3])
    write("broken", [[0, 0], [1, 1], [np.nan, 2]])


def make_ids(folder, n):
    """Numbers of things, in as many digits as there are: of articles, of messages; and codes."""
    message = 1234567890123456789 + 7 * np.arange(n)
    with h5py.File(f"{folder}/ids.h5", "w") as f:
        f["article"] = np.where(np.arange(n) % 9 == 4, np.nan, 30000001 + 7.0 * np.arange(n))
        f["message"] = message
        f["unsigned"] = message.astype(np.uint64) + 2**63
    with open(f"{folder}/ids.csv", "w", newline="") as f:
        table = csv.writer(f)
        table.writerow(["message", "ward"])
        table.writerows([message[i], ["1", "01", "001"][i % 3]] for i in range(n))


csv.field_size_limit(1 << 24)
GENES = ["CD3D", "MS4A1", "NKG7", "GNLY", "LYZ"]


def make_cells(path, random, n):
    """An AnnData as anndata writes it: X by rows, raw by columns, a dense layer, colours in uns."""
    counts = random.poisson(0.7, size=(n, len(GENES))).astype(np.float32)
    with h5py.File(path, "w") as f:
        f.create_dataset("obs/_index", data=[f"cell{i}" for i in range(n)], dtype=h5py.string_dtype())
        f["obs/type/codes"] = (np.arange(n) % 3).astype(np.int8)
        f.create_dataset("obs/type/categories", data=["B", "T <x>", "NK"], dtype=h5py.string_dtype())
        f.create_dataset("uns/type_colors", data=["#ff0000", "#00ff00ff", "blue"], dtype=h5py.string_dtype())
        for var, names in (("var", [f"ENSG{i}" for i in range(len(GENES))]), ("raw/var", GENES)):
            f.create_dataset(var + "/names", data=names, dtype=h5py.string_dtype())
            f[var].attrs["_index"] = "names"
        f["var/feature_name/codes"] = np.arange(len(GENES))[::-1].copy()
        f.create_dataset("var/feature_name/categories", data=GENES[::-1], dtype=h5py.string_dtype())
        f["layers/dense"] = counts * 2 + 1
        for group, table, kind in (("X", counts, "csr"), ("raw/X", counts.T * 3, "csc")):
            lines = [np.flatnonzero(line) for line in table]
            f[group + "/indptr"] = np.concatenate([[0], np.cumsum([len(line) for line in lines])])
            f[group + "/indices"] = np.concatenate(lines).astype(np.int32)
            f[group + "/data"] = np.concatenate([row[line] for row, line in zip(table, lines)])
            f[group].attrs["encoding-type"] = kind + "_matrix"
            f[group].attrs["shape"] = (n, len(GENES))


def gene(path, matrix, name):
    with h5py.File(path) as f:
        column = GENES.index(name)
        if matrix == "layers/dense":
            return f[matrix][:, column].astype(float)
        starts, indices, data = (f[matrix + "/" + part][:] for part in ("indptr", "indices", "data"))
        out = np.zeros(f[matrix].attrs["shape"][0])
        if f[matrix].attrs["encoding-type"] == "csr_matrix":
            for i in range(len(out)):
                here = slice(starts[i], starts[i + 1])
                out[i] = data[here][indices[here] == column].sum()
        else:
            here = slice(starts[column], starts[column + 1])
            out[indices[here]] = data[here]
        return out


class Page:
    def __init__(self, path):
        with open(path, encoding="utf-8", newline="") as f:
            self.text = f.read()
        about = re.search(r'<script type="application/json" id="about">(.*?)</script>', self.text,
                          re.DOTALL)
        self.about = json.loads(about.group(1))

    def blocks(self, name, items, per_block, size):
        """Bytes of all blocks of that name; `size` of an item, or None where they differ."""
        for first in range(0, items, per_block):
            count = min(per_block, items - first)
            text = re.search(rf'id="{name}-{first // per_block}">([^<]*)</script>', self.text).group(1)
            raw = zlib.decompress(base64.b64decode(text, validate=True), -15)
            assert size is None or len(raw) == count * size, (name, first, len(raw))
            yield raw

    def points(self, number=0):
        about = self.about["maps"][number]
        record = 10 + 3 * (about["dimensions"] == 3)
        parts = []
        for raw in self.blocks(["points", "beside"][number], self.about["rows"], about["block"], record):
            planes = np.frombuffer(raw, np.uint8).reshape(record, -1)
            parts.append(np.concatenate([part for part in decode(planes)], axis=0))
        return np.concatenate(parts, axis=1) if parts else np.zeros((record - 4, 0), np.int64)

    def column(self, number):
        """Planes of classes or numbers, or a list of texts, in the order of the points."""
        about = self.about["columns"][number]
        blocks = self.blocks(f"column-{number}", self.about["rows"], about["block"], about["bytes"] or None)
        if about["kind"] == "texts":
            return [text for raw in blocks for text in raw.decode().split("\0")[:-1]]
        parts = [np.frombuffer(raw, np.uint8).reshape(about["bytes"], -1).astype(np.int64) for raw in blocks]
        return np.concatenate(parts, axis=1) if parts else np.zeros((about["bytes"], 0), np.int64)


def decode(planes):
    """x, y (24 bits each), then the other planes."""
    planes = planes.astype(np.int64)
    upper = np.cumsum(planes[0] << 16 | planes[1] << 8 | planes[2])
    code = upper << 24 | planes[3] << 16 | planes[4] << 8 | planes[5]
    assert np.all(np.diff(code) >= 0), "not in the order of the curve"
    x = sum((code >> 2 * b & 1) << b for b in range(24))
    y = sum((code >> 2 * b + 1 & 1) << b for b in range(24))
    yield np.stack([x, y])
    yield planes[6:]


def number(planes):
    return sum(plane << 8 * b for b, plane in enumerate(planes))


def check_positions(page, f, planes, row, number_of_map=0):
    about, y = page.about["maps"][number_of_map], f["embedding"][:].astype(float)
    n, q = y.shape
    assert (page.about["rows"], about["dimensions"]) == (n, q)
    assert np.array_equal(np.sort(row), np.arange(n)), "not every row once"
    axes = [planes[0], planes[1]]
    if q == 3:
        axes.append(number(planes[6:9]))
    step = about["side"] / 2**24
    for axis in range(q):
        found = about["corner"][axis] + (axes[axis] + 0.5) * step
        # Half a step, and what the sums above round by.
        slack = 1e-15 * np.abs(about["corner"][axis])
        assert np.all(np.abs(found - y[row, axis]) <= 0.5 * step * (1 + 1e-6) + slack), axis
    if n > 1 and np.ptp(y, axis=0).max() > 0:
        assert np.isclose(about["side"], np.ptp(y, axis=0).max(), rtol=1e-12)
    if q == 2:
        code = sum((axes[a] >> b & 1) << 2 * b + a for a in (0, 1) for b in range(24))
        same = np.diff(code) == 0
        assert np.all(np.diff(row)[same] > 0), "equal points are not in the order of their rows"


def check_column(about, planes, values, names):
    if "classes" not in about:
        form = np.float64 if about["bytes"] == 8 else np.float32
        single = planes.astype(np.uint8).T.copy().view(form)[:, 0]
        most = np.finfo(np.float32).max
        expected = np.where(np.isfinite(values), np.clip(values, -most, most), np.nan)
        assert np.array_equal(single, expected.astype(form), equal_nan=True), about["name"]
        finite = values[np.isfinite(values)]
        assert (about["least"], about["largest"]) == (finite.min(), finite.max())
        assert about["missing"] == np.sum(~np.isfinite(values))
        return
    labels, counts = np.unique(values, return_counts=True)
    assert [c[0] for c in about["classes"]] == labels.tolist()
    assert [c[1] for c in about["classes"]] == counts.tolist()
    assert np.array_equal(labels[number(planes)], values), about["name"]
    for entry in about["classes"]:
        assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in entry[2:4])
        label = entry[0]
        expected = [names[label]] if names and 0 <= label < len(names) else []
        if abs(label) > 2**53:
            expected = [str(label)]
        assert entry[4:] == expected, entry


def values_of(name):
    """A column by FILE:NAME: values, and names of classes. Genes are FILE:MATRIX/GENE."""
    file, dataset = name.split(":")
    if file.endswith(".csv"):
        with open(file, newline="", encoding="utf-8") as f:
            return [line[dataset] for line in csv.DictReader(f)], None
    if file.endswith(".h5ad") and dataset != "type":
        matrix, wanted = dataset.rsplit("/", 1)
        return gene(file, matrix, wanted), None
    with h5py.File(file) as g:
        if file.endswith(".h5ad"):
            return g["obs/type/codes"][:].astype(int), ["B", "T <x>", "NK"]
        values = g[dataset][:]
        return [v.decode() for v in values] if values.dtype.kind in "OS" else values, None


def check_columns(page, f, others, row):
    names = f.attrs.get("label_names")
    names = names.split("\n")[:-1] if names else None
    columns = [("labels", f["labels"][:], names)] if "labels" in f else []
    columns += [(re.split("[:/]", other)[-1], *values_of(other)) for other in others]
    assert [c["name"] for c in page.about["columns"]] == [name for name, _, _ in columns]
    for number, (about, (_, values, known)) in enumerate(zip(page.about["columns"], columns)):
        packed = page.column(number)
        if about["kind"] == "texts":
            assert packed == [str(values[r]) for r in row], about["name"]
            assert about["missing"] == sum(value == "" for value in values)
            continue
        if isinstance(values, list):  # of a table: numbers, or texts as classes in their order
            if "classes" in about and len(about["classes"][0]) == 5 and known is None:
                known = sorted(set(values))
                values = [known.index(value) for value in values]
            values = np.array([float("nan" if value == "" else value) for value in values])
        check_column(about, packed, np.asarray(values)[row], known)


def check_colours(page, name, colours):
    """That classes have these colours, on white and on black; None: some of the page's own."""
    about = next(c for c in page.about["columns"] if c["name"] == name)
    for entry, colour in zip(about["classes"], colours, strict=True):
        assert colour is None or entry[2:4] == [colour, colour], entry


def shrink(picture, k):
    height, width, channels = picture.shape
    return np.array([[[picture[y:y + k, x:x + k, c].mean() for c in range(channels)]
                      for x in range(0, width, k)] for y in range(0, height, k)])


def check_pictures(page, spec, row):
    file, count, height, width, channels, k = spec[0], *map(int, spec[1:])
    about, n = page.about["pictures"], len(row)
    assert about["count"] == count
    with h5py.File(file) as f:
        data = f["X" if "X" in f else "colours"][:]
    chosen = [row[i * n // count] for i in range(count)]
    wanted = np.array([shrink(data[r].reshape(height, width, channels).astype(float), k)
                       for r in chosen])
    assert wanted.shape[1:] == (about["height"], about["width"], about["channels"])
    if data.dtype != np.uint8:
        wanted = (wanted - wanted.min()) / np.ptp(wanted) * 255
    size = wanted[0].size
    raw = np.concatenate([np.frombuffer(raw, np.uint8)
                          for raw in page.blocks("pictures", count, about["block"], size)])
    assert np.all(np.abs(raw - wanted.reshape(-1)) <= 0.5001), "other pictures"


def check_safe(page, hostile):
    text = page.text
    assert "http:" not in text.lower() and "https:" not in text.lower(), "it names an address"
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert policy.startswith("default-src 'none'; script-src 'sha256-"), policy
    assert "unsafe" not in policy and "http" not in policy
    tags = re.findall(r"<script[^>]*>", text)
    # The program, what the page knows of its data, and the blocks.
    assert tags.count("<script>") == 1, tags
    assert all(re.fullmatch(r'<script( type="application/(json|octet-stream)" id="[a-z]+(-\d+){0,2}")?>',
                            tag) for tag in tags), tags
    if hostile:
        assert page.about["title"] == '"><img src=x onerror=alert(1)>'
        assert "<img" not in text and "alert(1)</script>" not in text and "<!--" not in text
        assert page.about["marked"] == [3, 999] and page.about["black"]


def check(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("run")
    parser.add_argument("page")
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--pictures", nargs=6)
    parser.add_argument("--column", action="append", default=[])
    parser.add_argument("--beside")
    parser.add_argument("--uses")
    parser.add_argument("--colours", nargs="+", default=[])
    o = parser.parse_args(arguments)
    page = Page(o.page)
    check_safe(page, o.hostile)
    planes = page.points()
    row = number(planes[2:6])
    # x and y stand for the six planes of the codes.
    with h5py.File(o.run) as f:
        check_positions(page, f, planes, row)
        check_columns(page, f, o.column, row)
    if o.beside:
        other = page.points(1)
        with h5py.File(o.beside) as f:
            check_positions(page, f, other, number(other[2:6]), 1)
    if o.uses:
        assert ",".join(c["use"] for c in page.about["columns"]) == o.uses, page.about["columns"]
    if o.colours:
        check_colours(page, o.colours[0], [c if c[0] == "#" else None for c in o.colours[1:]])
    if o.pictures:
        check_pictures(page, o.pictures, row)


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    check(sys.argv[2:])
