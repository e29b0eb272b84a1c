#!/usr/bin/env bash
# The first stage of the image: builds iktsne from SOURCE, installs it into PREFIX, and writes beside it
# which of Debian's packages the program needs to run, PREFIX/share/iktsne/runtime-packages: the second
# stage installs these and nothing that is needed for building only.
#   build.sh SOURCE PREFIX [options of cmake]
set -euo pipefail
source=$1
prefix=$2
shift 2
build=${IKT_IMAGE_BUILD:-$source/build/image}
cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DIKT_BUILD_TESTS=OFF \
    -DCMAKE_INSTALL_PREFIX="$prefix" "$@"
cmake --build "$build" -j "${IKT_IMAGE_JOBS:-$(nproc)}"
cmake --install "$build"

# Packages of the libraries that the loader brings, by their real files.
ldd "$prefix/bin/iktsne" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | while read -r library; do
    dpkg -S "$library" "$(readlink -f "$library")" 2>/dev/null || true
done | sed 's/:.*//' | sort -u >"$prefix/share/iktsne/runtime-packages"
echo openmpi-bin >>"$prefix/share/iktsne/runtime-packages"
