#!/usr/bin/env bash
# Disks that are full or read-only, limits of file sizes, folders instead of files, files that may not be
# read, on one rank and on three: one sentence, exit code 4, nothing half under the final name, a previous
# result as it was, no temporary left.
#
# A small disk is a tmpfs in a mount namespace of the script's own, which root may make. Where that is not
# permitted, a limit of file sizes (ulimit -f) stands in for it.
if [ -z "${IKT_OWN_MOUNTS:-}" ] && unshare -m true 2>/dev/null; then
    IKT_OWN_MOUNTS=yes exec unshare -m bash "$0" "$@"
fi
. "$(dirname "${BASH_SOURCE[0]}")/../support/watch.sh"
mkdir full
can_mount=no
if [ -n "${IKT_OWN_MOUNTS:-}" ] && mount -t tmpfs -o size=1m none full 2>/dev/null; then can_mount=yes; fi

# disk OPTIONS: an empty disk at full/.
disk() {
    umount -l full 2>/dev/null
    mount -t tmpfs -o "$1" none full || exit 1
}

# Nothing but what is named here is in full/.
holds() {
    [ "$(ls full | tr '\n' ' ')" = "$*${1:+ }" ] || broken_after "full/ holds $(ls full | tr '\n' ' '), not '$*'"
}

# A check that belongs to the last case.
broken_after() {
    [ "$sound" -eq 0 ] || held=$((held - 1))
    broken "$1: $case"
}

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 3000 --dimensions 8 --clusters 3 --quiet || exit 1
for row in 1 2 3; do echo 1,2,3,4; done >rows.csv
embed="embed input.file=data.h5 isolation.psi=16 layout.iterations=5 layout.exaggeration_iterations=2
    output.measures=none layout.repulsion=fft --quiet"
"$IKT_PROGRAM" $embed output.file=run.h5 output.model=model.h5 >/dev/null || exit 1
cat >study.yaml <<'Y'
data: [{name: blobs, generate: gaussian-mixture, options: {points: 90, dimensions: 4, clusters: 3}}]
settings: {affinity.support: dense, layout.iterations: 10}
methods: [{name: Isolation, vary: {isolation.psi: [4, 8]}}]
measures: [Davies-Bouldin]
Y
no_room='cannot be written: there is no room for the .* MB that it may need: No space left'

if [ "$can_mount" = yes ]; then
    for ranks in 1 3; do
        # Nothing fits.
        disk size=64k
        try 4 "full/out.h5 $no_room" "$ranks" $embed output.file=full/out.h5
        holds
        try 4 "full/model.h5 $no_room" "$ranks" $embed output.file=out.h5 output.overwrite=yes output.model=full/model.h5
        holds
        try 4 "full/new.h5 $no_room" "$ranks" generate gaussian-mixture full/new.h5 --points 3000 --dimensions 8
        try 4 "full/new.h5 $no_room" "$ranks" convert data.h5 full/new.h5
        try 4 "full/new.h5 $no_room" "$ranks" convert rows.csv full/new.h5
        try 4 "full/new.h5 $no_room" "$ranks" transform model.h5 data.h5 full/new.h5
        holds
        # Texts and pictures are written by one rank and need no more than they take.
        disk size=4k
        head -c 4096 /dev/zero >full/filler
        try 4 "full/run.png cannot be written: No space left" "$ranks" plot run.h5 full/run.png
        try 4 "full/run.png cannot be written: No space left" "$ranks" $embed output.file=beside.h5 output.overwrite=yes output.picture=full/run.png
        [ -s beside.h5 ] || broken_after "a picture that did not fit took the result with it"
        try 4 "full/curve.csv cannot be written: No space left" "$ranks" evaluate run.h5 --input data.h5 --curve full/curve.csv
        holds filler
        try 4 "No space left" "$ranks" study study.yaml --output full/study
    done

    # A previous result on a disk that has become full.
    disk size=2m
    try 0 "" 1 $embed output.file=full/out.h5 output.picture=full/out.png
    head -c 2m /dev/zero >full/filler 2>/dev/null
    before=$(cat full/out.h5 full/out.png | cksum)
    for ranks in 1 3; do
        try 4 "full/out.h5 $no_room" "$ranks" $embed output.file=full/out.h5 output.overwrite=yes run.seed=2
        try 4 "full/out.png cannot be written: No space left" "$ranks" plot full/out.h5 full/out.png --overwrite
        holds filler out.h5 out.png
        [ "$before" = "$(cat full/out.h5 full/out.png | cksum)" ] || broken_after "a previous result has changed"
    done

    # A study whose disk fills: what is recorded stays whole lines, and a later study goes on from there.
    disk size=1m
    try 0 "" 1 study study.yaml --output full/study --quiet
    head -c 1m /dev/zero >full/filler 2>/dev/null
    head -1 full/study/results.csv >header.csv
    sed 's/\[4, 8\]/[4, 8, 12, 16, 20, 24]/' study.yaml >more.yaml
    try 4 "full/study/.* cannot be written: .*No space left" 1 study more.yaml --output full/study
    [ -z "$(tail -c 1 full/study/results.csv)" ] || broken_after "half a line is left in results.csv"
    rm full/filler
    try 0 "" 3 study more.yaml --output full/study --quiet
    [ "$(wc -l <full/study/results.csv)" -eq 7 ] || broken_after "not 6 results after the disk had room again"

    # A disk that can only be read.
    disk size=1m
    cp data.h5 full/data.h5
    mount -o remount,ro full
    for ranks in 1 3; do
        try 4 "full/out.h5 cannot be written: Read-only file system" "$ranks" $embed input.file=full/data.h5 output.file=full/out.h5
        try 4 "full/out.png cannot be written: Read-only file system" "$ranks" $embed output.file=out.h5 output.overwrite=yes output.picture=full/out.png
        try 4 "full/data.h5 cannot be written: Read-only file system" "$ranks" generate gaussian-mixture full/data.h5 --points 9 --overwrite
        try 4 "Read-only file system" "$ranks" study study.yaml --output full/study
    done
    try 0 "" 3 $embed input.file=full/data.h5 output.file=out.h5 output.overwrite=yes

    # A disk that promises room and does not keep it: met while writing. The address sanitizer must be
    # the first library to be loaded.
    if [ -z "${ASAN_OPTIONS:-}" ]; then
        around=(env LD_PRELOAD="$(dirname "$IKT_PROGRAM")/tests/libno_room.so")
        for size in 4 20 36 52 68; do
            disk size=${size}k
            try 4 "" 1 $embed output.file=full/out.h5
            holds
        done
        # One rank of two fails while HDF5 keeps the other waiting: the failed one gives up for both.
        disk size=4k
        try 4 "cannot be" 2 $embed output.file=full/out.h5
        holds
        around=()
    else
        echo "skipped: a disk that does not keep its promise (not with the address sanitizer)"
    fi
    umount -l full
