#!/usr/bin/env bash
# The same things are called the same everywhere: settings of the input in every verb, pictures after
# the result, measures by plain names; a wrong input is told before an output that exists; a run says
# in one line what it will do and in one paragraph what it did.
. "$IKT_SOURCE/tests/support/script.sh"
. "$IKT_SOURCE/tests/support/python.sh"
python=$(find_python numpy h5py) || { echo "skipped: no python3 with h5py"; exit 77; }

verb() { timeout 60 "$IKT_PROGRAM" "$@" >out.txt 2>err.txt; }
refused() { # EXIT WORDS ARGUMENTS...
    local exit=$1 words=$2
    shift 2
    verb "$@"
    local code=$?
    [ "$code" -eq "$exit" ] || fail "'$*' leaves $code instead of $exit"
    grep -q -- "$words" err.txt || fail "'$*' does not say '$words'"
}

"$IKT_PROGRAM" generate gaussian-mixture plain.h5 --points 240 --clusters 3 --quiet
"$python" - <<'PYTHON' || exit 1
import h5py
with h5py.File("plain.h5") as f, h5py.File("named.h5", "w") as g:
    g["rows"] = f["X"][:]
    g["kind"] = f["labels"][:]
PYTHON
short="layout.iterations=60 isolation.psi=16 isolation.partitionings=50"
verb embed named.h5 run.h5 input.dataset=rows input.labels=kind output.model=model.h5 $short || fail "embed"

# What is said before and after.
said() {
    [ "$(grep -c 'reading' err.txt)" -eq 1 ] || fail "not one line before the run"
    grep -q '^iktsne: reading named.h5:/rows (240 rows x [0-9]* columns, float32), will write run.h5, run.png and model.h5; 1 rank x' err.txt ||
        fail "the line before the run"
    tr '\n' ' ' <out.txt >one.txt
    grep -q '^In the map, [0-9.]* % of the rows have the class of most of their 10 nearest rows, and .* nearest one;.* Davies-Bouldin index of .* KL divergence is [0-9.]* after 60 iterations\. It took [0-9.]* s on 1 rank x .* MB of memory per rank at most .* Written: run.h5, run.png and model.h5\. Next: `iktsne view run.h5 run.html`' one.txt ||
        fail "the paragraph after the run"
    grep -q '^stage ' out.txt && fail "a table of stages that nobody asked for"
    grep -q '^embedding hash   [0-9a-f]\{16\}$' out.txt || fail "no hash"
    verb embed plain.h5 verbose.h5 output.measures=all $short --verbose || fail "--verbose"
    grep -q '^stage            seconds' out.txt || fail "no table of stages with --verbose"
    [ "$(grep -c '10-NN accuracy:' out.txt)" -eq 1 ] || fail "not one line of a measure with --verbose"
    verb embed plain.h5 all.h5 output.measures=all $short || fail "all measures"
    grep -q '^trustworthiness of 12 neighbours .*   trustworthiness (k 12): ' out.txt || fail "no plain name"
    grep -q '10-NN accuracy:' out.txt && fail "a measure that the paragraph has told"
    verb embed plain.h5 bare.h5 input.labels=labels output.measures=none $short || fail "no measures"
    tr '\n' ' ' <out.txt | grep -q '^Before the first iteration, .*\. The KL divergence is ' || fail "the paragraph without measures"
}
said

# The names of the model's run are the defaults of transform; a file of labels is not one of them.
inherited() {
    verb transform model.h5 named.h5 placed.h5 || fail "transform by the model's own names"
    tr '\n' ' ' <out.txt >one.txt
    grep -q '^placed.h5: 240 rows among the 240 of model.h5\. For [0-9.]* % of them the class is' one.txt || fail "no labels of the model's name"
    [ -f placed.png ] || fail "no picture named after the result"
    "$IKT_PROGRAM" info placed.h5 --config >again.yaml
    grep -q 'input.dataset\|dataset: *"*rows' again.yaml || fail "the name is not in the provenance"
    refused 3 "has no data set 'rows'" transform model.h5 plain.h5 p2.h5
    verb transform model.h5 plain.h5 p2.h5 input.dataset=X --picture none || fail "another name, and no labels"
    grep -q 'the class is' out.txt && fail "labels of nowhere"
    [ ! -e p2.png ] || fail "a picture that nobody wants"
    verb embed plain.h5 bare-p.h5 output.picture=none $short && [ ! -e bare-p.png ] && [ ! -e none ] || fail "no picture of a run"
    cmp -s <("$python" -c 'import h5py; print(h5py.File("placed.h5")["embedding"][:].tobytes())') \
        <("$python" -c 'import h5py; print(h5py.File("p2.h5")["embedding"][:].tobytes())') || fail "other places by another name"
    verb transform model.h5 plain.h5 p3.h5 input.dataset=X input.labels=labels output.picture=p3.svg || fail "settings in transform"
    grep -q 'the class is' out.txt && [ -f p3.svg ] || fail "a setting of transform is not used"
    refused 3 "has no labels 'none_such' (input.labels)" transform model.h5 named.h5 p4.h5 --labels none_such
    refused 2 "iktsne transform does not take the setting layout.iterations" transform model.h5 named.h5 p4.h5 layout.iterations=3
}

