#!/usr/bin/env bash
# LaptSNE on the digits: sums by the FFT give its gradient and eigenvalues at a real map as exact ones do,
# and a whole run that follows its eigenvectors by a product an iteration ends where one that settles them
# in every iteration does.
#   $1   the program that compares sums at a map (laplacian_of_map.c)
set -euo pipefail
digits=${IKT_TEST_DATA:-}/digits.h5
[ -r "$digits" ] || { echo "skipped: the real data are not there"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# embed OUT SETTINGS...: a run of LaptSNE with K = 11.
embed() {
    $IKT_MPIRUN 2 "$IKT_PROGRAM" embed "$digits" "$1.h5" --preset laptsne affinity.kind=gaussian \
        gaussian.perplexity=25 layout.regulariser_rank=11 output.measures=none output.picture=none \
        --log json "${@:2}" >"$1.log" 2>&1 || { cat "$1.log" >&2; exit 1; }
}

# The objective at the end of a run.
objective() {
    "$IKT_PROGRAM" info "$1.h5" 2>/dev/null | awk '/^objective|^cost/ { print $2 }'
}

embed followed
$IKT_MPIRUN 1 "$1" followed.h5 11
