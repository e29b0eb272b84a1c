#!/usr/bin/env bash
# Maps of other programs wherever a map is read, by one syntax; columns of text carried along convert
# and export; CSV embedded without a conversion; an AnnData file that gets an embedding in place.
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
. "$here/../support/expect.sh"
. "$here/../support/python.sh"

python=$(find_python h5py numpy) || {
    echo "there is no python3 with h5py: not tested"
    exit 77
}
run() { timeout 120 "$IKT_PROGRAM" "$@" >out.txt 2>err.txt || fail "$*"; }
on() { # RANKS WORDS...
    local launch
    read -ra launch <<<"$IKT_MPIRUN $1"
    timeout 120 "${launch[@]}" "$IKT_PROGRAM" "${@:2}" >out.txt 2>err.txt || fail "on $1 ranks: ${*:2}"
}

"$python" - <<'PYTHON' || exit 1
import csv
import gzip
import shutil

import h5py
import numpy as np

rng = np.random.default_rng(1)
n = 300
kind = rng.integers(0, 3, n)
x = rng.normal(size=(n, 5)) + 4 * kind[:, None]
names = ["ant", "be, e", 'the "wolf"']
notes = [("line one\nline \"two\", %d" % i)[: i % 23] for i in range(n)]
with open("own.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["id", "a", "b", "note/s", "c", "d", "e", "species", "weight"])
    for i in range(n):
        w.writerow([f"cell-{i}", repr(float(x[i, 0])), repr(float(x[i, 1])), notes[i]]
                   + [repr(float(v)) for v in x[i, 2:]] + [names[kind[i]], "" if i == 7 else i / 4])
with open("own.csv", "rb") as f, gzip.open("own.csv.gz", "wb") as g:
    shutil.copyfileobj(f, g)

y = (rng.normal(size=(n, 2)) * [9, 4] + 7 * kind[:, None]).astype("f4")
np.save("map.npy", y)
np.save("map8.npy", y.astype("f8"))
np.savez("map.npz", umap=y, other=np.zeros((3, 7)))
with open("map.csv", "w") as f:
    f.write("cell,UMAP1,UMAP2\n")
    f.writelines(f"c{i},{a!s},{b!s}\n" for i, (a, b) in enumerate(y))
with open("plain.tsv", "w") as f:
    f.writelines(f"{a!s}\t{b!s}\n" for a, b in y)
with open("axes.csv", "w") as f:  # as our own export heads them, with more beside
    f.write("row,x,y,label,weight\n")
    f.writelines(f"{i},{a!s},{b!s},{kind[i]},{i / 4}\n" for i, (a, b) in enumerate(y))
with open("gap.csv", "w") as f:
    f.writelines("x,y\n")
    f.writelines(f"{a!s},{'' if i == 20 else b!s}\n" for i, (a, b) in enumerate(y))
with h5py.File("run.h5", "w") as f:
    f["embedding"] = y
    f["labels"] = kind
text = h5py.string_dtype()
with h5py.File("cells.h5ad", "w") as f:
    f.attrs["encoding-type"] = "anndata"
    obs = f.create_group("obs")
    obs.attrs["_index"] = "_index"
    obs.create_dataset("_index", data=[f"c{i}" for i in range(n)], dtype=text)
    group = obs.create_group("kind")
    group["codes"] = kind.astype("i1")
    group.create_dataset("categories", data=names, dtype=text)
    obs["weight"] = np.arange(n) / 4
    f.create_group("var")
    f["obsm/X_umap"] = y.astype("f8")
    f["obsm/X_pca"] = x
    f["X"] = x
with open("names.csv", "w") as f:  # no header: a number between two texts is no name of a column
    f.writelines(f"cell-{i},{i + 5},kind-{i % 3}\n" for i in range(n))
with open("remarks.csv", "w") as f:  # nor is a text above a cell that is empty
    f.writelines(f"{a!s},{b!s},{'' if i % 2 else 'good'}\n" for i, (a, b) in enumerate(y))
with open("years.csv", "w") as f:
    f.writelines(["land,2019,2020,2021\n"] + [f"land-{i},{i},{i + 1},{i + 2}\n" for i in range(n)])
with open("mixed.csv", "w") as f:  # begins with numbers, and has a word among them, and a gap
    f.write("x,y,cluster,kind\n")
    f.writelines(f"{a!s},{b!s},{'none of them' if i == 70 else i % 3},{'' if i == 5 else f'k{kind[i]}'}\n"
                 for i, (a, b) in enumerate(y))
with open("kinds.data", "w") as f, open("many.csv", "w") as g:  # more rows than a block of an export
    f.writelines(["kind\n"] + [f"k{i % 7}\n" for i in range(150000)])
    g.writelines(["x,y\n"] + [f"{i % 100},{i % 7}\n" for i in range(150000)])
np.save("short.npy", y[:99])
np.savez("truth.npz", y=y, kind=kind, notes=np.array(notes))
PYTHON

every="run.h5 map.npy map8.npy map.npz:umap map.csv map.csv:UMAP1,UMAP2 map.csv:2,3 plain.tsv axes.csv
    cells.h5ad:obsm/X_umap cells.h5ad:/obsm/X_umap"
one_reader() {
    local map
    for map in $every; do
        run export "$map" out.npy --overwrite
        cmp out.npy map.npy || fail "$map is another map"
        run plot "$map" picture.png --overwrite --colour-by own.csv:species --title T
        [ -e first.png ] || cp picture.png first.png
        cmp picture.png first.png || fail "$map has another picture"
        run align "$map" run.h5 aligned.h5 --overwrite
        grep -q '^residual  *0 ' out.txt || fail "$map does not lie on the run"
        run evaluate "$map" --labels own.csv:species --measures labels
        [ -e first.txt ] || cp out.txt first.txt
        cmp out.txt first.txt || fail "$map is measured otherwise"
    done
    for ranks in 2 3; do
        for map in axes.csv map.npz:umap cells.h5ad:obsm/X_umap; do
            on $ranks export $map out.npy --overwrite
            cmp out.npy map.npy || fail "$map on $ranks ranks"
        done
    done
    run view cells.h5ad:obsm/X_umap page.html --colour-by kind,weight,own.csv:species
    run align map.csv:UMAP2,UMAP1 map.csv aligned.h5 --overwrite
    grep -q 'after mirroring' out.txt || fail "columns in the order in which they are named"
    # Nobody asked for labels, so that a table of text may lack them, as any map may.
    for map in map.csv plain.tsv axes.csv map.npy cells.h5ad:obsm/X_umap; do
        run plot "$map" bare.png --overwrite
        run view "$map" bare.html --overwrite
    done
    run evaluate axes.csv # whose labels are a column of its own
    grep -q ' 10-NN accuracy: ' out.txt || fail "labels of axes.csv"
    run evaluate cells.h5ad:obsm/X_umap --input cells.h5ad input.dataset=obsm/X_pca --labels kind --measures ranks
    grep -q ' AUC_RNX: ' out.txt || fail "a foreign map against its data"
}

refusals() {
    expect 3 'may be one of: obsm/X_umap (300 x 2)$' plot cells.h5ad x.png
    expect 3 'obsm/X_pca is no map: it has 5 columns' plot cells.h5ad:obsm/X_pca x.png
    expect 3 "own.csv has 6 columns of numbers ('a', 'b', 'c', 'd', 'e', 'weight'); a map has" plot own.csv x.png
    expect 3 'FILE:NAME for labels and maps; input.dataset=NAME of safetensors); it holds: umap (300 x 2' plot map.npz x.png
    expect 2 "map.csv has no column 'nix'" plot map.csv:UMAP1,nix x.png
    expect 4 'nothing.csv cannot be read: No such file' export nothing.csv x.npy
    expect 3 "an AnnData file without 'obsm/nix'" align cells.h5ad:obsm/nix run.h5 x.h5
    expect 3 "row 20, column 1 .*is no position (line 22, column 2 ('y'): the cell is missing)" export gap.csv x.npy
    expect 2 'a map of another program has none' evaluate map.npy --input cells.h5ad --kl
    expect 3 'has 99 rows' align short.npy run.h5 x.h5
    expect 3 'there are 99 rows' plot short.npy x.png --colour-by own.csv:species
}

direct() { # embed reads CSV as convert writes it
    local settings="isolation.psi=16 layout.iterations=30 layout.exaggeration_iterations=10 output.measures=none
        output.overwrite=yes" ranks file
    run convert own.csv made.h5 --label-column species --skip-columns weight
    grep -q 'kept in /columns: id, note_s$' err.txt || fail "convert does not tell what it kept"
    # shellcheck disable=SC2086
    run embed input.file=made.h5 output.file=by-convert.h5 $settings
    for ranks in 1 "${other_ranks[@]}"; do
        for file in own.csv own.csv.gz; do
            # shellcheck disable=SC2086
            on $ranks embed input.file=$file input.labels=species input.skip_columns=weight output.file=by-$ranks.h5 $settings
            grep -q "columns of numbers; text in 'id', 'note/s'; left out: 'weight'" err.txt || fail "embed does not tell what it left"
            "$python" - by-$ranks.h5 <<'PYTHON' || fail "$file on $ranks ranks"
import sys
import h5py
import numpy as np

with h5py.File("by-convert.h5") as a, h5py.File(sys.argv[1]) as b:
    assert a["embedding"][:].tobytes() == b["embedding"][:].tobytes()
    assert np.array_equal(a["labels"][:], b["labels"][:]) and a.attrs["label_names"] == b.attrs["label_names"]
PYTHON
        done
    done
    # shellcheck disable=SC2086
    expect 3 "own.csv.*row 7, column 5" embed input.file=own.csv input.labels=species output.file=x.h5 $settings
    grep -q "own.csv, line [0-9]*, column 9 ('weight'): the cell is missing" err.txt || fail "which cell is missing"
    expect 3 "column 9 ('weight'): the cell is empty" convert own.csv x.h5
    expect 3 "cannot be stored as uint8" convert own.csv x.h5 --missing nan --type uint8
}

texts() { # along convert and export
    local ranks
    for ranks in 1 3; do
        on $ranks convert own.csv texts-$ranks.h5 --missing nan --text-columns e --label-column species
        on $ranks export cells.h5ad:obsm/X_umap texts-$ranks.csv \
            --columns kind,weight,own.csv:note/s,own.csv:weight,own.csv:species,texts-$ranks.h5:columns/id,texts-$ranks.h5:columns/note_s
    done
    cmp texts-1.csv texts-3.csv || fail "exports differ on 3 ranks"
    "$python" - <<'PYTHON' || fail "texts are not what they were"
import csv
import h5py
import numpy as np

truth = np.load("truth.npz")
notes = [str(t) for t in truth["notes"]]
names = ["ant", "be, e", 'the "wolf"']
for ranks in 1, 3:
    with h5py.File(f"texts-{ranks}.h5") as f:
        assert sorted(f["columns"]) == ["e", "id", "note_s"]
        assert f["columns/note_s"].attrs["heading"] == "note/s"
        assert all(f["columns"][c].compression == "gzip" for c in f["columns"])
        # Blanks around a cell that is not quoted are dropped, those within quotes stay.
        got = [t.decode() for t in f["columns/note_s"][:]]
        assert [t.strip() for t in got] == [t.strip() for t in notes]
        assert [t.decode() for t in f["columns/id"][:]] == [f"cell-{i}" for i in range(300)]
        x = f["X"][:]
        assert x.shape == (300, 5) and np.isnan(x[7, 4]) and np.isnan(x).sum() == 1
        assert np.array_equal(np.delete(x[:, 4], 7), np.delete(np.arange(300) / 4, 7))
rows = list(csv.reader(open("texts-1.csv", newline="")))
assert rows[0] == ["x", "y", "kind", "weight", "s", "weight", "species", "id", "note_s"], rows[0]
for i, row in enumerate(rows[1:]):
    assert row[2] == row[6] == names[truth["kind"][i]] and float(row[3]) == i / 4
    assert row[5] == ("nan" if i == 7 else repr(i / 4)) or float(row[5]) == i / 4
    assert row[4].strip() == notes[i].strip() and row[7] == f"cell-{i}", row
PYTHON
    expect 2 "the column 'id' holds text, .* and point data of VTK are numbers" export run.h5 x.vtkhdf --columns own.csv:id
}

in_place() {
    cp cells.h5ad place.h5ad
    chmod 640 place.h5ad
    on 3 export run.h5 place.h5ad --in-place
    [ "$(stat -c %a place.h5ad)" = 640 ] || fail "the file has other permissions"
    "$python" - <<'PYTHON' || fail "what place.h5ad holds"
import h5py
import numpy as np

with h5py.File("cells.h5ad") as a, h5py.File("place.h5ad") as b:
    assert set(b["obsm"]) == {"X_umap", "X_pca", "X_iktsne"} and np.array_equal(a["X"][:], b["X"][:])
    assert np.array_equal(b["obsm/X_iktsne"][:], np.load("map.npy"))
PYTHON
    local before
    before=$(cksum <place.h5ad)
    expect 3 'has obsm/X_iktsne already; choose another --key, or --overwrite replaces it$' export run.h5 place.h5ad --in-place
    run export run.h5 place.h5ad --in-place --overwrite
    before=$(cksum <place.h5ad)
    chmod a-w place.h5ad
    expect 4 'may not be written, so nothing is added to it' export run.h5 place.h5ad --in-place --key X_b
    chmod u+w place.h5ad
    expect 2 '--in-place adds the embedding to OUT' export run.h5 x.csv --in-place
    expect 2 '--in-place adds the embedding to OUT' export run.h5 place.h5ad --in-place --h5ad cells.h5ad
    # A disk that is full: what was there stays as it was, and nothing is left beside it.
    "$python" - <<'PYTHON'
import h5py
import numpy as np

with h5py.File("place.h5ad", "a") as f:
    f["layers/counts"] = np.random.default_rng(1).random((3000000, 8))
PYTHON
    before=$(cksum <place.h5ad)
    (
        ulimit -f 65536 # kilobytes: what MPI needs, and less than the copy
        exec "$IKT_PROGRAM" export run.h5 place.h5ad --in-place --key X_b
    ) >out.txt 2>err.txt
    [ $? -eq 4 ] || fail "a full disk: exit code 4 expected"
    [ "$before" = "$(cksum <place.h5ad)" ] || fail "the file was damaged"
    [ -z "$(find . -name '*.part-*')" ] || fail "left behind: $(find . -name '*.part-*')"
}

columns() { # what columns of CSV are
    run info names.csv
    grep -q '300 rows x 1 columns' out.txt || fail "the first row of names.csv is lost"
    run info remarks.csv
    grep -q '300 rows x 2 columns' out.txt || fail "the first row of remarks.csv is lost"
    run info years.csv
    grep -q '300 rows x 3 columns' out.txt || fail "years are no names of columns"
    run plot own-map.csv x.png # neither labels nor a column that is asked for
    run plot mixed.csv x.png --overwrite --colour-by cluster
    run view mixed.csv x.html --colour-by cluster,kind
    run export mixed.csv mixed-out.csv --columns cluster,kind
    [ "$(sed -n 72p mixed-out.csv | cut -d, -f3)" = "none of them" ] || fail "a word among numbers is lost"
    [ -z "$(sed -n 7p mixed-out.csv | cut -d, -f4)" ] || fail "a text that is missing is none"
    for ranks in 1 3; do # classes of rows that come by blocks
        on $ranks export many.csv many-$ranks.csv --columns kinds.data:kind
    done
    cmp many-1.csv many-3.csv || fail "classes by blocks differ on 3 ranks"
    "$python" -c 'import sys; assert all(line.rstrip().endswith(f",k{i % 7}") for i, line in
        enumerate(list(open("many-1.csv"))[1:]))' || fail "classes by blocks"
    # A column may give numbers and labels; one that is left out gives no numbers.
    local settings="isolation.psi=16 layout.iterations=30 output.measures=none output.overwrite=yes output.picture="
    # shellcheck disable=SC2086
    run embed axes.csv both.h5 input.dataset=x,y,label input.labels=label $settings
    "$python" - <<'PYTHON' || fail "a column that gives numbers and labels"
import numpy as np
y = np.load("truth.npz")
with open("both.csv", "w") as f:
    f.writelines(f"{a!s},{b!s},{k}\n" for (a, b), k in zip(y["y"], y["kind"]))
PYTHON
    # shellcheck disable=SC2086
    run embed both.csv plain.h5 $settings
    "$python" -c 'import h5py; a, b = (h5py.File(f) for f in ("both.h5", "plain.h5"))
assert a["embedding"][:].tobytes() == b["embedding"][:].tobytes() and "labels" in a' || fail "numbers and labels"
    # shellcheck disable=SC2086
    expect 2 "the column 'y' is asked for, and is to be left out as well" embed axes.csv x.h5 input.dataset=x,y input.skip_columns=y $settings
    # shellcheck disable=SC2086
    run embed mixed.csv gaps.h5 input.dataset=x,y input.labels=kind $settings
    "$python" -c 'import h5py; l = h5py.File("gaps.h5")["labels"][:]
assert l[5] == -1 and (l >= 0).sum() == 299' || fail "a label that is missing"
    # shellcheck disable=SC2086
    expect 4 'text.h5 is not an HDF5 file' embed text.h5 x.h5 $settings
}

