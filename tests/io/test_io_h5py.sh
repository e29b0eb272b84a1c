#!/bin/bash
# Result files are equal on any number of ranks but for what varies, and other programs read them.
# $1: the program that writes the example.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
$IKT_MPIRUN 1 "$1" "$folder/one.h5" hosta
$IKT_MPIRUN 3 "$1" "$folder/three.h5" hostb
status=77 # skipped, where neither tool is there

if command -v h5diff >/dev/null; then
    h5diff --exclude-path=/provenance/run "$folder/one.h5" "$folder/three.h5"
    if h5diff "$folder/one.h5" "$folder/three.h5" /provenance/run >/dev/null; then
        echo "the hosts should differ" >&2
        exit 1
    fi
    status=0
fi

python=""
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && $candidate -c 'import h5py' 2>/dev/null; then python=$candidate; fi
done
if [ -z "$python" ]; then
    echo "h5py is not there: not tested"
    exit $status
fi
"$python" - "$folder/three.h5" <<'PYTHON'
import sys
import h5py
import numpy as np

with h5py.File(sys.argv[1], "r") as f:
    rows = np.arange(1000)
    assert f.attrs["format"] == "iktsne-result", f.attrs["format"]
    assert f.attrs["format_version"] == 1
    y = f["embedding"]
    assert y.shape == (1000, 2) and y.dtype == np.float32 and y.fletcher32 and y.chunks
    assert np.array_equal(y[:], np.stack([rows / 8, rows / 8 - 3], axis=1).astype(np.float32))
    assert f["labels"].dtype == np.int64 and np.array_equal(f["labels"][:], rows % 3 - 1)
    assert list(f["marked"]) == [2, 0]
    assert list(f["trace/iteration"]) == [0, 50, 100]
    assert list(f["trace/kl"]) == [4.25, 2.5, 1.125]
    assert list(f["trace/gradient_norm"]) == [1, 0.5, 0.25]
    assert sorted(f["trace"]) == ["gradient_norm", "iteration", "kl"]
    facts, run = f["provenance"].attrs, f["provenance/run"].attrs
    for value in list(facts.values()) + list(run.values()):
        assert isinstance(value, str), type(value)
    assert facts["configuration"] == "run:\n  seed: 7\n"
    assert facts["compiler"] == 'cc "\u03c8"', facts["compiler"]
    assert run["host"] == "hostb"
    assert list(f["provenance/run/trace_seconds"]) == [0, 1.5, 3]
PYTHON
