#!/usr/bin/env bash
# examples/debian/map.sh with stand-ins for apt, Python and iktsne: relative names of these are meant from where
# it was called, its folder is made, and links of Python are not followed.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
mkdir -p venv/bin build
stand_in() { printf '#!/bin/sh\necho "$0 $*" >>"%s/calls.txt"\n%s\n' "$work" "$2" >"$1" && chmod +x "$1"; }
stand_in apt-cache ""
stand_in true-python 'touch "$2" "$3"'
ln -s ../../true-python venv/bin/python
stand_in build/iktsne ""
PATH="$work:$PATH" PYTHON=venv/bin/python IKTSNE=build/iktsne "$IKT_SOURCE/examples/debian/map.sh" new/folder >out.txt 2>err.txt || fail "map.sh"
grep -q "^$work/venv/bin/python .*describe.py packages.csv packages.npy" calls.txt || fail "Python: $(cat calls.txt)"
[ "$(grep -c "^$work/build/iktsne" calls.txt)" -eq 3 ] || fail "iktsne: $(cat calls.txt)"
[ -e new/folder/packages.npy ] || fail "nothing in the folder"
exit "$failed"
