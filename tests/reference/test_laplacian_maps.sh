#!/usr/bin/env bash
# LaptSNE on the digits. At a real map sums by the FFT give the gradient and the eigenvalues of exact sums;
# and whole runs, with sums by the FFT and eigenvectors that are followed by a product an iteration, end
# where those with exact sums and with eigenvectors that are settled in every iteration do.
#   $1   the program that compares sums at a map (laplacian_of_map.c)
set -euo pipefail
digits=${IKT_TEST_DATA:-}/digits.h5
[ -r "$digits" ] || { echo "skipped: the real data are not there"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# objective NAME SETTINGS...: what a run of LaptSNE with K = 11 ends with.
objective() {
    $IKT_MPIRUN 2 "$IKT_PROGRAM" embed "$digits" "$1.h5" --preset laptsne affinity.kind=gaussian \
        gaussian.perplexity=25 layout.regulariser_rank=11 layout.regulariser_weight=0.3 layout.iterations=300 \
        output.measures=none output.picture=none "${@:2}" >log 2>&1 || { cat log >&2; exit 1; }
    "$IKT_PROGRAM" info "$1.h5" 2>/dev/null | awk '$1 == "cost" { print $2 }'
}

# near WHAT VALUE REFERENCE: at most 3 % above it; a lower objective is no fault.
near() {
    echo "$1: objective $2, reference $3"
    awk -v is="$2" -v than="$3" 'BEGIN { exit !(is > 0 && is <= 1.03 * than) }' ||
        { echo "$1: $2 is more than 3 % above $3" >&2; exit 1; }
}

followed=$(objective followed layout.repulsion=exact)
exact=$(objective exact layout.repulsion=exact layout.regulariser_vectors=exact)
fft=$(objective fft layout.repulsion=fft)
near "one product an iteration beside settled eigenvectors" "$followed" "$exact"
near "sums by the FFT beside exact ones" "$fft" "$followed"
"$1" fft.h5 11
tree=$(objective tree layout.dimensions=3 layout.repulsion=barnes_hut)
echo "sums by the tree in three dimensions: objective $tree"
"$1" tree.h5 11