# The same settings where options of that meaning are.
everywhere() {
    verb evaluate run.h5 --input named.h5 --measures trustworthiness --json && mv out.txt options.json || fail "evaluate"
    verb evaluate run.h5 input.file=named.h5 input.labels=labels --measures trustworthiness --json || fail "evaluate by settings"
    cmp -s out.txt options.json || fail "other numbers by input.file"
    refused 3 "no data set 'nothing'\|no labels 'nothing'" evaluate run.h5 input.labels=nothing
    verb info named.h5 input.dataset=rows && grep -q '240 rows x' out.txt || fail "info by input.dataset"
    verb convert named.h5 copy.h5 input.dataset=rows input.labels=kind || fail "convert by settings"
    grep -q 'with labels' err.txt || fail "convert does not take input.labels"
    refused 4 "copy.h5 exists already" convert named.h5 copy.h5 input.dataset=rows
    verb convert named.h5 copy.h5 input.dataset=rows output.overwrite=yes || fail "convert by output.overwrite"
    verb plot run.h5 grey.svg input.labels=none && verb plot run.h5 grey2.svg --colour-by none && cmp -s grey.svg grey2.svg ||
        fail "plot by input.labels"
    "$IKT_PROGRAM" convert --help | grep 'also as input.labels=FILE' >/dev/null || fail "the help does not say so"
    refused 2 "input.labels.*takes no\|--labels: " evaluate run.h5 $'input.labels=\xff'
}

# A wrong input before an output that exists.
order() {
    refused 4 "missing.h5 cannot be read" embed missing.h5 run.h5
    refused 4 "wrong.h5 is not an HDF5 file\|wrong.h5" embed wrong.h5 run.h5
    refused 3 "no data set 'absent'" embed plain.h5 run.h5 input.dataset=absent
    refused 4 "missing.h5 cannot be read" transform model.h5 missing.h5 placed.h5
    refused 4 "missing.h5 cannot be read" align missing.h5 run.h5 placed.h5
    refused 4 "missing.h5 cannot be read" embed missing.h5 run.h5 --dry-run
    refused 4 "run.h5 exists already" embed plain.h5 run.h5
}
printf 'no HDF5' >wrong.h5

# Measures by the names that people use, and only those.
measures() {
    verb evaluate run.h5 --input named.h5 --measures trustworthiness,knn || fail "plain names"
    [ "$(wc -l <out.txt)" -eq 2 ] || fail "more or fewer than two measures"
    grep -q '^accuracy of the 10 nearest neighbours ' out.txt || fail "knn"
    grep -q '^trustworthiness of 12 neighbours ' out.txt || fail "trustworthiness"
    for name in Davies_Bouldin continuity ch NMI silhouette_score triplet-accuracy 1-nn gamma auc; do
        verb evaluate run.h5 --input named.h5 --measures $name || fail "$name"
        [ -s out.txt ] || fail "$name finds nothing"
    done
    verb evaluate run.h5 --input named.h5 --measures ranks,trust || fail "a family and one of it"
    [ "$(wc -l <out.txt)" -eq 4 ] || fail "a whole family was asked for"
    refused 2 "'nonsense' is no measure; there are the families" evaluate run.h5 --measures nonsense
    refused 2 "'trustworthines' is no measure; .*; did you mean 'trustworthiness'?$" evaluate run.h5 --measures trustworthines
    refused 2 "the measures 'ranks' need the input data" evaluate run.h5 --measures trustworthiness
    refused 2 "'' is no measure" evaluate run.h5 --measures knn,,auc
}

# A name wider than the panel is cut at its side.
wide() {
    local long
    long=$(printf 'W%.0s' $(seq 90))
    { echo "kind,x,y"; for i in $(seq 30); do echo "$long,$i,$((i * i % 7))"; echo "b,-$i,$((i * i % 5 - 90))"; done; } >wide.csv
    verb embed wide.csv wide.h5 input.labels=kind output.picture=none $short || fail "embed of long names"
    verb plot wide.h5 wide.svg --names --no-legend || fail "plot of long names"
    grep -qE '>WWWWW*[.]{3}</text>' wide.svg || fail "a name runs over the side of the panel: $(grep '<text' wide.svg)"
}

