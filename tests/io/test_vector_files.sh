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
gzip -kf x.fbin x.fvecs I8.safetensors
"$IKT_PROGRAM" convert x.fbin.gz made.h5 --overwrite --quiet && "$IKT_PROGRAM" convert x.fbin plain.h5 --quiet &&
    h5diff made.h5 plain.h5 /X || fail "fbin, gzipped"
for file in x.fvecs.gz I8.safetensors.gz; do
    "$IKT_PROGRAM" convert $file made.h5 --overwrite --quiet 2>err.txt && fail "$file was read"
    grep -q "unpack.*gunzip" err.txt || fail "$file: $(cat err.txt)"
done
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
grep -q "odd.*iktsne" out.txt && fail "info offers what is not read"
"$IKT_PROGRAM" info two.safetensors --json | "$python" -c '
import json, sys
said = json.load(sys.stdin)
assert said["format"] == "safetensors" and list(said["matrices"]) == ["a.weight", "cube"], said' || fail "info as JSON"
"$IKT_PROGRAM" info I32.safetensors | grep -q "labels may be *ids" || fail "labels of safetensors in info"
"$IKT_PROGRAM" info two.safetensors --dataset cube | grep -q "61 rows x 12" || fail "info of one array"
exit "$failed"
