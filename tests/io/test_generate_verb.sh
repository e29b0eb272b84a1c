#!/usr/bin/env bash
# The verb generate: help, output, exit codes, messages, and that a refused run leaves files alone.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect STATUS TEXT ARGUMENTS...: exit code, and a part of what is printed
expect() {
    local status=$1 text=$2 output
    shift 2
    output=$("$IKT_PROGRAM" generate "$@" 2>&1)
    local got=$?
    [ $got -eq "$status" ] || fail "generate $*: exit code $got, not $status: $output"
    [[ $output == *"$text"* ]] || fail "generate $*: no '$text' in: $output"
}

sets="five-subspace two-subspace shared-subspace gaussian-mixture uniform-2d swiss-roll s-curve
    sphere glyphs deform subset outlier copies"
help=$("$IKT_PROGRAM" generate --help)
for set in $sets; do
    [[ $help == *"  $set"* ]] || fail "--help does not list $set"
done

for set in five-subspace two-subspace shared-subspace uniform-2d swiss-roll s-curve sphere; do
    expect 0 "" "$set" "$set.h5"
    [ -s "$set.h5" ] || fail "$set.h5 was not written"
done
expect 0 "" gaussian-mixture mixture.h5 --points 50 --dimensions 7 --clusters 3 --separation 4.5
expect 0 "" swiss-roll noisy.h5 --points=30 --noise=0.1 --seed 5
expect 0 "" five-subspace variance.h5 --scale variance --dimensions 100
expect 0 "" glyphs glyphs.h5 --points 30
expect 0 "" subset part.h5 --source five-subspace.h5 --share 0.1
expect 0 "" subset some.h5 --source five-subspace.h5 --classes 1,5
expect 0 "" outlier outlier.h5 --source five-subspace.h5 --separation 5
expect 0 "" copies copies.h5 --source five-subspace.h5
expect 2 "needs the setting 'source'" subset none.h5
expect 2 "'1,x' is not a list of labels" subset none.h5 --source five-subspace.h5 --classes 1,x
expect 3 "has no row of the classes 77" subset none.h5 --source five-subspace.h5 --classes 77
expect 2 "has no setting 'points'" copies none.h5 --source five-subspace.h5 --points 3
expect 0 "" deform deformed.h5 --source glyphs.h5 --points 70 --keep-originals no --strength 0.5

cp glyphs.h5 before.h5
expect 4 "glyphs.h5" glyphs glyphs.h5 --points 40
cmp -s glyphs.h5 before.h5 || fail "a refused run changed the file in its way"
expect 0 "" glyphs glyphs.h5 --points 40 --overwrite

expect 2 "has no setting 'clusters'" sphere none.h5 --clusters 3
expect 2 "did you mean 's-curve'" s-curv none.h5
expect 2 "--points" sphere none.h5 --points many
expect 2 "--points" sphere none.h5 --points 0
expect 2 "did you mean --points" sphere none.h5 --pionts 9
expect 2 "needs the setting 'source'" deform none.h5 --points 10
expect 2 "too few" sphere
expect 2 "too many" sphere none.h5 more.h5
expect 4 "missing.h5" deform none.h5 --points 10 --source missing.h5
expect 3 "must be uint8" deform none.h5 --points 10 --source sphere.h5
[ ! -e none.h5 ] || fail "a failed run left a file"
leftovers=$(ls ./*.part-* 2>/dev/null)
[ -z "$leftovers" ] || fail "temporary files were left: $leftovers"

# On several ranks one message, and the same exit code.
output=$($IKT_MPIRUN 3 "$IKT_PROGRAM" generate sphere none.h5 --scale sd 2>&1)
[ "$(grep -c "no setting 'scale'" <<<"$output")" -eq 1 ] || fail "not one message: $output"
$IKT_MPIRUN 3 "$IKT_PROGRAM" generate glyphs ranks.h5 --points 40 2>&1
cmp ranks.h5 glyphs.h5 || fail "the file of 3 ranks differs from the file of one"
[ $failures -eq 0 ]