given() { # maps of other programs in a study
    cat >given.yaml <<'YAML'
data:
  - {name: own, file: own.csv, settings: {input.labels: species, input.skip_columns: weight}}
  - {name: cells, file: cells.h5ad, settings: {input.labels: kind}}
settings: {layout.iterations: 40, layout.exaggeration_iterations: 10}
methods:
  - {name: Isolation, vary: {isolation.psi: [16]}}
  - {name: UMAP, given: {own: "cells.h5ad:obsm/X_umap", cells: map.csv}}
seeds: [1, 2]
measures: [10-NN accuracy, AUC_RNX, "AUC_RNX, kernel", KL]
YAML
    run study given.yaml --output study
    [ "$(grep -c ',UMAP,1,,ok,' study/results.csv)" -eq 2 ] || fail "given maps: $(cat study/results.csv)"
    grep ',UMAP,' study/results.csv | grep -vq 'its settings are not known' && fail "no word of what is not known"
    grep -q '^| own | 300 | .* | .* |$' study/report/report.md || fail "the report"
    on 3 study given.yaml --output study-3
    cmp <(grep UMAP study/results.csv | sort) <(grep UMAP study-3/results.csv | sort) || fail "3 ranks measure otherwise"
    run evaluate cells.h5ad:obsm/X_umap --labels kind --measures labels
    local accuracy
    accuracy=$(awk '/ 10-NN accuracy: / { print $7 }' out.txt)
    [ -n "$accuracy" ] || fail "evaluate tells no accuracy"
    awk -F, -v a="$accuracy" '/,UMAP,/ { n++; for (i = 1; i <= NF; i++) if ($i != "" && $i - a == 0) hit++ }
        END { exit !(n == 2 && hit >= 2) }' study/results.csv || fail "not the accuracy $accuracy that evaluate finds"
    sed 's/cells: map.csv/cell: map.csv/' given.yaml >bad.yaml
    expect 2 "there is no data set 'cell', of which the method 'UMAP' has a given map" study bad.yaml --output s
    sed 's/cells: map.csv/cells: nix.csv/' given.yaml >bad.yaml
    expect 4 "the map of 'cells' by the method 'UMAP' (nix.csv) is neither beside the study" study bad.yaml --output s
    sed 's/given: {/vary: {isolation.psi: [4]}, given: {/' given.yaml >bad.yaml
    expect 2 'either `given` maps, which are as they are, or `vary`' study bad.yaml --output s
    sed 's/cells: map.csv/cells: short.npy/' given.yaml >bad.yaml
    run study bad.yaml --output short
    grep -q 'cells,UMAP,.*failed.*short.npy has 99 rows' short/results.csv || fail "a map of other rows: $(cat short/results.csv)"
}

try one_reader "maps of every kind are the same map"
try refusals "what is no map is refused with one sentence"
try direct "CSV is embedded as its conversion is"
try texts "texts go along"
printf 'no HDF5\n' >text.h5
printf '1.5,2\n3,4.25\n5,7\n' >own-map.csv
try columns "columns of CSV are what they hold"
try in_place "an AnnData file gets an embedding in place"
try given "maps of other programs in a study"
exit "$failed"
