#!/usr/bin/env bash
# iktsne align: finds a motion that is known, is the same on any number of ranks, tells how far classes
# are apart, and refuses what does not belong together.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/python.sh"

python=$(find_python h5py numpy) || {
    echo "there is no python3 with h5py: not tested"
    exit 77
}
"$python" - <<'PYTHON' || exit 1
import h5py
import numpy as np

rng = np.random.default_rng(2)
for q in (1, 2, 3):
    for mirrors in (0, 1):
        y = (rng.normal(size=(700, q)) * [9, 4, 2][:q] + 7).astype("f4")
        turn = np.linalg.qr(rng.normal(size=(q, q)))[0]
        if (np.linalg.det(turn) < 0) != bool(mirrors):
            turn[:, 0] *= -1
        moved = 2.5 * y.astype("f8") @ turn + [100, -3, 5][:q]
        labels = np.arange(700) % 3
        for name, rows in (("a", y), ("b", moved), ("longer", np.vstack([moved, rng.normal(size=(50, q))]))):
            with h5py.File(f"{name}{q}{mirrors}.h5", "w") as f:
                f["embedding"] = rows.astype("f4")
                if name == "a":
                    f["labels"] = labels
                    f["marked"] = [3]
                    f.attrs["label_names"] = "p\nq\nr\n"
# A class that has moved against the others.
with h5py.File("b21.h5") as f:
    shifted = f["embedding"][:]
shifted[np.arange(700) % 3 == 2] += [20, 0]
with h5py.File("shifted.h5", "w") as f:
    f["embedding"] = shifted
broken = shifted.copy()
broken[12, 1] = np.nan
with h5py.File("broken.h5", "w") as f:
    f["embedding"] = broken
PYTHON

for which in 10 11 20 21 30 31; do
    "$IKT_PROGRAM" align a$which.h5 b$which.h5 c$which.h5 --json --quiet >$which.json || fail "align $which"
done
"$IKT_PROGRAM" align a21.h5 longer21.h5 part.h5 --rows 700 --json --quiet >part.json || fail "--rows"
"$IKT_PROGRAM" align a21.h5 b21.h5 stiff.h5 --no-scale --no-reflection --json --quiet >stiff.json ||
    fail "--no-scale --no-reflection"
for ranks in 1 2 3 4; do
    # shellcheck disable=SC2086
    $IKT_MPIRUN $ranks "$IKT_PROGRAM" align a21.h5 shifted.h5 s$ranks.h5 --json --quiet >s$ranks.json \
        2>err.txt || fail "align on $ranks ranks"
    cmp s1.json s$ranks.json || fail "the summary differs on $ranks ranks"
    if command -v h5diff >/dev/null; then
        h5diff --exclude-path=/provenance/run s1.h5 s$ranks.h5 || fail "the file differs on $ranks ranks"
    fi
done
"$IKT_PROGRAM" align s1.h5 shifted.h5 twice.h5 --json --quiet >twice.json || fail "a second time"
"$IKT_PROGRAM" align a21.h5 shifted.h5 text.h5 >text.txt || fail "text"
grep -q '^rotation .* after mirroring' text.txt || fail "the text: $(cat text.txt)"
"$IKT_PROGRAM" plot s1.h5 moved.png --colour-by diagnostics/displacement --quiet || fail "plot of it"

"$python" - <<'PYTHON' || fail "what the files hold"
import json
import h5py
import numpy as np


def embedding(name):
    with h5py.File(name + ".h5") as f:
        return f["embedding"][:].astype("f8")


def load(name):
    with open(name + ".json") as f:
        return json.load(f)


