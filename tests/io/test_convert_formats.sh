#!/usr/bin/env bash
# iktsne convert against numpy, scipy and h5py (convert_check.py): NPZ, scipy's sparse matrices, MATLAB
# files, raw numbers; LIBSVM on several ranks; and what it says of files that cannot be used.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
checker=$IKT_SOURCE/tests/io/convert_check.py
python=""
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && $candidate -c 'import h5py, scipy.io, numpy' 2>/dev/null; then python=$candidate; fi
done
if [ -z "$python" ]; then
    echo "skipped: Python with numpy, scipy and h5py is not there"
    exit 77
fi

convert() { # INPUT OPTIONS...
    "$IKT_PROGRAM" convert "$1" "$1.h5" --overwrite --quiet "${@:2}" >out.txt 2>err.txt || fail "convert $*"
}

# refuse CODE 'words of the message' ARGUMENTS...
refuse() {
    rm -f out.h5
    "$IKT_PROGRAM" convert "${@:3}" >out.txt 2>err.txt
    local code=$?
    [ $code -eq "$1" ] && [ "$(grep -c '^iktsne: error: ' err.txt)" -eq 1 ] && grep -qF -- "$2" err.txt ||
        fail "exit code $code, wanted $1 and '$2': convert ${*:3}"
    [ ! -e out.h5 ] || fail "a refused conversion left a file: ${*:3}"
}

has() { # FORMAT: whether this build reads it
    "$IKT_PROGRAM" convert "$1" probe.h5 --overwrite >out.txt 2>err.txt
    ! grep -q 'built without' err.txt
}

formats() {
    "$python" "$checker" make . || fail "the inputs cannot be made"
    if ! has csr.npz || ! has sparse.mat; then
        echo "a library is missing: $(cat err.txt)"
        return
    fi
    convert stored.npz --array rows
    for file in fortran big csr csr_plain shuffled csc coo none; do convert $file.npz; done
    convert named.npz --label-array y
    convert images.npz --labels images.npz:y_train
    convert full.mat --label-array Y
    convert row_labels.mat --labels row_labels.mat:Y
    for file in packed sparse logical; do convert $file.mat; done
    listed
    convert f2.raw --raw float16 --columns 9
    convert f4.raw --raw float32 --columns 9
    convert i2.raw --raw int16 --columns 9 --skip 6 --byte-order big
    convert u8.raw --raw uint8 --columns 9
    "$python" "$checker" check . >out.txt 2>err.txt || fail "not what numpy and scipy say"
}

listed() { # every matrix of a MATLAB file with the line that takes it; what is none, apart
    "$python" -c "
import numpy as np, scipy.io, scipy.sparse
x = np.arange(60.0).reshape(12, 5)
scipy.io.savemat('many files.mat', {'A': x, 'B': x.T.astype('i2'), 'S': scipy.sparse.csc_matrix(x), 'gnd': np.arange(12) % 3, 'one': 3.0,
    'words': 'abc', 'parts': {'X': x}, 'cube': np.zeros((2, 3, 4)), 'z': x * 1j})" || fail "many files.mat"
    local ranks line
    for ranks in 1 3; do
        $IKT_MPIRUN $ranks "$IKT_PROGRAM" info "many files.mat" >listed.txt 2>err.txt || fail "info of a MATLAB file"
        [ "$(grep -o 'iktsne convert .*' listed.txt | wc -l)" -eq 3 ] || fail "not three matrices: $(cat listed.txt)"
        grep -qE '^  --label-array may be +gnd$' listed.txt || fail "labels: $(cat listed.txt)"
        grep -qE '^  not read +one \(1 x 1, double\), words .*, parts .*, cube \(3 axes\), z \(12 x 5, complex double\)$' listed.txt ||
            fail "not read: $(cat listed.txt)"
    done
    grep -qE '^  A +12 x 5, double +iktsne' listed.txt && grep -qE '^  S +12 x 5, sparse +iktsne' listed.txt || fail "$(cat listed.txt)"
    while read -r line; do
        rm -f rows.h5
        eval "\"\$IKT_PROGRAM\" ${line#iktsne }" >out.txt 2>err.txt && [ -s rows.h5 ] || fail "$line"
    done < <(grep -o 'iktsne convert .*' listed.txt)
    "$IKT_PROGRAM" info "many files.mat" --json | "$python" -c "
import json, sys
told = json.load(sys.stdin)
assert list(told['matrices']) == ['A', 'B', 'S'] and told['labels_may_be'] == 'gnd', told" || fail "--json"
    head -c 700 "many files.mat" >cut.mat
    "$IKT_PROGRAM" info cut.mat 2>err.txt && fail "a MATLAB file that was cut off"
    grep -q 'cut.mat is truncated or damaged' err.txt || fail "$(cat err.txt)"
    # HDF5 packed by gzip, as archives of cells hand it out.
    gzip -c full.mat.h5 >packed.h5ad.gz
    for line in "info packed.h5ad.gz" "embed packed.h5ad.gz x.h5" "convert packed.h5ad.gz x.h5"; do
        "$IKT_PROGRAM" $line 2>err.txt && fail "$line"
        grep -q 'packed.h5ad.gz is a gzipped HDF5 file, which is only read unpacked: gunzip makes it so' err.txt || fail "$line: $(cat err.txt)"
    done
}

