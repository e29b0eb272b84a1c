#!/usr/bin/env bash
# iktsne export: every format holds what the run holds, as numpy, csv, gzip, AnnData and VTK read it; the
# same bytes on any number of ranks; what cannot be written is refused with a sentence.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/python.sh"

python=$(find_python h5py numpy) || {
    echo "there is no python3 with h5py: not tested"
    exit 77
}
anndata=$(find_python anndata) || echo "AnnData is not there: .h5ad is checked with h5py only"
vtk=$(find_python vtk) || echo "VTK is not there: .vtkhdf is checked with h5py only"

# A real run (of digits, where there are some), and files of other programs: many rows with labels that
# have names, in one to three dimensions, and AnnData of the same rows.
data=${IKT_TEST_DATA:-}/digits.h5
[ -r "$data" ] || { "$IKT_PROGRAM" generate glyphs made.h5 --points 400 --quiet && data=made.h5; }
"$IKT_PROGRAM" embed input.file="$data" input.rows=400 isolation.psi=32 layout.iterations=40 \
    layout.exaggeration_iterations=20 output.file=run.h5 output.measures=none --quiet >/dev/null ||
    fail "embed"
"$python" - <<'PYTHON' || fail "the files to begin with"
import h5py
import numpy as np

rng = np.random.default_rng(5)
for name, n, q in (("many", 150003, 2), ("line", 70001, 1), ("space", (1 << 20) + 70001, 3)):
    with h5py.File(name + ".h5", "w") as f:
        f["embedding"] = (30 * rng.normal(size=(n, q))).astype(np.float32)
        f["labels"] = rng.integers(-1, 4, n).astype(np.int16)
        f["diagnostics/weight"] = rng.normal(size=n)
        f.attrs["label_names"] = 'plain\nwith, comma\nwith "quotes"\n'


def strings(group, name, values, encoding):
    made = group.create_dataset(name, data=np.array(values, dtype=object), dtype=h5py.string_dtype())
    made.attrs["encoding-type"], made.attrs["encoding-version"] = encoding, "0.2.0"


def mapping(parent, name, kind="dict", version="0.1.0"):
    made = parent.create_group(name)
    made.attrs["encoding-type"], made.attrs["encoding-version"] = kind, version
    return made


for name, n, has_obsm in (("data", 150003, True), ("bare", 150003, False), ("other", 7, True)):
    with h5py.File(name + ".h5ad", "w") as f:
        f.attrs["encoding-type"], f.attrs["encoding-version"] = "anndata", "0.1.0"
        x = f.create_dataset("X", data=np.arange(n * 2, dtype="f4").reshape(n, 2), compression="gzip")
        x.attrs["encoding-type"], x.attrs["encoding-version"] = "array", "0.2.0"
        for table, rows in (("obs", n), ("var", 2)):
            made = mapping(f, table, "dataframe", "0.2.0")
            made.attrs["_index"] = "_index"
            made.attrs.create("column-order", np.array([], dtype="f8"))
            strings(made, "_index", [str(i) for i in range(rows)], "string-array")
        for group in ("layers", "obsp", "varm", "varp", "uns"):
            mapping(f, group)
        f["uns/note"] = 3.5
        if has_obsm:
            old = mapping(f, "obsm").create_dataset("X_old", data=np.ones((n, 2), "f4"))
            old.attrs["encoding-type"], old.attrs["encoding-version"] = "array", "0.2.0"
PYTHON

# On 1 to 4 ranks, the same bytes.
export_on() {
    local ranks=$1 from=$2 to=$3
    shift 3
    # shellcheck disable=SC2086
    $IKT_MPIRUN "$ranks" "$IKT_PROGRAM" export "$from" "$ranks-$to" --quiet "$@" 2>err.txt ||
        fail "export $from $to on $ranks ranks"
}
all_ranks() {
    local ranks
    for ranks in 1 $RANKS; do
        export_on "$ranks" "$@"
        cmp "1-$2" "$ranks-$2" || fail "$2 differs on $ranks ranks"
    done
}
RANKS="2 3 4" all_ranks many.h5 many.csv.gz
RANKS="3" all_ranks many.h5 many.npy
RANKS="3" all_ranks many.h5 full.tsv --columns diagnostics/weight,many.h5:/labels --row-numbers
RANKS="3" all_ranks space.h5 space.vtkhdf --columns labels,diagnostics/weight --row-numbers
RANKS="3" all_ranks many.h5 data.h5ad --h5ad data.h5ad
RANKS="" all_ranks many.h5 bare.h5ad --h5ad bare.h5ad --key X_mine
for to in line.csv line.npy line.vtkhdf; do RANKS="" all_ranks line.h5 $to; done
for to in run.csv run.npy run.hdf; do RANKS="" all_ranks run.h5 $to; done

