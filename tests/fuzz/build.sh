#!/usr/bin/env bash
# Builds the fuzzers: build.sh FOLDER. Exits 77 where there is no clang with libFuzzer.
set -euo pipefail
folder=$1
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
clang=${IKT_CLANG:-clang}
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d && n ? 0 : 0; }' >"$probe/probe.c"
if ! "$clang" -fsanitize=fuzzer,address -fopenmp "$probe/probe.c" -o "$probe/probe" 2>"$probe/log"; then
    cat "$probe/log" >&2
    echo "the fuzzers are skipped: $clang with libFuzzer and OpenMP is not installed (on Debian clang," \
        "libclang-rt-dev and libomp-dev; scripts/install-dependencies.sh installs them)" >&2
    exit 77
fi
cmake -S "$source_folder" -B "$folder" -DIKT_FUZZ=ON -DIKT_BUILD_TESTS=OFF -DCMAKE_C_COMPILER="$clang" \
    -DIKT_WERROR=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 >"$probe/log" 2>&1 || {
    cat "$probe/log" >&2
    exit 1
}
cmake --build "$folder" -j "$(nproc)"
