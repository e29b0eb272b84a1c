#!/usr/bin/env bash
# The rules of the house as a test: folders include only themselves and those left of them in
# order.txt; MPI is called in few places; no floating-point MPI_SUM; no generator with state.
set -uo pipefail
cd "$IKT_SOURCE" || exit 1
failed=0
mapfile -t order <tests/house/order.txt
declare -A place
for i in "${!order[@]}"; do place[${order[$i]}]=$i; done

for file in src/*/*.[ch]; do
    folder=$(basename "$(dirname "$file")")
    [ "${place[$folder]+known}" ] || { echo "$file: folder not in tests/house/order.txt"; failed=1; }
    while read -r included; do
        [ "${place[$included]+known}" ] || continue
        if [ "${place[$included]}" -gt "${place[$folder]}" ]; then
            echo "$file includes $included/, which stands to its right"
            failed=1
        fi
    done < <(sed -n 's|^#include "\([a-z]*\)/.*|\1|p' "$file")
done

# MPI_Init and MPI_Finalize belong to the program; types and constants of MPI are exempt.
raw=$(grep -nE '\bMPI_[A-Z][a-z_]+ *\(' src/*/*.c |
    grep -vE '^src/(base/(comm|context|cpu|shared_file)\.c|dist/halo\.c|app/(main|version)\.c)')
[ -z "$raw" ] || { echo "raw MPI calls:"; echo "$raw"; failed=1; }
sums=$(grep -nE 'MPI_SUM' src/*/*.c | grep -v 'MPI_INT64_T')
sums=$(echo "$sums" | grep -vE '^src/base/comm\.c' || true)
[ -z "$sums" ] || { echo "MPI_SUM outside base/comm.c: $sums"; failed=1; }
state=$(grep -nE '\b(rand|srand|random|drand48|time) *\(' src/*/*.c | grep -vE 'time\(NULL\)')
[ -z "$state" ] || { echo "random numbers or clocks: $state"; failed=1; }
long=$(awk 'length($0) > 100 { print FILENAME ":" FNR ": longer than 100 columns" }' src/*/*.[ch])
[ -z "$long" ] || { echo "$long"; failed=1; }
exit $failed
