#!/usr/bin/env bash
# Tables of pandas in HDF5, as h5py lays them out like PyTables: of the fixed format the blocks of numbers are
# listed and read by name; of the table format, whose rows are records, the line of Python that makes a table of it.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
. "$IKT_SOURCE/tests/support/python.sh"
python=$(find_python h5py numpy) || { echo "skipped: no Python with h5py"; exit 77; }

"$python" -c '
import h5py, numpy as np
x = np.random.default_rng(0).normal(size=(60, 4))
def frame(f, name, kind):
    group = f.create_group(name)
    group.attrs["pandas_type"] = np.bytes_(kind)
    return group
with h5py.File("fixed.h5", "w") as f:
    g = frame(f, "cells", "frame")
    g["axis0"], g["axis1"], g["block0_items"] = np.array(list("abcdn"), "S"), np.arange(60), np.array(list("abcd"), "S")
    g["block0_values"], g["block1_values"] = x, np.arange(60)[:, None] % 9
with h5py.File("table.h5", "w") as f:
    rows = np.zeros(60, [("index", "i8"), ("values_block_0", "f8", 4)])
    rows["values_block_0"] = x
    frame(f, "cells", "frame_table")["table"] = rows
with h5py.File("plain.h5", "w") as f:
    f["X"] = x
' || exit 1

few="layout.iterations=5 layout.exaggeration_iterations=2 output.picture=none output.overwrite=yes --quiet"
"$IKT_PROGRAM" embed plain.h5 plain-map.h5 $few || fail "plain.h5"
for ranks in 1 3; do
    $IKT_MPIRUN $ranks "$IKT_PROGRAM" info fixed.h5 >out.txt 2>err.txt || fail "info"
    grep -qE '^  cells/block0_values +60 x 4 +iktsne embed fixed.h5 input.dataset=cells/block0_values$' out.txt || fail "info"
    $IKT_MPIRUN $ranks "$IKT_PROGRAM" embed fixed.h5 map.h5 input.dataset=cells/block0_values $few 2>err.txt || fail "embed"
    h5diff map.h5 plain-map.h5 /embedding || fail "other rows"
    for line in "info table.h5" "embed table.h5 map.h5" "embed fixed.h5 map.h5"; do
        $IKT_MPIRUN $ranks "$IKT_PROGRAM" $line 2>err.txt >out.txt && fail "$line"
        grep -q "pandas.read_hdf(FILE, 'cells').to_csv('table.csv', index=False) writes what is read" err.txt || fail "$line"
    done
done
exit $failed
