#!/usr/bin/env bash
# Rows whose labels are held out, on real data (segment): by true labels of the others they are told
# about as well as by plain distance, in the metric and in the map; by permuted ones not better than by
# chance, whether the file or the program permutes them.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"
. "$IKT_SOURCE/tests/support/embed.sh"

python=/usr/bin/python3
$python -c 'import h5py, numpy' 2>/dev/null || { echo "skipped: needs h5py"; exit 77; }
data=$IKT_TEST_DATA/segment.h5
[ -e "$data" ] || { echo "skipped: $data is not there"; exit 77; }

# Half of the rows are train rows. In shuffled.h5 these have each other's labels, the others their own.
$python - "$data" <<'PYTHON' >out.txt 2>err.txt || fail "the files cannot be made"
import sys
import h5py
import numpy as np
with h5py.File(sys.argv[1]) as f:
    x, labels = f["X"][:], f["labels"][:]
rng = np.random.default_rng(5)
train = np.sort(rng.permutation(len(x))[:len(x) // 2])
shuffled = labels.copy()
shuffled[train] = labels[rng.permutation(train)]
for name, given in (("true.h5", labels), ("shuffled.h5", shuffled)):
    with h5py.File(name, "w") as f:
        f["X"], f["labels"], f["train"] = x, given, train
PYTHON
common="affinity.kind=fisher fisher.train=true.h5:train fisher.support=300 preprocess.normalise=zscore layout.iterations=200
    layout.exaggeration_iterations=60 run.checkpoint=none output.measures=none output.picture=none output.overwrite=yes"

# error WHAT: of the held-out rows of the last run, in hundredths of a percent.
error() {
    "$IKT_PROGRAM" info run.h5 | awk -v key="fisher_held_out_$1_error" '$1 == key { printf "%d\n", 1e4 * $2 + 0.5 }'
}
# between WHAT LEAST MOST
between() {
    local found
    found=$(error "$1")
    echo "$1: $found"
    [ -n "$found" ] && [ "$found" -ge "$2" ] && [ "$found" -le "$3" ] || fail "$case: $1 is $found, not from $2 to $3"
}

# Plain distances alone, which count so much that the classes do not.
embed 2 input.file=true.h5 fisher.euclidean=10000
grep -q 'held-out rows (whose labels were not used, 1155 of 1155)' err.txt || fail "not half of the rows are held out"
plain=$(error space_1nn) plain_map=$(error map_1nn)
echo "plain: $plain in the space, $plain_map in the map"
[ "${plain:-10000}" -lt 800 ] && [ "${plain_map:-10000}" -lt 1000 ] || fail "plain distances tell the classes with errors of $plain and $plain_map"
for share in 0 0.3; do
    case="true labels, fisher.euclidean=$share"
    embed 2 input.file=true.h5 fisher.euclidean=$share
    between posterior 0 1600 # 300 rows alone
    between space_1nn 0 $((plain + 400))
    between map_1nn 0 $((plain_map + 400))
done

# Seven classes of equal size: 85.7 % is chance, and three standard errors of 1,155 rows are 3.1 %. The
# likeliest class is much the same for all rows of one true class, so that it errs on most of them or few.
for case in "labels that the file has permuted" "labels that the program has permuted"; do
    case $case in
    *file*) embed 2 input.file=shuffled.h5 fisher.euclidean=0 ;;
    *program*) embed 2 input.file=true.h5 fisher.euclidean=0 fisher.permute=yes ;;
    esac
    between posterior 7000 10000
    for what in space_1nn map_1nn; do between $what 8262 8881; done
done
$python - <<'PYTHON' >out.txt 2>err.txt || fail "$case: the likeliest class, against the true labels"
import h5py
import numpy as np
with h5py.File("true.h5") as f, h5py.File("run.h5") as r:
    held = np.setdiff1d(np.arange(len(f["X"])), f["train"][:])
    told = r["fisher/classes"][:][r["fisher/posterior"][:].argmax(1)]
    error = np.mean(told[held] != f["labels"][:][held])
print(error)
assert 0.7 <= error
PYTHON
cat out.txt
exit $failed
