#!/usr/bin/env bash
# Installs what is missing and builds the given preset (default: release) below build/.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
extra=()
[ "$preset" != mpich ] || extra=(mpich)
[ "$preset" != one-process ] || extra=(wheel)
./scripts/install-dependencies.sh ${extra[@]+"${extra[@]}"}
[ "$preset" != one-process ] || ./scripts/one-process.sh build/one-process-libraries
echo "iktsne: building build/$preset" >&2
cmake --preset "$preset" >"/tmp/iktsne-configure.$$" 2>&1 || {
    cat "/tmp/iktsne-configure.$$" >&2
    rm -f "/tmp/iktsne-configure.$$"
    exit 1
}
rm -f "/tmp/iktsne-configure.$$"
cmake --build "build/$preset" -j "$(nproc)" >/dev/null
