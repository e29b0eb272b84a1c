#!/usr/bin/env bash
# The main job on an embedded default: generate five-subspace, embed it on two ranks with the
# Isolation kernel, write HDF5 and PNG, print the measures and where the origin landed.
#   scripts/demo.sh [OUTPUT FOLDER]        (default: run/)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/run}
"$root/scripts/build.sh" release
mkdir -p "$out"
cd "$out"

program=$root/build/release/iktsne
launch=(mpirun -n 2)
if [[ $(mpirun --version 2>/dev/null) == *'Open MPI'* ]]; then
    launch+=(--oversubscribe --bind-to none)
    [ "$(id -u)" -ne 0 ] || launch+=(--allow-run-as-root)
    # Two ranks of one container may not read each other's memory; the copy through shared memory
    # needs no permission.
    export OMPI_MCA_btl_vader_single_copy_mechanism=none
fi
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}

"${launch[@]}" "$program" generate five-subspace five-subspace.h5 --seed 1 --overwrite
"${launch[@]}" "$program" embed "$root/config/five-subspace.yaml" output.overwrite=yes
echo
echo "Embedding: $out/five-subspace.embedding.h5"
echo "Picture:   $out/five-subspace.png"
