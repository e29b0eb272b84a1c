#!/usr/bin/env bash
# What an output may be: no device, pipe, socket or folder is ever replaced by a file, for every verb and every
# output; what is written from front to back goes into a device or a pipe; a symbolic link stays, and what it
# names is replaced.
#
# Devices are nodes of the script's own in a temporary folder, never those of /dev: a fault that this test
# finds would take them away from every program of the machine.
. "$(dirname "${BASH_SOURCE[0]}")/../support/watch.sh"

kind() { stat -c '%F %t,%T' "$1"; }

# stays NAME KIND: what was there is what it was.
stays() {
    [ "$(kind "$1" 2>/dev/null)" = "$2" ] || broken_after "$1 is now '$(kind "$1" 2>&1)', not '$2'"
}

broken_after() {
    [ "$sound" -eq 0 ] || held=$((held - 1))
    broken "$1: $case"
}

mkdir nodes
nodes=()
if [ "$(id -u)" -eq 0 ] && mknod nodes/null c 1 3 && mknod nodes/full c 1 7 && echo >nodes/null; then
    nodes+=(null full)
else
    echo "skipped: character devices (only root may make them, and not on every file system)"
fi 2>/dev/null
mkfifo nodes/pipe
perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1)' nodes/socket && nodes+=(socket)
nodes+=(pipe)
declare -A was word=([null]="a character device" [full]="a character device" [pipe]="a pipe" [socket]="a socket")
for node in "${nodes[@]}"; do was[$node]=$(kind "nodes/$node"); done

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 300 --dimensions 4 --clusters 3 --quiet || exit 1
for row in 1 2 3; do echo 1,2,3,4; done >rows.csv
embed="embed input.file=data.h5 isolation.psi=8 layout.iterations=5 layout.exaggeration_iterations=2"
embed="$embed output.measures=none output.overwrite=yes --quiet"
"$IKT_PROGRAM" $embed output.file=run.h5 output.model=model.h5 >/dev/null || exit 1
cp run.h5 other.h5

