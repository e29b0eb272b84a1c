#!/bin/bash
# Sparse matrices as h5py, SciPy and AnnData write them are read as SciPy reads them, on one rank and on
# three; damaged ones are refused with a sentence that says where.
# $1: the program that reads rows.
. "$IKT_SOURCE/tests/support/expect.sh"

python=""
for candidate in /usr/bin/python3 python3; do
    if [ -z "$python" ] && $candidate -c 'import h5py, scipy.sparse' 2>/dev/null; then python=$candidate; fi
done
if [ -z "$python" ]; then
    echo "h5py and SciPy are not there: not tested"
    exit 77
fi

"$python" - <<'PYTHON'
import h5py
import numpy as np
import scipy.sparse as sp

rng = np.random.default_rng(3)
n, d = 70, 40
m = sp.random(n, d, density=0.12, random_state=4, format="csr")
m.data = np.round(1 + 90 * m.data)
m.data[::3] *= -1
good, bad = [], []


def put(name, data, indices, indptr, shape=(n, d), dense=None, attributes=None, message=None, skip=()):
    with h5py.File(name + ".h5", "w") as f:
        g = f if name == "root" else f.create_group("X")
        for part, values in (("data", data), ("indices", indices), ("indptr", indptr)):
            if part not in skip:
                g.create_dataset(part, data=values)
        for key, value in (attributes or {"encoding-type": "csr_matrix", "shape": np.array(shape)}).items():
            g.attrs[key] = value
    if message is None:
        np.save(name + ".npy", np.asarray(dense, "f8"))
        good.append(name)
    else:
        bad.append((name, message))


# Types of values, columns and starts.
for v, i, p in (("f4", "i4", "i8"), ("f8", "i8", "i4"), ("i2", "u4", "i8"), ("i8", "i8", "u8"), ("i1", "u2", "i4")):
    x = m.data.astype(v)
    e = m.copy()
    e.data = x.astype("f8")
    put(f"{v}{i}{p}", x, m.indices.astype(i), m.indptr.astype(p), dense=e.toarray())
u = np.abs(m.data).astype("u1")
e = m.copy()
e.data = u.astype("f8")
put("u1", u, m.indices, m.indptr, dense=e.toarray())
truths = sp.csr_matrix((np.arange(m.nnz) % 3 > 0, m.indices, m.indptr), (n, d))
put("truths", truths.data, m.indices, m.indptr, dense=truths.toarray())
put("root", m.data, m.indices, m.indptr, dense=m.toarray(), attributes={"shape": np.array([n, d])})
put("h5sparse", m.data, m.indices, m.indptr, dense=m.toarray(),
    attributes={"h5sparse_format": "csr", "h5sparse_shape": np.array([n, d])})

# Columns in any order, some twice, values that are 0 or add up to it, rows that are empty.
columns = rng.integers(0, d, 600).astype("i4")
values = rng.integers(-2, 3, 600).astype("f4")
starts = np.sort(np.concatenate([[0, 0, 0], rng.integers(0, 601, n - 3), [600]])).astype("i8")
put("disorder", values, columns, starts, dense=sp.csr_matrix((values, columns, starts), (n, d)).toarray())
none = np.zeros(0)
put("zero", none, none.astype("i4"), np.zeros(n + 1, "i8"), dense=np.zeros((n, d)))
wide = sp.csr_matrix((np.arange(1, n + 1.0), (np.arange(n), rng.integers(0, 2000, n))), (n, 2000))
put("wide", wide.data, wide.indices, wide.indptr, (n, 2000), dense=wide.toarray())

# What is wrong with a file.
p, i, x = m.indptr.astype("i8"), m.indices.astype("i8"), m.data
def changed(a, at, value):
    b = a.copy()
    b[at] = value
    return b