for which in ("10", "11", "20", "21", "30", "31"):
    said, wanted, got = load(which), embedding("b" + which), embedding("c" + which)
    size = np.sqrt(((wanted - wanted.mean(0)) ** 2).sum(1).mean())
    assert abs(got - wanted).max() < 1e-6 * abs(wanted - wanted.mean(0)).max()
    assert said["residual"] < 1e-6 and abs(said["scale"] - 2.5) < 1e-6
    assert said["mirrored"] == (which[1] == "1") and said["rows_matched"] == 700
    with h5py.File(f"c{which}.h5") as f:
        assert np.array_equal(f["labels"][:], np.arange(700) % 3) and list(f["marked"]) == [3]
        assert f.attrs["label_names"] == "p\nq\nr\n" and f.attrs["format"] == "iktsne-result"
        facts = f["provenance"].attrs
        assert facts["aligned"] == f"a{which}.h5" and facts["reference"] == f"b{which}.h5"
        assert facts["embedding_hash"] == said["hash"] and facts["mirrored"] == ("yes" if said["mirrored"] else "no")
        # The motion as it is told moves the rows where they are.
        q = got.shape[1]
        turn = np.array(facts["rotation"].split(), dtype="f8").reshape(q, q)
        before, after = (np.array(facts["centre_" + k].split(), dtype="f8") for k in ("before", "after"))
        told = float(facts["scale"]) * (embedding("a" + which) - before) @ turn + after
        assert np.array_equal(told.astype("f4"), got.astype("f4")) or abs(told - got).max() < 1e-5 * size

part, displacement = load("part"), None
assert part["rows_matched"] == 700 and part["residual"] < 1e-6

# Against a plain solution, where rows do not fit.
y, r, got, said = embedding("a21"), embedding("shifted"), embedding("s1"), load("s1")
a, b = y - y.mean(0), r - r.mean(0)
u, s, vt = np.linalg.svd(a.T @ b)
best = s.sum() / (a ** 2).sum() * a @ u @ vt + r.mean(0)
assert abs(best - got).max() < 1e-5
size = np.sqrt((b ** 2).sum(1).mean())
away = np.sqrt(((got - r) ** 2).sum(1))
assert abs(said["residual"] - np.sqrt((away ** 2).mean()) / size) < 1e-6
with h5py.File("s1.h5") as f:
    assert abs(f["diagnostics/displacement"][:] - away).max() < 1e-9
for label, told in enumerate(said["classes"]):
    rows = np.arange(700) % 3 == label
    assert told["label"] == label and told["rows"] == rows.sum()
    assert abs(told["displacement"] - np.sqrt((away[rows] ** 2).mean()) / size) < 1e-6
    assert abs(told["centre_shift"] - np.linalg.norm((got - r)[rows].mean(0)) / size) < 1e-6
assert said["classes"][2]["centre_shift"] > 1.5 * said["classes"][0]["centre_shift"]

# What is aligned stays, and an alignment without mirror and scale is a turn.
twice, stiff = load("twice"), load("stiff")
assert abs(twice["scale"] - 1) < 1e-6 and abs(twice["rotation_degrees"]) < 1e-4 and not twice["mirrored"]
assert stiff["scale"] == 1 and not stiff["mirrored"] and stiff["residual"] > said["residual"]
c = embedding("stiff")
assert abs(np.linalg.norm(c[0] - c[5]) - np.linalg.norm(y[0] - y[5])) < 1e-4
PYTHON

expect 3 'a20.h5 has 2 dimensions, but b30.h5 has 3' align a20.h5 b30.h5 x.h5
expect 3 'has 700 rows, but longer21.h5 has 750' align a21.h5 longer21.h5 x.h5
expect 2 '--rows 800' align a21.h5 b21.h5 x.h5 --rows 800
expect 3 'broken.h5, row 12' align a21.h5 broken.h5 x.h5
expect 4 'exists already' align a21.h5 b21.h5 c21.h5
expect 2 'cannot be the output' align a21.h5 b21.h5 b21.h5 --overwrite
leftover=$(find . -name 'x.*' -o -name '*.part-*')
[ -z "$leftover" ] || fail "left behind: $leftover"
[ "$failed" -eq 0 ] && echo "alignments find what is known"
exit "$failed"
