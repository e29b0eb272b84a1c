#!/usr/bin/env bash
# MPICH beside the MPI of this build: CMake takes the libraries of the MPI that was asked for and refuses those of
# another, and the program gives the bits of this build's on any ranks. Each program refuses the other's launcher.
# `scripts/check.sh mpich` tries all that computes there.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
build=$1
skip() { echo "skipped: $*"; exit 77; }
for command in mpicc.mpich mpiexec.mpich h5pcc.mpich; do
    command -v $command >out.txt || skip "$command is not there (scripts/install-dependencies.sh mpich)"
done
"$IKT_PROGRAM" --version | grep '^MPI: *Open MPI' >out.txt || skip "this build is not one with Open MPI"
fftw=$IKT_SOURCE/build/fftw-mpich
[ -e "$fftw/include/fftw3-mpi.h" ] || {
    fftw=$work/fftw
    "$IKT_SOURCE/scripts/fftw-mpich.sh" "$fftw" >out.txt 2>err.txt || skip "FFTW's MPI part cannot be made: $(tail -n 3 err.txt)"
}

# MPICH spins while it waits, and here are more ranks than processors.
mpicc.mpich -shared -fPIC "$IKT_SOURCE/tests/support/yield.c" -o yield.so -ldl 2>err.txt || fail "no library that yields"
mpich=(mpiexec.mpich -genv LD_PRELOAD "$work/yield.so" -n)

configure() { # FOLDER OPTIONS...; results do not depend on the compiler's options, and these are quick
    cmake -S "$IKT_SOURCE" -B "$1" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1 -DIKT_BUILD_TESTS=OFF "${@:2}" >out.txt 2>err.txt
}
mpis_of() { ldd "$1" | grep -oE 'libmpi[a-z]*\.so\.[0-9]+' | sort -u | paste -sd' '; }

none_is_mixed() {
    ! configure mixed -DMPI_EXECUTABLE_SUFFIX=.mpich -Dfftw3_mpi_LIBRARY="$(sed -n 's/^fftw3_mpi_LIBRARY:.*=//p' "$build/CMakeCache.txt")" ||
        fail "FFTW's MPI part is taken from the other MPI"
    grep -q 'FFTW 3 for MPI' err.txt || fail "no word of FFTW's MPI part"
    ! configure hdf5 -DMPI_EXECUTABLE_SUFFIX=.mpich -DCMAKE_PREFIX_PATH="$fftw" -DHDF5_C_COMPILER_EXECUTABLE="$(command -v h5pcc.openmpi)" ||
        fail "HDF5 is taken from the other MPI"
    grep -q 'parallel HDF5' err.txt || fail "no word of HDF5"
}

is_built() {
    configure built -DMPI_C_COMPILER=mpicc.mpich -DCMAKE_PREFIX_PATH="$fftw" &&
        cmake --build built -j "$(nproc)" --target iktsne_program >out.txt 2>err.txt || { fail "no build with MPICH"; return; }
    [ "$(mpis_of built/iktsne)" = libmpich.so.12 ] || fail "built with $(mpis_of built/iktsne)"
    built/iktsne --version >out.txt
    grep -q '^MPI: *MPICH' out.txt || fail "it does not say that its MPI is MPICH"
}

embed() { # LAUNCHER AND PROGRAM...: the hash of the map
    timeout 120 "$@" embed input.file=data.h5 output.file=run.h5 output.overwrite=yes output.measures=none isolation.psi=64 \
        layout.repulsion=fft layout.grid=slabs layout.iterations=40 layout.exaggeration_iterations=15 --quiet >out.txt 2>err.txt ||
        fail "no run by $*"
    sed -n 's/^embedding hash *//p' out.txt
}

bits_are_equal() {
    local ranks hash
    timeout 60 "${mpich[@]}" 2 built/iktsne generate glyphs data.h5 --points 400 --seed 3 --quiet >out.txt 2>err.txt || fail "no data"
    "$IKT_PROGRAM" generate glyphs same.h5 --points 400 --seed 3 --quiet
    h5diff data.h5 same.h5 >out.txt || fail "other data"
    hash=$(embed "$IKT_PROGRAM")
    [ ${#hash} -eq 16 ] || fail "no hash"
    for ranks in 1 2 3 4 7; do
        [ "$(embed "${mpich[@]}" $ranks built/iktsne)" = "$hash" ] || fail "other bits with MPICH on $ranks ranks"
    done
    [ "$(embed built/iktsne)" = "$hash" ] || fail "other bits with MPICH without a launcher"
}

# refuses LAUNCHER AND PROGRAM...: each rank would do the whole work.
refuses() {
    timeout 60 "$@" embed input.file=data.h5 output.file=run.h5 output.overwrite=yes >out.txt 2>err.txt && fail "$* runs"
    grep -q 'this MPI sees a single rank: the launcher belongs to another MPI' err.txt || fail "$*: no word of the launcher"
}
launchers_are_told_apart() {
    # shellcheck disable=SC2086
    refuses $IKT_MPIRUN 2 built/iktsne
    refuses "${mpich[@]}" 2 "$IKT_PROGRAM"
}

try none_is_mixed "libraries of another MPI are not taken"
try is_built "the program is built with MPICH"
[ -x built/iktsne ] || exit 1
try bits_are_equal "the bits of Open MPI on 1, 2, 3, 4 and 7 ranks"
try launchers_are_told_apart "the launcher of another MPI is refused"
exit $failed
