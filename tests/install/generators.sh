#!/usr/bin/env bash
# The build by Ninja, beside that by Makefiles, which the other tests are built with: Ninja allows no target
# that is named like a folder or a file that another rule makes.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
command -v ninja >/dev/null || { echo "skipped: needs ninja"; exit 77; }
cmake -S "$IKT_SOURCE" -B build -G Ninja >out.txt 2>err.txt || fail "cmake -G Ninja"
ninja -C build -t targets all >out.txt 2>err.txt || fail "ninja does not accept what cmake wrote"
for target in libiktsne.a iktsne tests/bench_paths bench; do
    grep -q "^$target: " out.txt || fail "ninja knows no $target"
done
[ $failed -ne 0 ] || echo "ok: Ninja takes the build"
exit $failed
