#!/usr/bin/env bash
# Builds iktsne for ARM with 64 bits on another processor, and compares maps of that program, which an emulator
# runs, with those of the native one, bit by bit: t-SNE by both kernels, TriMap, UMAP, LargeVis, the Fisher metric.
# Needs mmdebstrap, qemu-user-static with binfmt-support, gcc-aarch64-linux-gnu and g++-aarch64-linux-gnu (Debian's
# packages), and 2 GB in FOLDER. Ten minutes; maps by FFT are left out: FFTW rounds otherwise on another processor.
#   scripts/cross-arm.sh FOLDER [PROGRAM]      PROGRAM: the native one (build/release/iktsne)
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2; }
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
native=$(realpath "${2:-$source/build/release/iktsne}")
mkdir -p "$1/bin"
folder=$(realpath "$1")
root=$folder/root
libraries=$root/usr/lib/aarch64-linux-gnu
compiler=aarch64-linux-gnu-gcc
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")

# --- the libraries, unpacked: nothing of them is run for that ---

if [ ! -d "$root" ]; then
    packages=libopenmpi-dev,libscalapack-openmpi-dev,libopenblas-dev,libfftw3-dev,libfftw3-mpi-dev,libhdf5-openmpi-dev
    packages+=,libyaml-dev,libcairo2-dev,libpango1.0-dev,zlib1g-dev,libcmocka-dev,libpng-dev,libzip-dev,libc6-dev
    mmdebstrap --variant=extract --architectures=arm64 --include="$packages,libgomp1,libgcc-12-dev" "$suite" "$root" \
        http://deb.debian.org/debian
    for library in libblas.so libblas.so.3 liblapack.so liblapack.so.3 libopenblas.so.0; do
        ln -sf "openblas-pthread/$library" "$libraries/$library" # as the packages' scripts would have done
    done
    ln -sf libmpi.so.40 "$libraries/libmpi.so"
fi

# --- wrappers of compilers, which CMake asks how they call the compiler ---

cat >"$folder/bin/mpicc" <<EOF
#!/bin/sh
compile="-I$libraries/openmpi/include"
link="-L$libraries -Wl,-rpath-link,$libraries -lmpi"
case "\$1" in
-showme:compile) echo "\$compile" ;;
-showme:link) echo "\$link" ;;
-showme:incdirs) echo "$libraries/openmpi/include" ;;
-showme:libdirs) echo "$libraries" ;;
-showme:libs) echo mpi ;;
-show*) echo "$compiler \$compile \$link" ;;
*) exec $compiler --sysroot=$root \$compile "\$@" \$link ;;
esac
EOF
cat >"$folder/bin/h5pcc" <<EOF
#!/bin/sh
call="$compiler --sysroot=$root -I$root/usr/include/hdf5/openmpi -I$libraries/openmpi/include -L$libraries/hdf5/openmpi"
case "\$1" in
-showconfig) cat $libraries/hdf5/openmpi/libhdf5.settings ;;
-show*) echo "\$call -lhdf5 -lsz" ;;
*) exec \$call "\$@" -lhdf5 -lsz ;;
esac
EOF
chmod +x "$folder"/bin/*
cat >"$folder/aarch64.cmake" <<EOF
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER $compiler)
set(CMAKE_SYSROOT $root)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} $root)
set(ENV{PKG_CONFIG_LIBDIR} $libraries/pkgconfig:$root/usr/share/pkgconfig)
set(MPI_C_COMPILER $folder/bin/mpicc CACHE FILEPATH "")
set(HDF5_C_COMPILER_EXECUTABLE $folder/bin/h5pcc CACHE FILEPATH "")
EOF

# --- the program ---

cmake -S "$source" -B "$folder/build" -DCMAKE_TOOLCHAIN_FILE="$folder/aarch64.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DIKT_BUILD_TESTS=OFF
cmake --build "$folder/build" --target iktsne_program -j "${JOBS:-2}"

# --- its maps ---

export QEMU_LD_PREFIX=$root OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cd "$folder"
"$native" generate glyphs data.h5 --points 600 --seed 3 --overwrite --quiet
hash_of() { # PROGRAM SETTINGS...
    "$1" embed data.h5 output.file=map.h5 output.overwrite=yes output.measures=none layout.init=random \
        layout.iterations=60 run.threads=1 run.checkpoint=none "${@:2}" --json --quiet </dev/null |
        sed -n 's/^ *"hash": "\([0-9a-f]*\)".*/\1/p'
}
failed=0
while read -r -a settings; do
    expected=$(hash_of "$native" "${settings[@]}")
    found=$(hash_of "$folder/build/iktsne" "${settings[@]}")
    if [ -n "$found" ] && [ "$found" = "$expected" ]; then
        echo "ok $found ${settings[*]}"
    else
        echo "FAILED: ${settings[*]}: $found on ARM, $expected here"
        failed=1
    fi
done <<'EOF'
affinity.kind=isolation
affinity.kind=gaussian
affinity.kind=gaussian preprocess.metric=manhattan
affinity.kind=fisher
layout.objective=trimap
layout.objective=trimap affinity.kind=knn
layout.objective=umap
layout.objective=largevis layout.dimensions=3
EOF
exit $failed