ranks() { # TEXT OPTIONS...: on several ranks as on one, and as Python reads it
    convert "$1" "${@:2}"
    "$python" "$checker" libsvm "$1" "$1.h5" >out.txt 2>err.txt || fail "$1 ${*:2}: not what Python reads"
    for ranks in 2 3 7; do
        $IKT_MPIRUN $ranks "$IKT_PROGRAM" convert "$1" ranks.h5 --overwrite --quiet "${@:2}" >out.txt 2>err.txt &&
            "$python" "$checker" same "$1.h5" ranks.h5 >out.txt 2>err.txt || fail "$1 ${*:2}, $ranks ranks"
    done
}

libsvm() {
    awk 'BEGIN { for (i = 0; i < 300; i++) {
        printf "kind%d", i * 7 % 13
        for (e = 0; e < i % 17; e++) printf " %d:%.4g", 1 + e * 37 + i % 30, sin(i + e) * 10 ^ (e - 8)
        printf i % 5 ? "\n" : "\r\n\n" } }' >made.libsvm
    ranks made.libsvm
    ranks made.libsvm --sparse no
    printf '1 3000000000:1.5\n2\n3 1:2\n' >far.libsvm
    convert far.libsvm
    "$python" -c 'import h5py
x = h5py.File("far.libsvm.h5")["X"]
assert list(x.attrs["shape"]) == [3, 3000000000] and x["indices"].dtype == "i8"
assert list(x["indices"]) == [2999999999, 0] and list(x["indptr"]) == [0, 1, 1, 2] and list(x["data"]) == [1.5, 2]' \
        >out.txt 2>err.txt || fail "columns beyond 2^31"
    [ -n "${IKT_TEST_DATA:-}" ] && [ -r "$IKT_TEST_DATA/raw/basehock.libsvm.gz" ] || return 0
    gzip -dc "$IKT_TEST_DATA/raw/basehock.libsvm.gz" >basehock.libsvm
    cp "$IKT_TEST_DATA/raw/a9a.t" a9a.libsvm
    ranks basehock.libsvm
    convert a9a.libsvm
    "$python" "$checker" libsvm a9a.libsvm a9a.libsvm.h5 >out.txt 2>err.txt || fail "a9a.t"
    "$IKT_PROGRAM" convert "$IKT_TEST_DATA/raw/basehock.libsvm.gz" packed.h5 --quiet &&
        "$python" "$checker" same basehock.libsvm.h5 packed.h5 || fail "packed, and on several ranks"
    "$IKT_PROGRAM" convert "$IKT_TEST_DATA/raw/BASEHOCK.mat" mat.h5 --label-array Y --quiet &&
        "$IKT_PROGRAM" convert basehock.libsvm dense.h5 --sparse no --type float64 --quiet &&
        "$python" "$checker" same dense.h5 mat.h5 || fail "BASEHOCK.mat is basehock.libsvm"
}