# Files that are read again, or written at several places at once.
while read -r arguments; do
    for node in "${nodes[@]}"; do
        for ranks in 1 3; do
            [ "$ranks" -eq 1 ] || [ "$node" = "${nodes[0]}" ] || continue
            try 4 "nodes/$node is ${word[$node]}, which is never replaced" "$ranks" ${arguments//NODE/nodes/$node}
            stays "nodes/$node" "${was[$node]}"
        done
    done
done <<END
$embed output.file=NODE
$embed output.file=out.h5 output.model=NODE
$embed output.file=out.h5 output.graph=NODE
transform model.h5 data.h5 NODE --overwrite --quiet
align run.h5 other.h5 NODE --overwrite --quiet
convert data.h5 NODE --overwrite --quiet
convert rows.csv NODE --overwrite --quiet
generate gaussian-mixture NODE --points 30 --overwrite --quiet
export run.h5 NODE --format vtkhdf --overwrite --quiet
plan --machine NODE --calibrate --quiet
END

# Files that are written from front to back, into what takes everything and into what takes nothing.
front_to_back="$embed output.file=out.h5 output.picture=NODE
plot run.h5 NODE --quiet
transform model.h5 data.h5 out.h5 --picture NODE --overwrite --quiet
evaluate run.h5 --input data.h5 --curve NODE --quiet
export run.h5 NODE --format csv --quiet
export run.h5 NODE --format npy --quiet
view run.h5 NODE --quiet"
while read -r arguments; do
    for ranks in 1 3; do
        overwrite=--overwrite
        case $ranks$arguments in 1* | *embed* | *transform*) overwrite= ;; esac
        [ -z "${was[null]:-}" ] || {
            try 0 "" "$ranks" ${arguments//NODE/nodes/null} $overwrite
            stays nodes/null "${was[null]}"
            try 4 "nodes/full cannot be written: No space left" "$ranks" ${arguments//NODE/nodes/full} $overwrite
            stays nodes/full "${was[full]}"
        }
    done
    [ -z "${was[socket]:-}" ] || {
        try 4 "nodes/socket is a socket, which is never replaced" 1 ${arguments//NODE/nodes/socket}
        stays nodes/socket "${was[socket]}"
    }
done <<<"$front_to_back"

# The bytes that go through a pipe are those of the file, on any number of ranks.
"$IKT_PROGRAM" export run.h5 run.csv --quiet && "$IKT_PROGRAM" export run.h5 run.npy --quiet &&
    "$IKT_PROGRAM" plot run.h5 run.png --title run --quiet && "$IKT_PROGRAM" view run.h5 run.html --title run --quiet || exit 1
ln -s /proc/self/fd/1 standard # what /dev/stdout is
for ranks in 1 3; do
    while read -r file arguments; do
        cat nodes/pipe >got &
        reader=$!
        try 0 "" "$ranks" ${arguments//NODE/nodes/pipe}
        wait_until 20 test -s got
        kill $reader 2>/dev/null
        wait $reader 2>/dev/null
        cmp -s got "$file" || broken_after "$file came out of the pipe changed"
        stays nodes/pipe "${was[pipe]}"
    done <<'END'
run.csv export run.h5 NODE --format csv --quiet
run.npy export run.h5 NODE --format npy --quiet
run.png plot run.h5 NODE --title run --quiet
run.html view run.h5 NODE --title run --quiet
END
    # Nobody opens the pipe, or who opens it does not read: the run waits, and ends when it is asked to.
    launcher "$ranks"
    for reads in no never; do
        rm -f out.h5
        reader=
        [ $reads = no ] || { perl -e 'open F, "<", $ARGV[0]; fcntl F, 1031, 4096; sleep 100' nodes/pipe & reader=$!; }
        "${launch[@]}" "$IKT_PROGRAM" $embed output.file=out.h5 output.picture=nodes/pipe >out.txt 2>err.txt &
        waiting=$!
        wait_until 30 test -s out.h5 || fail "no result before the picture"
        sleep 0.5
        kill -TERM $waiting
        for _ in {1..100}; do kill -0 $waiting 2>/dev/null || break; sleep 0.1; done
        kill -KILL $waiting 2>/dev/null && fail "a run that waits for the reader of a pipe ($reads) heeds no SIGTERM"
        wait $waiting
        code=$?
        [ -z "$reader" ] || { kill $reader && wait $reader; } 2>/dev/null
        [ $code -eq 4 ] || [ "$ranks" -gt 1 ] || fail "exit code $code after SIGTERM before a pipe ($reads)"
        [ "$ranks" -gt 1 ] || grep -q "nobody reads the pipe nodes/pipe; the result is written, draw the picture with .iktsne plot" err.txt || fail "no reason before a pipe ($reads)"
    done
    echo mine >nodes/pipe.lock # of the user: unfinished files alone have locks
    cat nodes/pipe >got &
    reader=$!
    try 0 "" "$ranks" $embed output.file=out.h5 output.picture=nodes/pipe
    kill $reader 2>/dev/null
    wait $reader 2>/dev/null
    [ -e nodes/pipe.lock ] || broken_after "pipe.lock beside a pipe is removed"
    rm -f nodes/pipe.lock
    try 0 "" "$ranks" export run.h5 standard --format csv --quiet
    cmp -s out.txt run.csv || broken_after "run.csv came out of the standard output changed"
    [ -L standard ] || broken_after "the link to the standard output is replaced"
done
# Closed streams: nothing is written there, and what is printed goes into no file.
around=(bash -c 'exec "$0" "$@" >&-')
try 4 "/dev/stdout cannot be written: it has been closed" 1 export run.h5 /dev/stdout --format csv
try 4 "/dev/stdout cannot be written: it has been closed" 1 plot run.h5 /dev/stdout
try 4 "standard output cannot be written" 1 info run.h5
around=(bash -c 'exec "$0" "$@" <&- >&- 2>&-')
"${around[@]}" "$IKT_PROGRAM" ${embed% --quiet} output.file=silent.h5 --verbose
code=$?
around=()
[ $code -eq 4 ] || fail "exit code $code with closed streams" # its report did not arrive
"$IKT_PROGRAM" info silent.h5 >out.txt 2>err.txt && [ "$(tail -c 5000 silent.h5 | grep -ac 'embedding hash\|iktsne: ')" = 0 ] ||
    fail "what is printed goes into a file"
mkdir dd
for name in x.xyz .hidden dd/.hid q.PNG q.Svg none; do
    "$IKT_PROGRAM" plot run.h5 $name >out.txt 2>err.txt || fail "no picture $name"
    [ "$(grep -c "$name is written as PNG: its name ends in none of" err.txt)" = $([ $name = x.xyz ] && echo 1 || echo 0) ] ||
        fail "an ending that says nothing: $name"
done
rm -f none
"$IKT_PROGRAM" evaluate run.h5 --input data.h5 --curve none >out.txt 2>err.txt || fail "no curve: $(cat err.txt)"
"$IKT_PROGRAM" $embed output.file=out.h5 output.model=none output.graph=none output.picture=none >out.txt 2>err.txt || fail "no files: $(cat err.txt)"
[ ! -e none ] || fail "a file of the name none"
try 2 "run.checkpoint is empty: name a folder, or give none or auto" 1 $embed output.file=out.h5 run.checkpoint=
try 4 "standard is the file that the program itself prints to, which is never replaced" 1 $embed output.file=standard
[ -L standard ] || broken_after "the link to the standard output is replaced"

# Links.
mkdir far
inode() { stat -c %i "$1"; }
ln -s loop.a loop.b
ln -s loop.b loop.a
ln -s far/missing/out.h5 lost
for ranks in 1 3; do
    rm -f far/* link hop
    ln -s far/out.h5 hop
    ln -s "$PWD/hop" link
    try 0 "" "$ranks" ${embed/output.overwrite=yes/} output.file=link
    [ -f far/out.h5 ] || broken_after "what a dangling link names was not made"
    before=$(inode far/out.h5)
    try 4 "link exists already" "$ranks" ${embed/output.overwrite=yes/} output.file=link
    try 0 "" "$ranks" $embed output.file=link
    [ "$before" != "$(inode far/out.h5)" ] || broken_after "what the link names was not replaced"
    try 0 "" "$ranks" export run.h5 link --format csv --overwrite --quiet
    cmp -s far/out.h5 run.csv || broken_after "what the link names was not replaced by the export"
    try 0 "" "$ranks" plot run.h5 link --overwrite --quiet
    try 0 "" "$ranks" generate gaussian-mixture link --points 30 --overwrite --quiet
    { [ -L link ] && [ -L hop ] && [ "$(ls far)" = out.h5 ]; } || broken_after "a link was replaced"
    for verb in "$embed output.file=NODE" "plot run.h5 NODE" "export run.h5 NODE --format csv"; do
        try 4 "loop.a cannot be written: its symbolic links form a loop" "$ranks" ${verb//NODE/loop.a}
        try 4 "lost cannot be written: No such file or directory" "$ranks" ${verb//NODE/lost}
    done
done

# A study: its folder, its table, the pages of its report.
cat >study.yaml <<'Y'
data: [{name: blobs, generate: gaussian-mixture, options: {points: 60, dimensions: 4, clusters: 3}}]
settings: {affinity.support: dense, layout.iterations: 5}
methods: [{name: Isolation, vary: {isolation.psi: [4]}}]
measures: [Davies-Bouldin]
Y
for node in "${nodes[@]}"; do
    try 4 "" 1 study study.yaml --output "nodes/$node" --quiet
    stays "nodes/$node" "${was[$node]}"
    mkdir -p "study.$node/report"
    cp -a "nodes/$node" "study.$node/results.csv"
    try 4 "results.csv" 1 study study.yaml --output "study.$node" --quiet
    stays "study.$node/results.csv" "${was[$node]}"
    rm "study.$node/results.csv"
    cp -a "nodes/$node" "study.$node/report/report.html"
    try 4 "report.html is ${word[$node]}, which is never replaced" 1 study study.yaml --output "study.$node" --quiet
    stays "study.$node/report/report.html" "${was[$node]}"
    try "0 4" "" 1 $embed output.file=out.h5 run.checkpoint="nodes/$node" run.checkpoint_every=0.001
    stays "nodes/$node" "${was[$node]}"
done
# A model takes the room of what it holds: of 50 rows of 20,000 bytes not the 3.2 GB of 20,000 components.
head -c 1000000 /dev/zero | tr '\0' 'a' >wide.raw
printf 'some other bytes' | dd of=wide.raw conv=notrunc bs=1 seek=70000 2>/dev/null
"$IKT_PROGRAM" convert wide.raw wide.h5 --raw uint8 --columns 20000 >out.txt 2>err.txt &&
    (ulimit -f 8192 && "$IKT_PROGRAM" embed input.file=wide.h5 output.file=map.h5 output.model=wide-model.h5 \
        isolation.psi=4 layout.init=random layout.iterations=5 layout.exaggeration_iterations=2 --quiet) \
        >out.txt 2>err.txt || fail "a model of wide rows"

[ -z "$(find . -name '*.part-*')" ] || fail "temporary files are left: $(find . -name '*.part-*')"
report