"$python" - <<'PYTHON' || fail "what the formats hold"
import csv
import gzip
import h5py
import numpy as np

names = ["plain", "with, comma", 'with "quotes"']


def run(name):
    with h5py.File(name + ".h5") as f:
        return f["embedding"][:], f["labels"][:] if "labels" in f else None, f["diagnostics/weight"][:] \
            if "diagnostics" in f else None


def rows_of(opened, delimiter=","):
    return list(csv.reader(opened, delimiter=delimiter))


for name, text in (("many", gzip.open("1-many.csv.gz", "rt", newline="")), ("line", open("1-line.csv")),
                   ("run", open("1-run.csv"))):
    y, labels, _ = run(name)
    rows = rows_of(text)
    q = y.shape[1]
    assert rows[0][:q + 1] == ["x", "y", "z"][:q] + ["label"], rows[0]
    read = np.array([[np.float32(v) for v in row[:q]] for row in rows[1:]])
    assert read.shape == y.shape and np.array_equal(read, y), name
    assert [int(row[q]) for row in rows[1:]] == list(labels)
    if name != "run":
        assert rows[0][q + 1:] == ["label_name"]
        assert [row[q + 1] for row in rows[1:]] == [names[k] if 0 <= k < 3 else "" for k in labels]
    array = np.load("1-many.npy" if name == "many" else f"1-{name}.npy")
    assert array.dtype == np.float32 and array.flags.c_contiguous and np.array_equal(array, y), name

y, labels, weight = run("many")
rows = rows_of(open("1-full.tsv"), "\t")
assert rows[0] == ["row", "x", "y", "weight", "label", "label_name"], rows[0]
assert [int(row[0]) for row in rows[1:]] == list(range(len(y)))
assert np.array_equal(np.array([float(row[3]) for row in rows[1:]]), weight)

for name in ("space.vtkhdf", "line.vtkhdf", "run.hdf"):
    y, labels, weight = run(name.split(".")[0])
    n, q = y.shape
    with h5py.File("1-" + name) as f:
        g = f["VTKHDF"]
        assert g.attrs["Type"] == b"UnstructuredGrid" and list(g.attrs["Version"]) == [1, 0]
        assert g["NumberOfPoints"][:].sum() == n and len(g["Offsets"]) == n + len(g["NumberOfPoints"])
        assert np.array_equal(g["Points"][:, :q], y) and not g["Points"][:, q:].any()
        assert np.array_equal(g["PointData/label"][:], labels)
        if name == "space.vtkhdf":
            assert np.array_equal(g["PointData/weight"][:], weight)
            assert np.array_equal(g["PointData/row"][:], np.arange(n))


def contents(path):
    found = {}

    def visit(name, item):
        found[name] = ({k: str(v) for k, v in item.attrs.items()},
                       item[()] if isinstance(item, h5py.Dataset) else None)

    with h5py.File(path) as f:
        f.visititems(visit)
    return found


y, _, _ = run("many")
for name, key, about in (("data", "X_iktsne", "uns/iktsne"), ("bare", "X_mine", "uns/iktsne_X_mine")):
    before, after = contents(name + ".h5ad"), contents(f"1-{name}.h5ad")
    for path, (attributes, value) in before.items():
        assert after[path][0] == attributes and np.array_equal(after[path][1], value), path
    new = set(after) - set(before)
    assert "obsm/" + key in new and about in new
    assert all(p in ("obsm", "obsm/" + key) or p.startswith(about) for p in new), new
    attributes, value = after["obsm/" + key]
    assert attributes == {"encoding-type": "array", "encoding-version": "0.2.0"}, attributes
    assert value.dtype == np.float32 and np.array_equal(value, y)
    assert after["obsm"][0]["encoding-type"] == "dict"
PYTHON

if [ -n "$anndata" ]; then
    # The facts of a real run, too, and replacing what is there.
    "$anndata" - "$IKT_PROGRAM" <<'PYTHON' 2>err.txt || fail "AnnData does not read it"
import subprocess
import sys
import anndata
import h5py
import numpy as np

