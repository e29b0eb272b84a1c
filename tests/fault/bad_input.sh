#!/usr/bin/env bash
# What goes wrong outside the program: one clear sentence, the documented exit code, no hang, on one
# rank and on three. Prints each message; fails when a code, a message or their number is not as said.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"

# An NPY file of 40 x 3 float32 zeros; with a NaN in row 17, column 1 where $2 is set.
write_npy() {
    local header="{'descr': '<f4', 'fortran_order': False, 'shape': (40, 3), }"
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header" >"$1"
    for ((i = 0; i < 120; i++)); do
        if [ "${2:-}" ] && [ "$i" -eq 52 ]; then printf '\x00\x00\xc0\x7f'; else
            printf "\\x00\\x00\\x$(printf %02x $((i % 100)))\\x40"
        fi
    done >>"$1"
}

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 60 --dimensions 3 --clusters 2 --quiet || exit 1
good="input.file=data.h5 output.file=out.h5 isolation.psi=8 layout.iterations=5
    layout.exaggeration_iterations=2 --quiet"

printf 'isolation:\n  psy: 5\n' >wrong-key.yaml
expect 2 "wrong-key.yaml, line 2: unknown key 'isolation.psy'; did you mean 'isolation.psi'" embed wrong-key.yaml
expect 2 "isolation.psi: 'many' is not an integer" embed $good isolation.psi=many
expect 2 "input.file is not set" embed output.file=out.h5
expect 2 "isolation.psi = 100 is larger than the 60 rows" embed $good isolation.psi=100
expect 2 "affinity.neighbours = 60, but a row has only 59 others" embed $good affinity.neighbours=60
expect 2 "layout.landmarks = 60, but it must be from 2 to 59" embed $good layout.init=landmark layout.landmarks=60
expect 2 "perplexity" embed $good affinity.kind=gaussian gaussian.perplexity=500 isolation.psi=auto
expect 2 "preprocess.pca = 9" embed $good preprocess.pca=9
expect 2 "input.rows = 1000, but data.h5:/X has only 60 rows" embed $good input.rows=1000
expect 4 "missing.h5 cannot be read: No such file" embed $good input.file=missing.h5
expect 4 "missing.yaml cannot be read: No such file" embed missing.yaml
expect 3 "data.h5 has no data set 'Y'; it holds: X, labels" embed $good input.dataset=Y
expect 3 "has no labels 'classes' (input.labels)" embed $good input.labels=classes
expect 3 "/labels has 1 dimensions" embed $good input.dataset=labels

"$(dirname "$IKT_PROGRAM")/tests/write_h5" nan.h5 || exit 1
expect 3 "nan.h5:/X, row 17, column 1 (counted from 0): value is NaN" embed $good input.file=nan.h5

write_npy nan.npy with-nan
expect 3 "nan.npy, row 17, column 1 (counted from 0): nan cannot be stored" convert nan.npy no.h5
printf 'a,b\n1,2\n3,four\n' >text.csv
expect 3 "text.csv, line 3, column 2 ('b'): 'four' is not a number" convert text.csv text.h5
printf '1,2\n3\n' >ragged.csv
expect 3 "ragged.csv, line 2 has 1 cells; the first has 2" convert ragged.csv ragged.h5
write_npy whole.npy
head -c 300 whole.npy >short.npy
expect 4 "short.npy is truncated" convert short.npy short.h5
[ ! -e short.h5 ] || { echo "FAILED: a failed conversion left a file"; failed=1; }

head -c $(($(stat -c %s data.h5) * 6 / 10)) data.h5 >truncated.h5
expect 4 "truncated.h5 cannot be opened: truncated file" embed $good input.file=truncated.h5
expect 4 "wrong-key.yaml is not an HDF5 file" embed $good input.file=wrong-key.yaml
expect 4 "/nowhere/out.h5 cannot be written: No such file or directory" embed $good output.file=/nowhere/out.h5
cp data.h5 there.h5
expect 4 "there.h5 exists already.*output.overwrite=yes" embed $good output.file=there.h5
expect 2 "output.file and input.file are the same file" embed $good output.file=data.h5 output.overwrite=yes
expect 2 "write output.picture=none for no picture" embed $good output.picture=no
expect 4 "/nowhere/out.png cannot be written" embed $good output.picture=/nowhere/out.png

# A folder that may not be written to; root may write anywhere, so a read-only file system stands in.
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked && chmod a-w locked
    expect 4 "locked/out.h5 cannot be written: Permission denied" embed $good output.file=locked/out.h5
elif [ -d /proc/self ]; then
    expect 4 "/proc/out.h5 cannot be written" embed $good output.file=/proc/out.h5
fi

# A failed run leaves the previous result as it was.
"$IKT_PROGRAM" embed $good output.measures=none >/dev/null || exit 1
before=$(cksum <out.h5)
expect 3 "nan.h5:/X, row 17" embed $good output.overwrite=yes input.file=nan.h5
[ "$before" = "$(cksum <out.h5)" ] || { echo "FAILED: a failed run changed the previous result"; failed=1; }
[ -z "$(ls -- *.part-* 2>/dev/null)" ] || { echo "FAILED: partial files are left"; failed=1; }

# Tiny and degenerate data are embedded, on more ranks than rows too.
for points in 2 3 5; do
    for ranks in 1 3 7; do
        "$IKT_PROGRAM" generate gaussian-mixture tiny.h5 --points $points --dimensions 1 --clusters 1 \
            --overwrite --quiet || exit 1
        timeout 60 $IKT_MPIRUN $ranks "$IKT_PROGRAM" embed input.file=tiny.h5 output.file=tiny-out.h5 \
            output.picture=tiny.png output.overwrite=yes layout.iterations=20 \
            layout.exaggeration_iterations=5 --quiet >/dev/null 2>err.txt ||
            { echo "FAILED: $points points on $ranks ranks"; cat err.txt; failed=1; }
    done
done

# A run that cannot fit is refused before it begins. (The address sanitizer needs address space without limit.)
if [ -z "${ASAN_OPTIONS:-}" ]; then
    "$IKT_PROGRAM" generate gaussian-mixture large.h5 --points 60000 --dimensions 2 --quiet || exit 1
    (
        ulimit -v 4000000
        timeout 60 "$IKT_PROGRAM" embed $good input.file=large.h5 output.overwrite=yes \
            affinity.support=dense >/dev/null 2>err.txt
    )
    if [ $? -ne 5 ] || ! grep -q "needs about .* MB more .* or affinity.support=sparse" err.txt; then
        echo "FAILED: a run larger than the memory limit is not refused"
        cat err.txt
        failed=1
    fi
fi

# A launcher of another MPI starts one rank where it announced several.
for variable in SLURM_NTASKS MV2_COMM_WORLD_SIZE; do
    if env $variable=4 timeout 20 "$IKT_PROGRAM" embed data.h5 output.file=alone.h5 2>err.txt >/dev/null; then
        echo "FAILED: singletons of a wrong launcher ($variable) are not noticed"
        failed=1
    else
        grep -q "$variable announces 4 tasks but this MPI sees a single rank" err.txt || failed=1
    fi
done
exit $failed
