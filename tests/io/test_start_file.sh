#!/usr/bin/env bash
# Starts from positions in files: the same positions give the same run from whatever format, on any
# number of ranks, at the spread that is asked for; what does not fit is refused.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/python.sh"

python=$(find_python h5py numpy) || {
    echo "there is no python3 with h5py: not tested"
    exit 77
}
"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 300 --dimensions 5 --clusters 3 --quiet || exit 1
"$python" - <<'PYTHON' || exit 1
import h5py
import numpy as np

y = (np.random.default_rng(4).normal(size=(300, 2)) * [12, 5] + [3, -8]).astype("f4")
np.save("start.npy", y)
np.save("turned.npy", np.asfortranarray(y))
np.save("short.npy", y[:299])
np.save("solid.npy", np.hstack([y, y[:, :1]]))
bad = y.copy()
bad[17, 1] = np.inf
np.save("bad.npy", bad)
with open("start.csv", "w") as f:
    f.writelines(f"{a!s},{b!s}\n" for a, b in y)
with h5py.File("start.h5", "w") as f:
    f["embedding"] = y
    f["obsm/X_umap"] = y.astype("f8")
PYTHON

embed="embed input.file=data.h5 isolation.psi=16 layout.exaggeration_iterations=20 output.overwrite=yes
    output.measures=none output.file=out.h5"
# hash WORDS...: of the embedding.
hash() {
    # shellcheck disable=SC2086
    "$IKT_PROGRAM" $embed layout.iterations=25 "$@" --quiet --json 2>err.txt | sed -n 's/.*"hash": "\(.*\)".*/\1/p'
}
wanted=$(hash layout.init_file=start.npy)
[ -n "$wanted" ] || fail "a start from NPY"
for file in turned.npy start.csv start.h5:obsm/X_umap start.h5:/embedding; do
    [ "$(hash layout.init_file=$file)" = "$wanted" ] || fail "$file starts another run"
done
[ "$(hash layout.init_file=start.h5 layout.init_scale=1e-4)" = "$wanted" ] || fail "init_scale"
as_it_is=$(hash layout.init_file=start.h5)
[ -n "$as_it_is" ] && [ "$as_it_is" != "$wanted" ] || fail "a map of a run was scaled"
[ "$(hash layout.init_file=start.npy layout.init_scale=0)" = "$as_it_is" ] ||
    fail "positions as they are differ between formats"
for ranks in 2 3; do
    # shellcheck disable=SC2086
    got=$($IKT_MPIRUN $ranks "$IKT_PROGRAM" $embed layout.iterations=25 layout.init_file=start.csv --quiet \
        --json 2>err.txt | sed -n 's/.*"hash": "\(.*\)".*/\1/p')
    [ "$got" = "$wanted" ] || fail "another run on $ranks ranks"
done

# The positions themselves, after one step so small that nothing moves.
for scale in 0 0.5; do
    # shellcheck disable=SC2086
    "$IKT_PROGRAM" $embed layout.init_file=start.npy layout.init_scale=$scale layout.iterations=1 \
        layout.exaggeration_iterations=0 layout.learning_rate=1e-6 --quiet >/dev/null || fail "one step"
    "$python" - $scale <<'PYTHON' || fail "positions at scale $scale"
import sys
import h5py
import numpy as np

scale = float(sys.argv[1])
with h5py.File("out.h5") as f:
    got = f["embedding"][:].astype("f8")
y = np.load("start.npy").astype("f8")
y -= y.mean(0)
if scale > 0:
    y *= scale / y[:, 0].std()
    assert abs(got[:, 0].std() - scale) < 0.01 * scale
assert abs(got - got.mean(0) - y).max() < (0.05 * scale if scale > 0 else 1e-4), abs(got - y).max()
PYTHON
done

# shellcheck disable=SC2086
{
    expect 3 'short.npy holds 299 positions, the data has 300 rows' $embed layout.init_file=short.npy
    expect 3 'in 3 dimensions, but layout.dimensions = 2' $embed layout.init_file=solid.npy
    expect 3 'bad.npy, row 17, column 1' $embed layout.init_file=bad.npy
    expect 3 "no data set 'obsm/none'" $embed layout.init_file=start.h5:obsm/none
    expect 4 'nothing.npy cannot be read' $embed layout.init_file=nothing.npy
    expect 2 'no layout.init_file to scale' $embed layout.init_scale=1
}
[ "$failed" -eq 0 ] && echo "starts from files"
exit "$failed"