else
    echo "skipped: full and read-only disks (no mount namespace may be made here); limits of file sizes stand in"
fi

# A limit of file sizes, which kills a program that does not ignore the signal. It is set for the program
# only: the launcher has files of its own.
launched=yes
around=(bash -c 'ulimit -f 64; exec "$0" "$@"')
no_size='cannot be written: there is no room for the .* MB that it may need: File too large'
for ranks in 1 3; do
    try 4 "small.h5 $no_size" "$ranks" $embed output.file=small.h5
    try 4 "small.h5 $no_size" "$ranks" generate gaussian-mixture small.h5 --points 3000 --dimensions 8
    try 4 "small.h5 $no_size" "$ranks" convert data.h5 small.h5
    try 4 "small.png cannot be written: File too large" "$ranks" plot run.h5 small.png --width 4000
    ls -d small* 2>/dev/null && broken_after "something is left"
done
launched=no
around=()

# Names that are no files.
mkdir folder
for ranks in 1 3; do
    try 4 "folder is a folder; name a file" "$ranks" $embed output.file=folder output.overwrite=yes
    try 4 "folder/ is a folder; name a file" "$ranks" $embed output.file=folder/ output.overwrite=yes
    try 4 "folder is a folder; a file is needed" "$ranks" $embed input.file=folder output.file=out.h5 output.overwrite=yes
    try 4 "missing/out.h5 cannot be written: No such file or directory" "$ranks" $embed output.file=missing/out.h5
    try 4 "data.h5/out.h5 cannot be written: Not a directory" "$ranks" $embed output.file=data.h5/out.h5
done
[ -z "$(ls -A folder)" ] || broken_after "something is left in the folder"

# A file that may not be read. Root may read every file; without the capability to, its owner's
# permissions count for it as for anybody.
cp data.h5 secret.h5
chmod 000 secret.h5
[ "$(id -u)" -ne 0 ] || around=(setpriv --bounding-set=-dac_override,-dac_read_search)
if ! "${around[@]}" cat secret.h5 >out.txt 2>/dev/null && "${around[@]}" true 2>err.txt; then
    for ranks in 1 3; do
        try 4 "secret.h5 cannot be read: Permission denied" "$ranks" $embed input.file=secret.h5 output.file=out.h5 output.overwrite=yes
        try 4 "secret.h5 cannot be read: Permission denied" "$ranks" info secret.h5
    done
else
    echo "skipped: files that may not be read (no way to lay down root's permissions here)"
fi
around=()
[ -z "$(ls -- *.part-* 2>/dev/null)" ] || fail "temporary files are left: $(ls -- *.part-*)"
report
