#!/usr/bin/env bash
# Vectors as searches and models keep them: every value, and what is said of damaged ones, on one, two, three
# and seven ranks; the verbs on them. $1: the program of dump_source.c.
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
. "$here/../support/script.sh"
. "$here/../support/python.sh"
python=$(find_python json pickle struct) || {
    echo "there is no python3: not tested"
    exit 77
}
"$python" "$here/vector_files.py" make || exit 1
for ranks in 1 2 3 7; do
    rm -f ./*.said ./*.rows
    $IKT_MPIRUN $ranks "$1" cases.txt >out.txt 2>err.txt || fail "dump_source on $ranks ranks"
    "$python" "$here/vector_files.py" check || fail "on $ranks ranks"
done

# What convert writes is what embed reads, unpacked or not; labels are another array of the file.
tiny="isolation.psi=8 layout.iterations=5 layout.exaggeration_iterations=2 output.overwrite=yes --quiet"
for file in x.fvecs x.u8bin x.f16bin F16.safetensors BF16.safetensors; do
    # shellcheck disable=SC2086
    "$IKT_PROGRAM" embed $file output.file=direct.h5 $tiny || fail "embed $file"
    $IKT_MPIRUN 3 "$IKT_PROGRAM" convert $file made.h5 --overwrite --quiet || fail "convert $file"
    # shellcheck disable=SC2086
    "$IKT_PROGRAM" embed made.h5 output.file=converted.h5 $tiny || fail "embed of $file, converted"
    h5diff direct.h5 converted.h5 /embedding || fail "another embedding of $file"
done
"$IKT_PROGRAM" convert two.safetensors cube.h5 --array cube --quiet && "$IKT_PROGRAM" info cube.h5 | grep -q "61 rows x 12" ||
    fail "--array of safetensors"
"$IKT_PROGRAM" convert I32.safetensors made.h5 --label-array ids --overwrite --quiet || fail "--label-array of safetensors"
# shellcheck disable=SC2086
"$IKT_PROGRAM" embed I32.safetensors input.labels=I32.safetensors:ids output.file=direct.h5 $tiny || fail "labels of safetensors"
h5diff direct.h5 made.h5 /labels || fail "other labels"
# Labels are named as info and refusals name them: an array of the same file.
# shellcheck disable=SC2086
$IKT_MPIRUN 3 "$IKT_PROGRAM" embed I32.safetensors input.labels=ids output.file=direct.h5 $tiny || fail "labels beside the rows"
h5diff direct.h5 made.h5 /labels || fail "other labels beside the rows"
"$IKT_PROGRAM" plan I32.safetensors input.labels=nothing 2>err.txt && fail "labels that are not there"
grep -q "these that could be labels: ids, or a file of their own" err.txt || fail "refused labels: $(cat err.txt)"

# A model that was fitted to an array of another name takes the rows of a file that has none of that name.
"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 61 --dimensions 9 --clusters 2 --quiet && h5copy -i data.h5 -o named.h5 -s X -d features ||
    fail "generate"
# shellcheck disable=SC2086
"$IKT_PROGRAM" embed named.h5 input.dataset=features output.file=run.h5 output.model=model.h5 $tiny || fail "embed of features"
for ranks in 1 3; do
    $IKT_MPIRUN $ranks "$IKT_PROGRAM" transform model.h5 F32.safetensors placed.h5 --overwrite --quiet 2>err.txt || fail "transform of safetensors"
    $IKT_MPIRUN $ranks "$IKT_PROGRAM" evaluate run.h5 --input F32.safetensors >out.txt 2>err.txt || fail "evaluate of safetensors"
done
"$IKT_PROGRAM" transform model.h5 F32.safetensors placed.h5 --dataset features --overwrite --quiet 2>err.txt && fail "an array that is not there"
grep -q "no array 'features'" err.txt || fail "transform: $(cat err.txt)"
gzip -kf x.fbin x.fvecs I8.safetensors
"$IKT_PROGRAM" convert x.fbin.gz made.h5 --overwrite --quiet && "$IKT_PROGRAM" convert x.fbin plain.h5 --quiet &&
    h5diff made.h5 plain.h5 /X || fail "fbin, gzipped"
for file in x.fvecs.gz I8.safetensors.gz; do
    "$IKT_PROGRAM" convert $file made.h5 --overwrite --quiet 2>err.txt && fail "$file was read"
    grep -q "unpacked: gunzip" err.txt || fail "$file: $(cat err.txt)"
done
for verb in plan "embed output.file=no.h5" info "study --list"; do
    # shellcheck disable=SC2086
    "$IKT_PROGRAM" ${verb%% *} x.fbin.gz ${verb#"${verb%% *}"} 2>err.txt >out.txt && fail "$verb of x.fbin.gz"
    [[ $verb == study* ]] || grep -q "convert x.fbin.gz x.h5" err.txt || fail "$verb of x.fbin.gz: $(cat err.txt)"
done
"$IKT_PROGRAM" convert two.safetensors no.h5 --array cube --dataset a.weight 2>err.txt && fail "two arrays at once"
grep -q "'cube' and 'a.weight': give one" err.txt || fail "two arrays at once: $(cat err.txt)"
"$IKT_PROGRAM" info x.ivecs | grep -q "61 rows x 9 columns, float64" || fail "info of ivecs"

# Words are texts beside the rows, as in the form that is text, packed or not.
gzip -kf feeds.bin
"$IKT_PROGRAM" convert feeds.bin.gz words.h5 --quiet && $IKT_MPIRUN 2 "$IKT_PROGRAM" convert plain.bin plain.h5 --overwrite --quiet &&
    h5diff words.h5 plain.h5 /X && h5diff words.h5 plain.h5 /columns || fail "words, packed"
h5ls plain.h5/columns | grep -q "Dataset {61}" || fail "words are not kept: $(h5ls plain.h5/columns)"
# shellcheck disable=SC2086
"$IKT_PROGRAM" embed feeds.bin output.file=direct.h5 $tiny && "$IKT_PROGRAM" view direct.h5 page.html --hover feeds.bin:1 --quiet ||
    fail "words as texts of a page"
"$IKT_PROGRAM" info feeds.bin | grep -q "61 rows x 9 columns" || fail "info of words"

# info names every array that could be embedded, and the line that does it.
"$IKT_PROGRAM" info two.safetensors >out.txt || fail "info of safetensors"
grep -q "a.weight *61 x 9, F32 *iktsne embed two.safetensors input.dataset=a.weight" out.txt || fail "info: $(cat out.txt)"
grep -q "not read *odd (61 x 2, F8_E4M3), one (a single F32)" out.txt || fail "info leaves out what is not read: $(cat out.txt)"
grep -q "odd.*iktsne" out.txt && fail "info offers what is not read"
"$IKT_PROGRAM" info two.safetensors --json | "$python" -c '
import json, sys
said = json.load(sys.stdin)
assert said["format"] == "safetensors" and list(said["matrices"]) == ["a.weight", "cube"], said' || fail "info as JSON"
"$IKT_PROGRAM" info I32.safetensors | grep -q "labels may be *ids" || fail "labels of safetensors in info"
"$IKT_PROGRAM" info two.safetensors --dataset cube | grep -q "61 rows x 12" || fail "info of one array"

# A damaged file has no half an answer; names cannot steer the terminal.
for form in "" --json; do
    "$IKT_PROGRAM" info more.safetensors $form >out.txt 2>err.txt && fail "info of a damaged file"
    [ ! -s out.txt ] || fail "info $form prints of a damaged file: $(cat out.txt)"
done
"$IKT_PROGRAM" info steered.safetensors >out.txt || fail "info of odd names"
grep -q "a??\[31mb .*iktsne embed" out.txt || fail "names in info: $(cat -v out.txt)"

# Columns without headings are named by their numbers, which input.labels takes.
"$IKT_PROGRAM" info feeds.bin | grep -q "labels may be *1$" || fail "labels of words: $("$IKT_PROGRAM" info feeds.bin)"
printf 'a,1,7\nb,4,3\nc,2,9\nd,8,5\n' >plain.csv
"$IKT_PROGRAM" info plain.csv | grep -q "labels may be *1$" || fail "labels of a file without headings: $("$IKT_PROGRAM" info plain.csv)"
"$IKT_PROGRAM" plan plain.csv input.labels=1 >out.txt 2>err.txt || fail "labels by number"

# Arrays of NPZ are labels where the file is converted; scipy's sparse one is a matrix.
find_python numpy >numpy.txt && "$(cat numpy.txt)" - <<'CODE' || { echo "numpy is missing: NPZ not tested"; exit "$failed"; }
import numpy as np
np.savez("n.npz", X=np.ones((5, 3)), y=np.arange(5))
np.savez("sparse.npz", indices=np.array([0, 1]), indptr=np.array([0, 1, 2]), format=b"csr", shape=np.array([2, 3]), data=np.ones(2))
CODE
"$IKT_PROGRAM" info n.npz | grep -q -- "--label-array may be *y" || fail "labels of NPZ"
"$IKT_PROGRAM" info sparse.npz | grep -q "2 x 3, sparse *iktsne convert sparse.npz rows.h5$" || fail "a sparse matrix: $("$IKT_PROGRAM" info sparse.npz)"
head -c 400 n.npz >cut.npz
"$IKT_PROGRAM" info cut.npz >out.txt 2>err.txt && fail "info of a truncated NPZ"
[ ! -s out.txt ] || fail "info prints of a truncated NPZ: $(cat out.txt)"
exit "$failed"
