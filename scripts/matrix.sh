#!/usr/bin/env bash
# Builds the program with Open MPI and with MPICH, by gcc and by clang, for x86-64 and for ARM with 64 bits, makes eighteen
# of the known runs (tests/known/runs.txt) and two others with each, on three instruction sets of this processor and on an emulated
# ARM, and prints one table of their hashes. Exit code 1 where one differs. For Debian, with the packages of
# scripts/install-dependencies.sh (also mpich) and scripts/cross-arm.sh; two hours on two cores, and 5 GB in FOLDER.
#   scripts/matrix.sh FOLDER [REGEX]    REGEX: those of x86-64-openmpi-gcc ... aarch64-mpich-clang that match
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2; }
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$1"
folder=$(realpath "$1")
[[ $folder != *[[:space:]]* ]] || { echo "the name of FOLDER may have no blanks: $folder" >&2; exit 2; }
export OPENBLAS_CORETYPE=Haswell # one order of sums on every make of processor

# Most affinities, objectives, supports and metrics, one to three dimensions, sparse rows; the Fisher metric and new rows
# are added below. ARM is not compared where repulsion goes by FFT: FFTW has other transforms there, which round otherwise.
runs='voronoi-tree-3d voronoi-dense-1d whole-blocks forest-nerv words-tree-random gaussian-exact-3d gaussian-dense-jse
    gaussian-manhattan laplacian-exact-2d knn-tree-3d-jse knn-dense-sne adaptive-tree-2d fuzzy-umap gaussian-largevis
    trimap-pool trimap-fixed-3d sammon-codes-3d'
by_fft=gaussian-near-cells

# built NAME MPI COMPILER: the program, as FOLDER/NAME/iktsne
built() {
    local to=$folder/$1 preset=release
    if [[ $1 == aarch64* ]]; then
        "$source/scripts/cross-arm.sh" "$folder/aarch64" "$2" "$3" >/dev/null || return 1
        ln -sfn "aarch64/$2-$3" "$to"
        return
    fi
    if [ "$2" = mpich ]; then
        preset=mpich
        [ -e "$source/build/fftw-mpich/include/fftw3-mpi.h" ] || "$source/scripts/fftw-mpich.sh" "$source/build/fftw-mpich" || return 1
    fi
    if ! { cmake -S "$source" --preset $preset -B "$to" -DCMAKE_C_COMPILER="$3" -DIKT_BUILD_TESTS=OFF &&
        cmake --build "$to" --target iktsne_program -j "${JOBS:-2}"; } >"$to.log" 2>&1; then
        tail -n 40 "$to.log" >&2
        return 1
    fi
}

# hash_of PROGRAM VERB SETTINGS...: of a map, by one rank; fails where there is none
hash_of() {
    local hash
    hash=$("$@" --quiet --json </dev/null | sed -n '0,/"hash"/s/^ *"hash": "\([0-9a-f]*\)".*/\1/p')
    [ -n "$hash" ] && echo "$hash"
}

# hashes NAME LAUNCHER RUNS...: name and hash of each, and of a map in the Fisher metric and of new rows in a map
hashes() ( # in a shell of its own
    cd "$folder/$1" || exit
    local fisher new program=$folder/$1/iktsne wanted settings=(output.measures=none output.overwrite=yes run.checkpoint=none layout.iterations=60 layout.init=random)
    wanted=$(IFS='|' && echo "${*:3}")
    IKT_PROGRAM=$program IKT_MPIRUN=$2 "$source/scripts/known-runs.sh" --hashes --only "^($wanted)\$"
    "$program" generate glyphs digits.h5 --points 300 --seed 14 --overwrite --quiet
    "$program" generate glyphs other.h5 --points 200 --seed 15 --overwrite --quiet
    fisher=$(hash_of "$program" embed digits.h5 output.file=map.h5 "${settings[@]}" affinity.kind=fisher layout.repulsion=exact)
    echo "fisher $fisher"
    hash_of "$program" embed digits.h5 output.file=map.h5 "${settings[@]}" isolation.psi=64 layout.repulsion=exact output.model=model.h5 >map
    new=$(hash_of "$program" transform model.h5 other.h5 map.h5 --picture none --overwrite)
    echo "new-rows $new"
)

cd "$folder"
export QEMU_LD_PREFIX=$folder/aarch64/root
columns=()
for name in {x86-64,aarch64}-{openmpi,mpich}-{gcc,clang}; do
    [[ $name =~ ${2:-.} ]] || continue
    compiler=${name##*-} mpi=${name%-*}
    mpi=${mpi##*-}
    built "$name" "$mpi" "$compiler" || exit 2
    launcher="mpirun.$mpi -n" sets=portable wanted=$runs
    [ "$mpi" = mpich ] || launcher="mpirun.openmpi --oversubscribe --bind-to none -n"
    if [[ $name == aarch64* ]]; then
        launcher="$folder/aarch64/bin/one-rank -n"
    else
        widest=$("$name/iktsne" --version | sed -n 's/^instruction set: *//p')
        sets=$(printf '%s\n' "$widest" avx2 portable | awk '!seen[$0]++')
        wanted+=" $by_fft"
    fi
    for set in $sets; do
        columns+=("$name-$set")
        # shellcheck disable=SC2086
        IKTSNE_ISA=$set hashes "$name" "$launcher" $wanted >"$name-$set.hashes"
        echo "${#columns[@]}: $name on $set: $("$name/iktsne" --version | sed -n 's/^\(compiler\|MPI\|FFTW\): *\([^,]*\).*/\2/p' | paste -sd, | sed 's/,/, /g')"
    done
done

# --- the table: a row for a run, its hash in the first column, and = where another has the same ---

[ ${#columns[@]} -gt 0 ] || { echo "no build has a name that matches $2" >&2; exit 2; }
failed=0
while read -r run first; do
    line=$(printf '%-20s %s' "$run" "$first")
    for column in "${columns[@]:1}"; do
        found=$(sed -n "s/^$run //p" "$column.hashes")
        case $found in
        "$first") line+=" =" ;;
        "") line+=" ."; [[ $run == "$by_fft" && $column == aarch64* ]] || failed=1 ;;
        *) line+=" $found"; failed=1 ;;
        esac
    done
    echo "$line"
done <"${columns[0]}.hashes"
[ $failed -eq 0 ] || echo "FAILED: some hashes are missing or differ from those of ${columns[0]}"
exit $failed