a = anndata.AnnData(np.zeros((400, 3), np.float32))
a.obs["group"] = ["a", "b"] * 200
a.write("small.h5ad")
for step in ([], ["--overwrite"]):
    source = "small.h5ad" if not step else "again.h5ad"
    subprocess.run([sys.argv[1], "export", "run.h5", "with.h5ad", "--h5ad", source, "--quiet"] + step,
                   check=True)
    subprocess.run(["cp", "with.h5ad", "again.h5ad"], check=True)
b = anndata.read_h5ad("with.h5ad")
with h5py.File("run.h5") as f:
    assert np.array_equal(b.obsm["X_iktsne"], f["embedding"][:])
    facts = f["provenance"].attrs
    about = b.uns["iktsne"]
    assert about["configuration"] == facts["configuration"] and about["run"] == "run.h5", about
    assert about["embedding_hash"] == facts["embedding_hash"]
    assert abs(about["kl"] - float(facts["kl"])) < 1e-12 and about["iterations_done"] == 40
assert list(b.obs["group"]) == list(a.obs["group"])
c = anndata.read_h5ad("1-data.h5ad")
assert set(c.obsm) == {"X_old", "X_iktsne"} and c.uns["note"] == 3.5 and c.shape == (150003, 2)
assert set(anndata.read_h5ad("1-bare.h5ad").obsm) == {"X_mine"}
PYTHON
fi

if [ -n "$vtk" ]; then
    "$vtk" - <<'PYTHON' || fail "VTK does not read it"
import h5py
import numpy as np
import vtk
from vtk.util.numpy_support import vtk_to_numpy

