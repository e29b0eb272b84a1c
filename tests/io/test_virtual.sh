#!/usr/bin/env bash
# Virtual data sets of HDF5, made of parts of other files: on one rank the rows and labels of the file that is
# whole; a sentence where a part is missing or too small, of which HDF5 would make zeros, and on several ranks.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
. "$IKT_SOURCE/tests/support/python.sh"
python=$(find_python h5py numpy) || { echo "skipped: no Python with h5py"; exit 77; }

"$python" -c '
import h5py, numpy as np
x = np.random.default_rng(0).normal(size=(60, 5)).astype("f4")
kind = np.arange(60) % 3
def virtual(name, parts, size=20, own=False):
    with h5py.File(name, "w", libver=("v110", "v110")) as f:
        if own:
            f["d"], f["kind"] = x[40:], kind[40:]
        for to, part, shape in ("X", "d", (60, 5)), ("labels", "kind", (60,)):
            layout = h5py.VirtualLayout(shape, f4 if to == "X" else "i8")
            for k, file in enumerate(parts):
                source = h5py.VirtualSource(file, part, (size, *shape[1:]))
                layout[20 * k:20 * k + 20] = source if size == 20 else source[5:25]
            f.create_virtual_dataset(to, layout)
f4 = "f4"
for k in range(3):
    with h5py.File(f"part{k}.h5", "w") as f:
        f["d"], f["kind"] = x[20 * k:20 * k + 20], kind[20 * k:20 * k + 20]
    with h5py.File(f"wide{k}.h5", "w") as f: # more than is taken from it
        f["d"] = np.vstack([x[:5], x[20 * k:20 * k + 20], x[:5]])
        f["kind"] = np.r_[kind[:5], kind[20 * k:20 * k + 20], kind[:5]]
with h5py.File("whole.h5", "w") as f:
    f["X"], f["labels"] = x, kind
virtual("of.h5", ["part0.h5", "part1.h5", "part2.h5"])
virtual("wide.h5", ["wide0.h5", "wide1.h5", "wide2.h5"], 30)
virtual("short.h5", ["wide0.h5", "part1.h5", "wide2.h5"], 30)
virtual("own.h5", ["part0.h5", "part1.h5", "."], own=True)
virtual("none.h5", ["part0.h5", "part9.h5", "part2.h5"])
' || { echo "skipped: h5py makes no virtual data sets"; exit 77; }

few="layout.iterations=5 layout.exaggeration_iterations=2 output.picture=none output.overwrite=yes --quiet"
"$IKT_PROGRAM" embed whole.h5 whole-map.h5 $few || fail "the whole file"
one="$IKT_MPIRUN 1"
for file in of wide own; do
    for launch in "" "$one"; do
        rm -f map.h5
        $launch "$IKT_PROGRAM" embed $file.h5 map.h5 input.dataset=X $few 2>err.txt || fail "$file"
        h5diff map.h5 whole-map.h5 /embedding && h5diff map.h5 whole-map.h5 /labels || fail "$file: other rows or labels"
    done
    "$IKT_PROGRAM" convert $file.h5 made.h5 --dataset X --overwrite --quiet && h5diff made.h5 whole.h5 /X && h5diff made.h5 whole.h5 /labels ||
        fail "convert $file"
done
"$IKT_PROGRAM" embed none.h5 map.h5 $few 2>err.txt && fail "a missing part"
grep -q "none.h5:/labels is a virtual data set, and its part part9.h5:kind is not there" err.txt || fail "$(cat err.txt)"
h5copy -i none.h5 -o rows.h5 -s X -d X # without labels
for columns in yes no; do # also where rows are columns
    "$IKT_PROGRAM" embed rows.h5 map.h5 input.transposed=$columns $few 2>err.txt && fail "a missing part, transposed: $columns"
    grep -q "rows.h5:/X is a virtual data set, and its part part9.h5:d is not there" err.txt || fail "$(cat err.txt)"
done
"$IKT_PROGRAM" info short.h5 >out.txt 2>err.txt && fail "a part that is too short"
grep -q "its part part1.h5:kind is not there, or smaller than it has to be" err.txt || fail "$(cat err.txt)"
for ranks in 2 3; do
    $IKT_MPIRUN $ranks "$IKT_PROGRAM" embed of.h5 map.h5 $few 2>err.txt && fail "$ranks ranks"
    grep -q "which HDF5 reads on one rank only: write it whole on one rank, iktsne convert" err.txt || fail "$(cat err.txt)"
done

# Parts in another folder, where HDF5 looks: beside the file, from any folder; where HDF5_VDS_PREFIX says.
(cd / && "$IKT_PROGRAM" info "$work/of.h5" >/dev/null) || fail "from another folder"
mkdir elsewhere && mv part1.h5 elsewhere
"$IKT_PROGRAM" info of.h5 >out.txt 2>err.txt && fail "a part was moved away"
HDF5_VDS_PREFIX=elsewhere "$IKT_PROGRAM" embed of.h5 map.h5 $few || fail "HDF5_VDS_PREFIX"
h5diff map.h5 whole-map.h5 /embedding || fail "HDF5_VDS_PREFIX: other rows"
exit $failed