put("longer", np.append(x, [5, 6]), np.append(i, [1, 2]), p, message="rows of indptr end at entry")
put("descends", x, i, changed(p, 20, p[19] - 1), message="indptr descends from")
put("starts", x, i, changed(p, 0, 1), message="indptr begins with 1, not 0")
put("beyond", x, i, changed(p, slice(n - 2, None), 10**9), message=f"of {m.nnz}")
put("below", x, i, changed(p, slice(0, 3), -4), message="indptr begins with -4")
put("column", x, changed(i, 17, d), p, message=f"has an entry in column {d}, but columns go from 0 to {d - 1}")
put("negative", x, changed(i, 17, -1), p, message="has an entry in column -1,")
put("vast", x, changed(i, 17, 2**40), p, message=f"is damaged: row .*column {2**40},")
u = 2**63 + 5 # beyond int64, where HDF5 would make its greatest number of it
put("unsigned", x, i.astype("u8"), p.astype("u8"), dense=m.toarray())
put("ucolumn", x, changed(i.astype("u8"), 17, u), p, message=f"has an entry in column {u},")
put("ubeyond", x, i, changed(p.astype("u8"), slice(n - 2, None), u), message=f"to {u} of {m.nnz}")
put("udescends", x, i, changed(p.astype("u8"), 1, u), message=f"to {u} of {m.nnz}")
put("ustarts", x, i, changed(p.astype("u8"), 0, u), message=f"indptr begins with {u}, not 0")
put("nan", changed(x, 30, np.nan), i, p, message="value is NaN")
put("inf", changed(x, 30, -np.inf), i, p, message="value is infinite")
put("digits", changed(x, 30, 2**60).astype("i8"), i, p, message="an integer of 2^53 or more")
put("short", x[:-1], i, p, message=f"{m.nnz - 1} values in data, but {m.nnz} columns")
put("rows", x, i, p[:-1], message="rows want one more")
put("lacking", x, i, p, skip=("indices",), message="lacks one of data, indices and indptr")
put("table", x.reshape(1, -1), i, p, message="X/data is not a list of numbers")
put("fractions", x, i + 0.5, p, message="X/indices is not a list of integers")
put("text", np.array([b"a"] * m.nnz), i, p, message="X/data is not a list of numbers")
put("shapeless", x, i, p, attributes={"encoding-type": "csr_matrix"}, message="lacks 'shape', an attribute or a data set")
put("empty", none, none.astype("i4"), np.zeros(1, "i8"), (0, 5), message="is empty (0 x 5)")
put("broad", x, i, p, (n, 2**31), message="up to 2147483647 columns")
csc = m.tocsc()
put("csc", csc.data, csc.indices, csc.indptr, attributes={"encoding-type": "csc_matrix", "shape": np.array([n, d])},
    message="stands column after column; .iktsne convert csc.h5 rows.h5 --dataset X")
put("frame", x, i, p, attributes={"encoding-type": "dataframe"}, message="is a dataframe; a sparse matrix by rows")
open("good", "w").write("\n".join(good) + "\n")
open("bad", "w").write("".join(f"{name}\t{message}\n" for name, message in bad))
PYTHON
[ $? -eq 0 ] || exit 1

items=()
while read -r name; do
    dataset=X
    [ "$name" != root ] || dataset=/
    items+=("$name.h5" "$dataset" "$name.out")
done <good
for ranks in 1 3; do
    rm -f ./*.out
    $IKT_MPIRUN $ranks "$1" "${items[@]}" >out.txt 2>err.txt || fail "reading on $ranks ranks"
    [ ! -s out.txt ] || fail "a good file is refused on $ranks ranks"
    "$python" - >>out.txt <<'PYTHON' || fail "rows differ from SciPy's on $ranks ranks"
import numpy as np
for name in open("good").read().split():
    expected = np.load(name + ".npy")
    found = np.fromfile(name + ".out").reshape(expected.shape)
    assert np.array_equal(found, expected), name
print("ok")
PYTHON
done

items=()
while IFS=$'\t' read -r name message; do
    items+=("$name.h5" X none.out)
done <bad
for ranks in 1 3; do
    $IKT_MPIRUN $ranks "$1" "${items[@]}" >out.txt 2>err.txt || fail "damaged files on $ranks ranks"
    while IFS=$'\t' read -r name message; do
        grep -q "^$name.h5 X 3 .*$message" out.txt || fail "$name on $ranks ranks: no '$message'"
    done <bad
done

# The program: exit codes, and what sparse rows are refused for before anything long begins.
expect 3 'indptr descends from' embed input.file=descends.h5 output.file=y.h5
expect 3 "name it '/' in place of 'X'" embed input.file=root.h5 output.file=y.h5
expect 2 'isolation.form: forest needs dense rows' embed input.file=wide.h5 isolation.form=forest output.file=y.h5
expect 2 'output.model needs dense rows' embed input.file=wide.h5 output.model=m.h5 output.file=y.h5
exit $failed