for name in ("space.vtkhdf", "line.vtkhdf", "run.hdf"):
    reader = vtk.vtkHDFReader()
    assert reader.CanReadFile("1-" + name)
    reader.SetFileName("1-" + name)
    reader.Update()
    grid = reader.GetOutput()
    with h5py.File(name.split(".")[0] + ".h5") as f:
        y, labels = f["embedding"][:], f["labels"][:]
    n, q = y.shape
    points = vtk_to_numpy(grid.GetPoints().GetData())
    assert np.array_equal(points[:, :q], y) and not points[:, q:].any()
    assert np.array_equal(vtk_to_numpy(grid.GetPointData().GetArray("label")), labels)
    assert grid.GetNumberOfCells() == n
    for cell in (0, n // 2, (1 << 20) - 1, 1 << 20, n - 1):
        if cell < n:
            assert grid.GetCellType(cell) == vtk.VTK_VERTEX
            assert grid.GetCell(cell).GetPointId(0) == cell, cell
PYTHON
fi

# What cannot be.
expect 3 'no /embedding' export "$data" x.npy
expect 2 'its ending names no format' export run.h5 x.parquet
expect 2 'holds the places alone' export run.h5 x.npy --columns labels
expect 2 'name the one of which a copy gets it' export run.h5 x.h5ad
expect 3 'other.h5ad has 7 rows (obs), but run.h5 has 400' export run.h5 x.h5ad --h5ad other.h5ad
expect 3 'has obsm/X_old already' export many.h5 x.h5ad --h5ad data.h5ad --key X_old
expect 3 'no AnnData file' export run.h5 x.h5ad --h5ad run.h5
# A map in CSV has its labels beside it, as its readers find them.
printf 'x,y,label,label_name,note\n1,2,0,ant,p\n3,4,1,"b, c",q\n' >map.csv
printf 'x,y,label,label_name\n1,2,0,ant\n3,4,1,"b, c"\n' >labelled.csv
RANKS=3 all_ranks map.csv from-map.csv
cmp 1-from-map.csv labelled.csv || fail "labels of a map in CSV"
printf 'x,y,labels\n1,2,ant\n3,4,bee\n' >map.csv
RANKS="" all_ranks map.csv texts.csv
printf 'x,y,label\n1,2,ant\n3,4,bee\n' | cmp 1-texts.csv - || fail "texts as labels of a map in CSV"

# Rows that are left keep their numbers in the input, in a map of a kept graph, too.
"$python" -c 'import h5py, numpy
x = numpy.random.default_rng(1).normal(size=(90, 3))
x[[2, 40, 41], [0, 1, 2]] = numpy.nan
with h5py.File("gaps.h5", "w") as f: f["X"], f["labels"] = x, numpy.arange(90)'
"$IKT_PROGRAM" embed gaps.h5 left.h5 preprocess.missing=drop output.graph=left-graph.h5 output.picture=none --quiet 2>err.txt &&
    "$IKT_PROGRAM" embed input.graph=left-graph.h5 output.file=again.h5 output.graph=again-graph.h5 output.picture=none --quiet 2>err.txt &&
    "$IKT_PROGRAM" embed input.graph=again-graph.h5 output.file=third.h5 output.picture=none --quiet 2>err.txt || fail "maps of rows that are left"
for from in left again third; do
    RANKS=3 all_ranks $from.h5 $from.csv --row-numbers
    awk -F, 'NR > 1 && $1 != $4 { exit 1 } END { exit NR != 88 }' 1-$from.csv || fail "row numbers of $from.h5"
    RANKS="" all_ranks $from.h5 $from.vtkhdf --row-numbers
    "$python" -c 'import h5py, sys
p = h5py.File(sys.argv[1])["VTKHDF/PointData"]
assert (p["row"][:] == p["label"][:]).all()' 1-$from.vtkhdf || fail "row numbers for VTK"
done

# Columns of the input are taken by these numbers; so are those of a run of its first rows.
"$python" -c 'import h5py, numpy
n = numpy.arange(90)
with h5py.File("beside.h5", "w") as f:
    f["X"], f["whole"], f["text"], f["kind/codes"] = numpy.stack([n, n * n % 17], 1) / 2, n, numpy.array([f"t{i}" for i in n], dtype=object), n % 2
    f["kind/categories"] = numpy.array(["even", "odd"], dtype=object)
with open("beside.csv", "w") as f:
    f.write("name,number,a\n" + "".join(f"n{i},{i},{i * i % 17}\n" for i in n))'
"$IKT_PROGRAM" embed beside.h5 first.h5 input.rows=60 input.dataset=X output.picture=none --quiet 2>err.txt || fail "first rows"
for from in left first; do
    columns=beside.h5:whole,beside.h5:text,beside.h5:kind
    [ $from = first ] && expect 3 "has 90 texts, but there are 60 rows" export first.h5 x.csv --columns beside.csv:name
    if [ $from = first ]; then head -61 beside.csv >own.csv; else cp beside.csv own.csv; fi
    "$python" -c 'import numpy, sys; numpy.save("labels.npy", numpy.arange(int(sys.argv[1])) % 3)' $([ $from = first ] && echo 60 || echo 90)
    columns=$columns,own.csv:name,own.csv:number,labels.npy
    RANKS=3 all_ranks $from.h5 $from-beside.csv --row-numbers --columns $columns
    awk -F, 'NR == 1 { good = $0 == "row,x,y,whole,text,kind,name,number,label"; next }
        $4 != $1 || $5 != "t" $1 || $6 != ($1 % 2 ? "odd" : "even") || $7 != "n" $1 || $8 != $1 || $9 != $1 % 3 { exit 1 }
        END { exit !good }' 1-$from-beside.csv || fail "columns of the input beside $from.h5: $(head -3 1-$from-beside.csv)"
    for ranks in 1 3; do
        $IKT_MPIRUN $ranks "$IKT_PROGRAM" evaluate $from.h5 --labels beside.h5:kind --json >$ranks.json 2>err.txt || fail "evaluate $from.h5: $(cat err.txt)"
        $IKT_MPIRUN $ranks "$IKT_PROGRAM" view $from.h5 $ranks.html --hover own.csv:name,beside.h5:text --colour-by labels.npy,beside.h5:whole --overwrite --quiet 2>err.txt ||
            fail "view $from.h5: $(cat err.txt)"
        $IKT_MPIRUN $ranks "$IKT_PROGRAM" plot $from.h5 $ranks.png --colour-by beside.h5:kind,labels.npy,own.csv:number --overwrite --quiet 2>err.txt ||
            fail "plot $from.h5: $(cat err.txt)"
    done
    cmp 1.json 3.json && cmp 1.html 3.html && cmp 1.png 3.png || fail "columns beside $from.h5 differ over ranks"
done
# Ids of more digits than doubles have keep all of them; a file of one column gives its name up to the last dot.
"$python" -c 'import h5py, numpy
numpy.save("v1.3.npy", numpy.arange(90))
ids = [2**53 + 1 + 2 * i for i in range(90)]
with h5py.File("ids.h5", "w") as f: f["id"], f["labels"], f["half"] = ids, ids, [i / 2 for i in range(90)]
with open("v1.2.csv", "w") as f: f.write("id\n" + "".join(f"{i}\n" for i in ids))'
RANKS="2 3" all_ranks left.h5 ids.csv --row-numbers --columns ids.h5:id,v1.2.csv:id,ids.h5,ids.h5:half,v1.3.npy
"$python" -c 'import csv
rows = list(csv.reader(open("1-ids.csv")))
assert rows[0] == "row x y id id ids half v1.3".split(), rows[0]
assert len(rows) == 88
for r in rows[1:]:
    assert r[3:6] == [str(2**53 + 1 + 2 * int(r[0]))] * 3 and float(r[6]) == int(r[0]) / 2 == float(r[7]) / 2, r' || fail "ids of many digits"
RANKS=3 all_ranks left.h5 ids.vtkhdf --columns ids.h5:id --row-numbers
"$python" -c 'import h5py
p = h5py.File("1-ids.vtkhdf")["VTKHDF/PointData"]
assert (p["id"][:] == 2**53 + 1 + 2 * p["row"][:]).all()' || fail "ids of many digits for VTK"
expect 2 "'id' holds text, or numbers of CSV that doubles would round" export left.h5 x.vtkhdf --columns v1.2.csv:id
expect 3 "v1.2.csv has numbers of more digits than all doubles hold: name the column, v1.2.csv:COLUMN" export left.h5 x.csv --columns v1.2.csv
printf 'wide,v\n' >wide.csv
seq -f '%g,1.5e300' 400 >>wide.csv
RANKS="" all_ranks run.h5 wide.vtkhdf --columns wide.csv:v

# What does not ascend over all ranks is no list of row numbers, on any of them: half of it does.
"$python" -c 'import h5py, numpy
for name, row in ("turned", [3, 4, 5, 0, 1, 2]), ("good", [0, 1, 2, 5, 6, 7]):
    with h5py.File(name + ".h5", "w") as f:
        f["embedding"] = numpy.arange(12, dtype="f4").reshape(6, 2)
        f["diagnostics/row"] = row
        f.attrs["configuration"] = ""'
{ echo word && seq -f 'w%g' 0 7; } >eight.csv
for ranks in 1 2 3 4 7; do
    for at in "turned 3" "good 0"; do
        $IKT_MPIRUN $ranks "$IKT_PROGRAM" plot ${at% *}.h5 x.png --colour-by eight.csv:word --overwrite --quiet >out.txt 2>err.txt
        code=$?
        [ $code -eq ${at#* } ] || fail "plot ${at% *}.h5 by a longer column leaves $code on $ranks ranks"
    done
done
rm x.png
RANKS="" all_ranks turned.h5 turned.csv --row-numbers
[ "$(cut -d, -f1 1-turned.csv | xargs)" = "row 0 1 2 3 4 5" ] || fail "row numbers that are none"
RANKS=3 all_ranks good.h5 good.csv --row-numbers
[ "$(cut -d, -f1 1-good.csv | xargs)" = "row 0 1 2 5 6 7" ] || fail "row numbers that are some"
head -50 beside.csv >short.csv
expect 3 "has 49 texts, but there are 90 rows" export left.h5 x.csv --columns short.csv:name
expect 3 "has 90 texts, but there are 400 rows" export run.h5 x.csv --columns beside.csv:name

expect 3 "has no data set 'nothing'" export run.h5 x.csv --columns nothing
expect 3 'entries, but there are 400 rows' export run.h5 x.csv --columns many.h5:labels
expect 4 'exists already' export run.h5 1-run.csv
expect 4 'cannot be written' export run.h5 no/folder/x.csv
expect 2 'only csv and tsv are compressed' export run.h5 x.npy.gz --format npy

# A file that cannot become as long as it must: the old one stays. Its length is not known before.
echo old >x.csv
(
    ulimit -f 16384 # kilobytes: enough for what MPI needs, and less than the file
    exec "$IKT_PROGRAM" export space.h5 x.csv --overwrite --quiet
) 2>err.txt
[ $? -eq 4 ] || fail "a file beyond the limit of sizes: exit code 4 expected"
grep -q 'x.csv cannot be ' err.txt || fail "message: $(cat err.txt)"
[ "$(cat x.csv)" = old ] || fail "the old file has changed"
rm x.csv
leftover=$(find . -name 'x.*' -o -name '*.part-*')
[ -z "$leftover" ] || fail "left behind: $leftover"
[ "$failed" -eq 0 ] && echo "exports hold what the run holds"
exit "$failed"
