#!/usr/bin/env bash
# Builds iktsne within conda's build environment. See recipe.yaml.
set -euo pipefail
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$PREFIX" -DIKT_BUILD_TESTS=OFF \
    -DMPI_C_COMPILER="$PREFIX/bin/mpicc"
cmake --build build -j "${CPU_COUNT:-2}"
cmake --install build
