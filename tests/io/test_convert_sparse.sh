#!/usr/bin/env bash
# iktsne convert of sparse matrices by rows in HDF5 files: they stay sparse, with labels and marks, to the
# same bytes on any ranks; types, first rows, dense output, and what cannot be.
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
. "$here/../support/expect.sh"

python=""
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && $candidate -c 'import anndata, h5py, scipy' 2>/dev/null; then python=$candidate; fi
done
[ -n "$python" ] || { echo "anndata, h5py and scipy are not there: not tested"; exit 77; }

"$python" -W ignore "$here/convert_sparse.py" make || exit 1
convert() { # RANKS NAME INPUT OPTIONS...: makes NAME.out.h5
    $IKT_MPIRUN "$1" "$IKT_PROGRAM" convert "$3" "$2.out.h5" --overwrite --quiet "${@:4}" || fail "convert ${*:3}, $1 ranks"
}
convert 1 rows rows.h5 --dataset deep/matrix
for ranks in "${other_ranks[@]}"; do
    convert $ranks again rows.h5 --dataset deep/matrix
    cmp rows.out.h5 again.out.h5 || fail "other bytes on $ranks ranks"
done
convert 3 some rows.h5 --dataset deep/matrix --rows 30001 --type float32
convert 2 dense rows.h5 --dataset deep/matrix --rows 5000 --sparse no
convert 3 cells cells.h5ad --labels kind
convert 1 counts cells.h5ad --dataset layers/counts --labels kind
convert 1 found cells.h5ad --dataset layers/found
convert 2 root root.h5 --dataset /
convert 1 bytes root.h5 --dataset / --sparse no
convert 7 sums odd.h5 --dataset sums
"$python" -W ignore "$here/convert_sparse.py" check || fail "other numbers than SciPy's"
expect 3 "cells.h5ad:/X has no labels 'nix' (--labels)" convert cells.h5ad no.h5 --labels nix
expect 3 'odd.h5:/bad, row 1, column 1 .*: value is NaN' convert odd.h5 no.h5 --dataset bad
expect 3 'row 1, column 34 .*: 0.5 cannot be stored as uint8' convert rows.h5 no.h5 --dataset deep/matrix --type uint8
expect 2 '2 rows of 2147483647 columns.*--sparse yes' convert odd.h5 no.h5 --dataset wide --sparse no
expect 2 'has only 40000 rows' convert rows.h5 no.h5 --dataset deep/matrix --rows 40001
exit "$failed"
