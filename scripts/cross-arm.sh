#!/usr/bin/env bash
# Builds iktsne for ARM with 64 bits on another processor: the program, for scripts/matrix.sh, and on request the unit
# and reference tests, which an emulator then runs on one rank each.
# Needs mmdebstrap, qemu-user-static with binfmt-support, gcc-aarch64-linux-gnu, and clang where
# that is asked for (Debian's packages), and 2 GB in FOLDER. Ten minutes, and as much for the tests.
#   scripts/cross-arm.sh FOLDER [MPI] [COMPILER]         MPI: openmpi or mpich; COMPILER: gcc or clang;
#                                                        into FOLDER/MPI-COMPILER; prints how to run it
#   scripts/cross-arm.sh FOLDER MPI COMPILER tests       builds these tests and runs them
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2; }
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mpi=${2:-openmpi}
name=$mpi-${3:-gcc}
[[ $name =~ ^(openmpi|mpich)-(gcc|clang)$ && ${4:-tests} = tests && $1 != *[[:space:]]* ]] || {
    echo "$0: MPI is openmpi or mpich, COMPILER is gcc or clang, and FOLDER has no blanks: $*" >&2
    exit 2
}
for tool in mmdebstrap aarch64-linux-gnu-gcc qemu-aarch64-static "${3:-gcc}"; do
    command -v "$tool" >/dev/null || { echo "$0: $tool is missing" >&2; exit 2; }
done
mkdir -p "$1/bin/$name"
folder=$(realpath "$1")
bin=$folder/bin/$name
build=$folder/$name
root=$folder/root
libraries=$root/usr/lib/aarch64-linux-gnu
includes=$libraries/openmpi/include link=-lmpi
[ "$mpi" = openmpi ] || includes=$root/usr/include/aarch64-linux-gnu/mpich link=-lmpich
compiler=aarch64-linux-gnu-gcc
[ "${3:-gcc}" = gcc ] || compiler="clang --target=aarch64-linux-gnu"
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")

# --- the libraries, unpacked: nothing of them is run for that ---

if [ ! -e "$folder/root.complete" ]; then
    rm -rf "$root"
    packages=libopenblas-dev,libfftw3-dev,libfftw3-mpi-dev,libyaml-dev,libcairo2-dev,libpango1.0-dev,zlib1g-dev
    packages+=,libopenmpi-dev,libscalapack-openmpi-dev,libhdf5-openmpi-dev,libmpich-dev,libscalapack-mpich-dev
    packages+=,libhdf5-mpich-dev,libcmocka-dev,libpng-dev,libzip-dev,libc6-dev,libgomp1,libgcc-12-dev,libomp-14-dev
    mmdebstrap --variant=extract --architectures=arm64 --include="$packages" "$suite" "$root" http://deb.debian.org/debian
    for library in libblas.so libblas.so.3 liblapack.so liblapack.so.3 libopenblas.so.0; do
        ln -sf "openblas-pthread/$library" "$libraries/$library" # as the packages' scripts would have done
    done
    ln -sf libmpi.so.40 "$libraries/libmpi.so"
    ln -sf libmpich.so.12 "$libraries/libmpich.so"
    touch "$folder/root.complete"
fi

# --- wrappers of compilers, which CMake asks how they call the compiler; a launcher of one rank ---

cat >"$bin/mpicc" <<EOF
#!/bin/sh
link="-L$libraries -Wl,-rpath-link,$libraries $link"
case "\$1" in
-showme:compile) echo "-I$includes" ;;
-showme:link) echo "\$link" ;;
-showme:incdirs) echo "$includes" ;;
-showme:libdirs) echo "$libraries" ;;
-showme:libs) echo "${link#-l}" ;;
-show*) echo "$compiler -I$includes \$link" ;;
*) exec $compiler --sysroot=$root -I$includes "\$@" \$link ;;
esac
EOF
cat >"$bin/h5pcc" <<EOF
#!/bin/sh
call="$compiler --sysroot=$root -I$root/usr/include/hdf5/$mpi -I$includes -L$libraries/hdf5/$mpi"
case "\$1" in
-showconfig) cat $libraries/hdf5/$mpi/libhdf5.settings ;;
-show*) echo "\$call -lhdf5 -lsz" ;;
*) exec \$call "\$@" -lhdf5 -lsz ;;
esac
EOF
cat >"$folder/bin/one-rank" <<'EOF'
#!/bin/sh
shift 2
exec "$@"
EOF
chmod +x "$bin"/* "$folder/bin/one-rank"
cat >"$bin/aarch64.cmake" <<EOF
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER ${compiler%% *})
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_SYSROOT $root)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L$root/usr/lib/llvm-14/lib")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} $root)
set(ENV{PKG_CONFIG_LIBDIR} $libraries/pkgconfig:$root/usr/share/pkgconfig)
set(MPI_C_COMPILER $bin/mpicc CACHE FILEPATH "")
set(MPIEXEC_EXECUTABLE $folder/bin/one-rank CACHE FILEPATH "")
set(HDF5_C_COMPILER_EXECUTABLE $bin/h5pcc CACHE FILEPATH "")
EOF

# --- the program ---

options=(-DCMAKE_TOOLCHAIN_FILE="$bin/aarch64.cmake" -DCMAKE_BUILD_TYPE=Release -DIKT_BUILD_TESTS=ON
    -DIKT_TEST_TIMEOUT=3600) # the emulator takes thirty times as long
if [ "$mpi" = mpich ]; then
    [ -e "$root/fftw/include/fftw3-mpi.h" ] ||
        MPICC=$bin/mpicc AR=aarch64-linux-gnu-ar "$source/scripts/fftw-mpich.sh" "$root/fftw"
    options+=(-DCMAKE_PREFIX_PATH="$root/fftw")
fi
cmake -S "$source" -B "$build" "${options[@]}" >"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
cmake --build "$build" --target iktsne_program -j "${JOBS:-2}" >"$build.log" 2>&1 || { tail -n 40 "$build.log" >&2; exit 1; }
export QEMU_LD_PREFIX=$root
"$build/iktsne" --version >"$build.log" || {
    echo "it was built and cannot be run here: the emulator has to be known to the kernel (update-binfmts --enable)" >&2
    exit 1
}
if [ "${4:-}" != tests ]; then
    echo "QEMU_LD_PREFIX=$root $build/iktsne"
    exit
fi

# --- the tests that are one program ---

mapfile -t targets < <(cmake --build "$build" --target help | grep -oE '\b(unit|reference|known)_[a-z0-9_]+$')
cmake --build "$build" --target "${targets[@]}" -j "${JOBS:-2}" >"$build.log" 2>&1 || { tail -n 40 "$build.log" >&2; exit 1; }
wanted=$(IFS='|' && echo "${targets[*]}")
# How threads wait is measured by the processor time that they take: the emulator's own says nothing.
exec ctest --test-dir "$build" --output-on-failure -j "${JOBS:-2}" -R "^($wanted)(_r1_t[12])?\$" -E '^unit_waiting$'