npz_refusals() {
    local o=out.h5
    has csr.npz || return 0
    refuse 3 "does not tell which of its arrays is meant: name it (--array NAME, or FILE:NAME for labels and maps; input.dataset=NAME of safetensors); it holds: a (4 x 3, <f8), b" two.npz $o
    refuse 3 "has no array 'c'; it holds: a (4 x 3" two.npz $o --array c
    refuse 3 "'words' is no array of integers" named.npz $o --array words
    refuse 3 'labels must be one column, it has 9' named.npz $o --label-array other
    refuse 3 'has 53 labels, but' two.npz $o --array a --labels named.npz:y
    refuse 2 'which has no named columns' named.npz $o --label-column y
    head -c 3000 stored.npz >cut.npz
    refuse 4 'cut.npz is truncated or damaged' cut.npz $o
    refuse 3 'without an array of numpy' empty.npz $o
    refuse 3 'is of another format than csr, csc and coo' bsr.npz $o
    refuse 3 'several entries in one column' twice.npz $o
    refuse 3 'stands in column 400' outside.npz $o
    refuse 3 'is damaged: where its rows begin' starts.npz $o
    refuse 4 'which a compressed file of' bomb.npz $o
}

mat_refusals() {
    local o=out.h5
    has full.mat || return 0
    refuse 3 "has no array 'Z'; it holds: X (53 x 9, double), Y (53 x 1, double), note (1 x 5, char)" full.mat $o --array Z
    refuse 3 "'c' is no array of integers" complex.mat $o --array c
    head -c 400 full.mat >cut.mat
    refuse 4 'cut.mat is truncated or damaged' cut.mat $o
    head -c 600 packed.mat >cut.mat
    refuse 4 'cut.mat is truncated or damaged' cut.mat $o
}

other_refusals() {
    local o=out.h5
    refuse 3 'are no whole rows of 10 numbers of 1 bytes' u8.raw $o --raw uint8 --columns 10
    refuse 3 'after the 5000 that are skipped' u8.raw $o --raw uint8 --columns 9 --skip 5000
    mkfifo pipe && refuse 4 'is a pipe and not a regular file' pipe $o --raw uint8 --columns 9
    refuse 2 '--raw needs --columns' u8.raw $o --raw uint8
    refuse 2 'give their type, too' u8.raw $o --columns 9
    refuse 2 'sparse matrices of HDF5, NPZ and MATLAB files' u8.raw $o --raw uint8 --columns 9 --sparse yes
    printf '1 2000000000:1\n1 1:1\n' >wide.libsvm
    refuse 2 '--sparse yes' wide.libsvm $o --sparse no
    printf 'PAR1\x15\x04\x15\x00\x15' >table.parquet
    refuse 3 'is a Parquet file' table.parquet $o
    printf '%% comment\n@RELATION x\n@ATTRIBUTE a NUMERIC\n@DATA\n1\n' >table.arff
    refuse 3 'is an ARFF file' table.arff $o
    printf '\x80\x04\x95\x00' >object.pkl
    refuse 3 'is a Python pickle' object.pkl $o
    # What embed and info refuse as no table of numbers has the same code there.
    printf 'a,b\n' >heading.csv
    printf 'word\nother\n' >words.csv
    : >nothing.csv
    for name in heading words nothing; do
        refuse 3 "$name.csv " $name.csv $o
        "$IKT_PROGRAM" info $name.csv >out.txt 2>err.txt
        [ $? -eq 3 ] || fail "info $name.csv: $(cat err.txt)"
    done
    # All columns of a heading are left out.
    printf 'a,b,a\n1,2,3\n4,5,6\n' >twice.csv
    printf 'b\n2\n5\n' >b.csv
    "$IKT_PROGRAM" convert twice.csv twice.h5 --skip-columns a --quiet && "$IKT_PROGRAM" convert b.csv b.h5 --quiet &&
        h5diff twice.h5 b.h5 /X || fail "columns of one heading"
    printf '1 1:1\n' >one.libsvm
    refuse 2 'do not apply' one.libsvm $o --labels x
    refuse 2 'holds one table' one.libsvm $o --array x
}

"$python" "$checker" bad .
try formats "NPZ, MATLAB and raw files hold what numpy and scipy say"
try libsvm "LIBSVM on 1, 2, 3 and 7 ranks, packed, sparse and dense"
try npz_refusals "NPZ files that cannot be used"
try mat_refusals "MATLAB files that cannot be used"
try other_refusals "other files that cannot be used"
exit $failed
