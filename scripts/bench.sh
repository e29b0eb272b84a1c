#!/usr/bin/env bash
# Every hot path alone, with its ratio to what this machine can do at best, measured in the same run:
# on one rank with all threads, and what ranks exchange on two ranks. A few minutes; wants a quiet machine.
#   scripts/bench.sh [FOLDER [options of bench ...]]     e.g. --rows 300000 --seconds 1
# Writes FOLDER/paths.json, FOLDER/ranks.json and both as a table, FOLDER/bench.md (docs/performance).
# IKT_BENCH: the program; IKT_MPIRUN: the launcher up to the number of ranks.
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$source/docs/performance}
[ $# -eq 0 ] || shift
bench=${IKT_BENCH:-$source/build/release/tests/bench_paths}
read -ra launch <<<"${IKT_MPIRUN:-mpirun -n}"
if [ "$(id -u)" -eq 0 ]; then # Open MPI asks root to say twice that it means it
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$bench" --json "$folder/paths.json" --markdown "$work/paths.md" "$@" >/dev/null
OMP_NUM_THREADS=1 "${launch[@]}" 2 "$bench" halo grid-sum exact-reduce \
    --json "$folder/ranks.json" --markdown "$work/ranks.md" "$@" >/dev/null
{
    echo "<!-- Made by scripts/bench.sh; do not edit. -->"
    echo
    cat "$work/paths.md"
    echo
    cat "$work/ranks.md"
} >"$folder/bench.md"
cat "$folder/bench.md"
