#!/usr/bin/env bash
# Files of other programs, read directly: every value, label and name as numpy, h5py and anndata wrote
# them, on one, two, three and seven ranks. $1: the program of dump_source.c. MATLAB itself is not needed: its
# files are written by h5py as MATLAB does.
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
. "$here/../support/script.sh"

python=""
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && $candidate -c 'import anndata, h5py, numpy, pandas, scipy' 2>/dev/null; then
        python=$candidate
    fi
done
[ -n "$python" ] || { echo "anndata and h5py are not there: not tested"; exit 77; }

"$python" -W ignore "$here/inputs.py" make || exit 1
for ranks in 1 2 3 7; do
    rm -f ./*.said ./*.rows ./*.labels ./*.names
    $IKT_MPIRUN $ranks "$1" cases.txt >out.txt 2>err.txt || fail "dump_source on $ranks ranks"
    "$python" "$here/inputs.py" check || fail "on $ranks ranks"
done
exit "$failed"