# New rows, by the names of their classes and of their columns: NAME COLUMNS KINDS, where KINDS tells
# what a third of the rows each is called; an empty name leaves these rows out.
table() {
    awk -v cols="$2" -v kinds="$3" 'BEGIN { srand(7); count = split(cols, c, ""); split(kinds, k, ",")
        for (j = 1; j <= count; j++) printf "%s,", c[j]
        print "kind"
        for (i = 0; i < 120; i++) {
            for (j = 1; j <= 3; j++) x[j] = sprintf("%.4f", rand() + 9 * (i % 3 + 1 == j))
            if (k[i % 3 + 1] == "-") continue
            for (j = 1; j <= count; j++) printf "%s,", c[j] == "i" ? i : x[index("abc", c[j])]
            print k[i % 3 + 1] } }' >"$1"
}
accuracy() { "$python" -c 'import h5py, sys
print(h5py.File(sys.argv[1])["provenance"].attrs.get("label_accuracy_among_old_rows", "none"))' new.h5; }
places() { # ACCURACY WORDS ARGUMENTS...: of new rows in named.mod.h5
    verb transform "${@:3}" new.h5 --picture none --overwrite || fail "transform ${*:3}"
    [ "$(accuracy)" = "$1" ] || fail "transform ${*:3}: accuracy $(accuracy), not $1"
    grep -q -- "$2" err.txt || fail "transform ${*:3} does not say '$2'"
}
classes() {
    table old.csv abc apple,beech,cedar
    verb embed old.csv old.h5 input.labels=kind output.model=named.mod.h5 output.picture=none $short || fail "embed"
    table fewer.csv abc -,beech,cedar
    places 1 "" named.mod.h5 fewer.csv
    "$python" - <<'PYTHON' || fail "labels and names of the new rows"
import h5py
f, m = h5py.File("new.h5"), h5py.File("named.mod.h5")
assert f.attrs["label_names"] == m.attrs["label_names"] == "apple\nbeech\ncedar\n", f.attrs["label_names"]
assert f["labels"][:4].tolist() == [1, 2, 1, 2], f["labels"][:4]
PYTHON
    table other.csv abc elm,beech,aspen
    places 0.3333333333333333 "no old row has the classes aspen, elm: the 80 new rows of them count as" named.mod.h5 other.csv
    "$python" -c 'import h5py
f = h5py.File("new.h5")
assert f.attrs["label_names"] == "apple\nbeech\ncedar\naspen\nelm\n" and f["labels"][:3].tolist() == [4, 1, 3]' || fail "names behind those of the model"
    table some.csv abc ,beech,cedar
    places 1 "" named.mod.h5 some.csv
    tr '\n' ' ' <out.txt | grep -q 'For 100.00 % of the 80 with a label the class' || fail "rows without a label count"
    awk -F, -v OFS=, 'NR > 1 && NR % 4 { $4 = "" } 1' old.csv >rare.csv
    verb embed rare.csv rare.h5 input.labels=kind output.model=rare.mod.h5 output.picture=none $short || fail "embed"
    places 1 "" rare.mod.h5 old.csv # in which old rows without a label have no vote
    table numbers.csv abc 0,1,2
    places none "labels of numbers.csv are numbers and those of named.mod.h5 names, so they cannot" named.mod.h5 numbers.csv
    verb embed numbers.csv numbers.h5 input.labels=kind output.model=numbers.mod.h5 output.picture=none $short || fail "embed"
    places 1 "" numbers.mod.h5 numbers.csv
    places none "names and those of numbers.mod.h5 numbers, .* make it again" numbers.mod.h5 old.csv
    table renumbered.csv abc 0,1,5
    places 0.6666666666666666 "no old row has the class 5: the 40 new rows of it" numbers.mod.h5 renumbered.csv
}
same_places() { "$python" -c 'import h5py, sys
a, b = (h5py.File(f)["embedding"][:] for f in sys.argv[1:])
sys.exit(a.tobytes() != b.tobytes())' "$1" "$2"; }
columns() {
    places 1 "" named.mod.h5 old.csv && mv new.h5 right.h5
    table turned.csv cab apple,beech,cedar
    places 1 "turned.csv: columns are taken by their names, in the order of the rows of named.mod.h5" named.mod.h5 turned.csv
    same_places new.h5 right.h5 || fail "columns in another order lead elsewhere"
    tail -n +2 turned.csv >bare.csv
    places none "" named.mod.h5 bare.csv # without names there is only the order
    same_places new.h5 right.h5 && fail "columns without names are put in order"
    sed '1s/b/d/' turned.csv >foreign.csv
    refused 3 "foreign.csv has no column 'b', which is column 2 of the rows of named.mod.h5: .* rename it" transform named.mod.h5 foreign.csv p9.h5
    for first in 0 1; do # headings that only count are no names
        { seq -s, $first $((first + 2)) && tail -n +2 old.csv | cut -d, -f1-3; } >count$first.csv
    done
    verb embed count0.csv count.h5 output.model=count.mod.h5 output.picture=none $short || fail "embed count0.csv"
    places none "" count.mod.h5 count0.csv && mv new.h5 right-count.h5
    places none "" count.mod.h5 count1.csv
    same_places new.h5 right-count.h5 || fail "headings that count from 1"
    table id.csv aibc apple,beech,cedar
    verb embed id.csv id.h5 input.skip_columns=i input.labels=kind output.model=id.mod.h5 output.picture=none $short || fail "embed"
    places 1 "" id.mod.h5 old.csv # which lacks the column that was left out
    same_places new.h5 right.h5 || fail "the column that is left out counts"
    for how in "" --dry-run; do
        refused 3 "foreign.csv has no column 'b', which is column 2 of old.csv" embed old.csv p9.h5 isolation.model_from=foreign.csv $short $how
    done
    for model in old turned; do
        verb embed old.csv $model.other.h5 input.labels=kind isolation.model_from=$model.csv output.picture=none $short || fail "embed"
    done
    grep -q 'turned.csv (isolation.model_from): columns are taken by their names, in the order of old.csv' err.txt || fail "nothing of the order"
    same_places old.other.h5 turned.other.h5 || fail "other centres by columns in another order"
}
# Variables of AnnData, dense and sparse, on ranks.
variables() {
    "$python" - <<'PYTHON' || exit 1
import h5py, numpy as np
x = np.loadtxt("old.csv", delimiter=",", skiprows=1, usecols=(0, 1, 2)).astype("f4")
x[x < .5] = 0
def write(name, order, sparse):
    with h5py.File(name, "w") as f:
        f.attrs["encoding-type"], f.attrs["encoding-version"] = "anndata", "0.1.0"
        for group, rows in (("obs", len(x)), ("var", 3)):
            f.create_group(group).attrs["_index"] = "name"
            names = ["g%d" % k for k in order] if group == "var" else ["c%d" % i for i in range(rows)]
            f[group]["name"] = np.array(names, dtype="S")
        if not sparse:
            f["X"] = x[:, order]
            return
        g = f.create_group("X")
        g.attrs["encoding-type"], g.attrs["shape"] = "csr_matrix", x.shape
        rows = [np.flatnonzero(r) for r in x[:, order]]
        g["data"] = np.concatenate([r[k] for r, k in zip(x[:, order], rows)])
        g["indices"] = np.concatenate(rows).astype("i4")
        g["indptr"] = np.concatenate([[0], np.cumsum([len(k) for k in rows])]).astype("i4")
for kind in ("dense", "sparse"):
    write(kind + ".h5ad", [0, 1, 2], kind == "sparse")
    write(kind + "-turned.h5ad", [2, 0, 1], kind == "sparse")
PYTHON
    verb embed dense.h5ad dense.h5 output.model=dense.mod.h5 output.picture=none $short || fail "embed"
    verb transform dense.mod.h5 dense.h5ad right.h5 --picture none --overwrite || fail "transform"
    OMP_NUM_THREADS=1 timeout 60 $IKT_MPIRUN 3 "$IKT_PROGRAM" transform dense.mod.h5 dense-turned.h5ad new.h5 --picture none --overwrite >out.txt 2>err.txt ||
        fail "transform on three ranks"
    grep -q 'dense-turned.h5ad:/X: columns are taken by their names' err.txt || fail "variables in another order"
    same_places right.h5 new.h5 || fail "other places by variables in another order"
    for model in sparse sparse-turned; do # of which there are no models, but models of other rows
        OMP_NUM_THREADS=1 timeout 60 $IKT_MPIRUN 3 "$IKT_PROGRAM" embed sparse.h5ad $model.h5 isolation.model_from=$model.h5ad output.picture=none $short >out.txt 2>err.txt ||
            fail "embed by $model.h5ad"
    done
    grep -q 'columns are taken by their names' err.txt || fail "sparse variables in another order"
    same_places sparse.h5 sparse-turned.h5 || fail "other centres by variables in another order"
}

try classes "classes of new rows by their names"
try columns "columns of new rows by their names"
try variables "variables of AnnData by their names"
try wide "names wider than the panel"
try inherited "names of the model's run in transform"
try everywhere "settings of the input in every verb"
try order "the input before the outputs"
try measures "measures by plain names"
exit $failed
