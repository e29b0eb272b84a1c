#!/usr/bin/env bash
# How each stage grows with n: embeds generated data of several sizes under both affinities and writes
# what every stage took, that over n log n beside the smallest size, and the exponent b of a fit a n^b.
#   scripts/growth.sh [FOLDER [SIZE ...]]        default: docs/performance 10000 30000 100000 300000 1000000
# Writes FOLDER/growth.json and FOLDER/growth.md. In the environment:
#   GROWTH_SET         gaussian-mixture (n x 50 float32, the default) or glyphs (n x 784 bytes)
#   GROWTH_KINDS       affinities, "isolation gaussian"
#   GROWTH_SETTINGS    settings of every run, "isolation.psi=512 layout.iterations=500"
#   IKT_PROGRAM        the program; IKT_MPIRUN, RANKS: launcher and ranks (1); OMP_NUM_THREADS: threads of each
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$source/docs/performance}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- 10000 30000 100000 300000 1000000
program=${IKT_PROGRAM:-$source/build/release/iktsne}
data=${GROWTH_SET:-gaussian-mixture}
read -ra kinds <<<"${GROWTH_KINDS:-isolation gaussian}"
read -ra settings <<<"${GROWTH_SETTINGS:-}"
launch=()
[ "${RANKS:-1}" -eq 1 ] || read -ra launch <<<"${IKT_MPIRUN:-mpirun -n} $RANKS"
case $data in
gaussian-mixture) shape=(--dimensions 50) ;;
glyphs) shape=() settings=(preprocess.normalise=none "${settings[@]}") ;;
*) echo "GROWTH_SET: gaussian-mixture or glyphs" >&2; exit 2 ;;
esac
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
runs=()
for n in "$@"; do
    "$program" generate "$data" "$work/data.h5" --points "$n" "${shape[@]}" --overwrite --quiet
    for kind in "${kinds[@]}"; do
        echo "$data, $n rows, $kind" >&2
        runs+=("$work/$kind-$n.json")
        "${launch[@]}" "$program" embed input.file="$work/data.h5" output.file="$work/out.h5" \
            output.overwrite=yes affinity.kind="$kind" "${settings[@]}" --json --quiet >"${runs[-1]}"
    done
done
python3 "$source/scripts/growth.py" "$data" "$folder" "${runs[@]}"
cat "$folder/growth.md"
