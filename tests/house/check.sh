#!/usr/bin/env bash
# The rules of the house as a test: folders include only themselves and those left of them in
# order.txt; MPI is called in few places; no floating-point MPI_SUM; no generator with state.
set -uo pipefail
cd "$IKT_SOURCE" || exit 1
failed=0
mapfile -t order <tests/house/order.txt
declare -A place
for i in "${!order[@]}"; do place[${order[$i]}]=$i; done

# The folder of a path below src/, as order.txt has it: "io/hdf5/h5.c" lies in io/hdf5, "base/rng.c" in base.
mapfile -t files < <(find src -name '*.[ch]' | sort)
mapfile -t sources < <(find src -name '*.c' | sort)
folder_of() {
    local folder=${1%/*}
    while [ -n "$folder" ] && [ -z "${place[$folder]+known}" ]; do
        [[ $folder == */* ]] && folder=${folder%/*} || folder=
    done
    echo "$folder"
}
declare -A room
while IFS=: read -r file included; do
    [ "${room[${file%/*}]+known}" ] || room[${file%/*}]=$(folder_of "${file#src/}")
    from=${room[${file%/*}]}
    [ -n "$from" ] || { echo "$file: its folder is not in tests/house/order.txt"; failed=1; continue; }
    [ "${room[${included%/*}]+known}" ] || room[${included%/*}]=$(folder_of "$included")
    to=${room[${included%/*}]}
    [ -n "$to" ] || continue
    if [ "${place[$to]}" -gt "${place[$from]}" ]; then
        echo "$file includes $included, whose folder stands to the right of its own"
        failed=1
    fi
done < <(grep -HoE '^#include "[a-z0-9_/]+\.h"' "${files[@]}" | sed -E 's/#include "//; s/"$//')

# MPI begins and ends in base/context.c; types and constants of MPI are exempt.
raw=$(grep -nE '\bMPI_[A-Z][a-z_]+ *\(' "${sources[@]}" |
    grep -vE '^src/(base/(comm|context|cpu|shared_file)\.c)')
[ -z "$raw" ] || { echo "raw MPI calls:"; echo "$raw"; failed=1; }
raw=$(grep -nE '\bfftwf?_mpi_[a-z_]+ *\(' "${sources[@]}" | grep -v '^src/base/transpose\.c' || true)
[ -z "$raw" ] || { echo "FFTW's MPI part is called outside base/transpose.c:"; echo "$raw"; failed=1; }
sums=$(grep -nE 'MPI_SUM' "${sources[@]}" | grep -v 'MPI_INT64_T')
sums=$(echo "$sums" | grep -vE '^src/base/comm\.c' || true)
[ -z "$sums" ] || { echo "MPI_SUM outside base/comm.c: $sums"; failed=1; }
state=$(grep -nE '\b(rand|srand|random|drand48|time) *\(' "${sources[@]}" | grep -vE 'time\(NULL\)')
[ -z "$state" ] || { echo "random numbers or clocks: $state"; failed=1; }
# A script that only notes its failures passes.
for script in $(grep -lE '^\. .*support/(script|expect|checkpoints)\.sh' tests/*/*.sh); do
    grep -qE '^exit "?\$(failed|failures|status)"?$|^report$|^\[ "\$failed" -eq 0 \]|^exec |^/usr/bin/python3 ' "$script" ||
        { echo "$script does not end with its failures"; failed=1; }
done
long=$(awk 'length($0) > 100 { print FILENAME ":" FNR ": longer than 100 columns" }' "${files[@]}")
[ -z "$long" ] || { echo "$long"; failed=1; }
exit $failed
