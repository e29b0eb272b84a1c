#!/usr/bin/env bash
# iktsne convert turns sparse matrices that stand column after column, of MATLAB 7.3 and of anndata, with
# their labels; what embed says of them.
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
. "$here/../support/expect.sh"

python=""
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && $candidate -c 'import anndata, h5py, scipy' 2>/dev/null; then python=$candidate; fi
done
[ -n "$python" ] || { echo "anndata, h5py and scipy are not there: not tested"; exit 77; }

"$python" -W ignore "$here/by_columns.py" make || exit 1
"$IKT_PROGRAM" convert m.mat m.h5 --dataset S --labels gnd --sparse yes --quiet || fail "m.mat"
$IKT_MPIRUN 3 "$IKT_PROGRAM" convert c.h5ad c.h5 --labels kind --sparse yes --quiet || fail "c.h5ad"
"$IKT_PROGRAM" convert m.mat few.h5 --dataset S --rows 50 --sparse yes --quiet || fail "m.mat --rows"
"$python" -W ignore "$here/by_columns.py" check || fail "other numbers"
expect 3 "has no labels 'nix' (--labels)" convert c.h5ad no.h5 --labels nix
expect 2 "has only 120 rows" convert m.mat no.h5 --dataset S --rows 121
expect 3 "entry 1 stands in row 7, column 1 of" convert m.mat no.h5 --dataset bad
expect 3 "entry 1 stands in row 9223372036854775813, column 1 of" convert m.mat no.h5 --dataset vast
expect 3 "does not ascend from 0 to the 2 entries" convert m.mat no.h5 --dataset cut
expect 3 "iktsne convert m.mat rows.h5 --dataset S" embed input.file=m.mat input.dataset=S output.file=no.h5
exit "$failed"
