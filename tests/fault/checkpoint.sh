#!/usr/bin/env bash
# Checkpoints: runs that are stopped at every place where they can be, and go on with other ranks, give
# the bits of a run that was never stopped; signals; --extend; checkpoints that are foreign or damaged.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checkpoints.sh"

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 900 --dimensions 6 --clusters 5 --seed 2 --quiet || exit 1
"$IKT_PROGRAM" generate gaussian-mixture other.h5 --points 900 --dimensions 6 --clusters 5 --seed 3 --quiet || exit 1
"$IKT_PROGRAM" generate gaussian-mixture wide.h5 --points 900 --dimensions 300 --clusters 5 --seed 2 --quiet || exit 1
short=(input.file=data.h5 output.measures=none isolation.psi=16 affinity.neighbours=20
    layout.iterations=3 layout.report_every=2 --quiet)

# chain NAME ARGUMENTS...: one run in one go, and one of as many as its stages and steps ask for. IKT_CHAINS=3 tries
# every third one; false where it is left out.
ranks=(1 2 3 4 7 5)
named=0 chains=0 starts=0
chain() {
    local name=$1 start=0
    shift
    named=$((named + 1))
    [ $(((named - 1) % ${IKT_CHAINS:-1})) -eq 0 ] || return 1
    embed 2 "${short[@]}" "$@" output.file=whole.h5 output.overwrite=yes run.checkpoint=none
    [ $code -eq 0 ] || fail "$name: exit code $code"
    local whole
    whole=$(hash_of)
    code=75
    while [ $code -eq 75 ] && [ $start -lt 40 ]; do
        embed "${ranks[start % 6]}" "${short[@]}" "$@" output.file=parts.h5 output.overwrite=yes run.max_time=0
        start=$((start + 1))
    done
    [ $code -eq 0 ] || fail "$name: exit code $code after $start starts"
    [ "$(hash_of)" = "$whole" ] || fail "$name: hash $(hash_of) in $start starts, $whole in one"
    [ $start -gt 3 ] || fail "$name: only $start starts"
    [ ! -e parts.h5.checkpoint ] || fail "$name: the checkpoint was left"
    same_result whole.h5 parts.h5
    chains=$((chains + 1)) starts=$((starts + start))
    echo "$name: $start starts, hash $whole"
}
chain "near cells" affinity.search=approximate affinity.refinements=2
chain "near centres" isolation.psi=400 isolation.search=approximate isolation.candidates=100 affinity.search=approximate
chain "the whole kernel, near centres" affinity.neighbours=auto affinity.support=whole whole.partitionings=8 isolation.psi=200 isolation.search=approximate isolation.candidates=100
chain "all pairs" affinity.search=exact layout.repulsion=fft
chain "distances" isolation.psi=auto affinity.kind=gaussian gaussian.perplexity=6 affinity.search=approximate
chain "passes of distances" isolation.psi=auto affinity.kind=knn affinity.search=approximate affinity.passes=4 affinity.candidates=30
short[0]=input.file=wide.h5
chain "passes of bytes" isolation.psi=auto affinity.kind=knn affinity.search=approximate affinity.candidates=30
short[0]=input.file=data.h5
chain "dense" affinity.neighbours=auto affinity.support=dense
chain "the whole kernel" affinity.neighbours=auto affinity.support=whole whole.partitionings=8 whole.last_iterations=1
chain "the whole kernel of ordered rows" affinity.neighbours=auto affinity.support=whole affinity.search=approximate layout.init=landmark layout.landmarks=50 whole.partitionings=7
chain "trees" isolation.form=forest affinity.search=approximate
chain "landmarks" layout.init=landmark layout.landmarks=50 affinity.search=approximate
chain "landmarks by distance" layout.init=landmark layout.landmarks=50 isolation.psi=auto affinity.kind=knn
chain "equal weights" affinity.search=approximate isolation.psi=auto affinity.kind=knn
chain "volume" layout.dimensions=3 layout.repulsion=barnes_hut preprocess.normalise=zscore preprocess.pca=4
chain "two divergences" layout.objective=nerv layout.preset=matlab
place() { # NAME: rows are placed by the model of such a run
    "$IKT_PROGRAM" transform model.h5 data.h5 placed.h5 --overwrite --quiet >/dev/null 2>err.txt || fail "$1 of a run in parts"
    rm model.h5
}
chain "a model" affinity.search=approximate output.model=model.h5 && place "the model"
chain "a model of rows" affinity.search=approximate isolation.psi=auto affinity.kind=knn layout.objective=trimap trimap.triplets=pool output.model=model.h5 &&
    place "the model of rows"
echo "chains: $chains tried, $starts starts"

# Equal weights are one number of the file, others an array of it; what goes on from either is the same.
for kind in knn adaptive; do
    equal=("${short[@]}" isolation.psi=auto affinity.kind=$kind output.file=equal.h5 output.overwrite=yes)
    embed 2 "${equal[@]}" run.checkpoint=none
    whole=$(hash_of)
    embed 3 "${equal[@]}" run.checkpoint_keep=yes run.checkpoint_every=0.00001
    h5ls equal.h5.checkpoint/probabilities.h5 >files.txt
    grep -q '^row ' files.txt || fail "$kind: $(cat files.txt)"
    [ "$(grep -c '^weight ' files.txt)" -eq $([ $kind = knn ] && echo 0 || echo 1) ] || fail "weights of $kind: $(cat files.txt)"
    rm -f equal.h5.checkpoint/loop*.h5
    embed 1 "${equal[@]/--quiet/run.log=text}"
    grep -q '^iktsne: P: goes on from equal.h5.checkpoint' err.txt || fail "$kind: the lists were made again"
    [ "$(hash_of)" = "$whole" ] || fail "$kind from its lists: $(hash_of), not $whole"
    rm -rf equal.h5.checkpoint
done

# Automatic stop looks back at what was before.
auto=("${short[@]}" layout.stop=auto layout.iterations=400)
embed 1 "${auto[@]}" output.file=whole.h5 output.overwrite=yes
whole=$(hash_of)
code=75
for ((start = 0; code == 75 && start < 20; start++)); do
    embed $((start % 3 + 1)) "${auto[@]}" output.file=auto.h5 run.checkpoint_every=0.00001 run.max_time=$((start < 6 ? 0 : 5))
done
[ $code -eq 0 ] && [ "$(hash_of)" = "$whole" ] || fail "automatic stop: exit code $code, $(hash_of), $whole"
same_result whole.h5 auto.h5

# --extend: the bits of a run that was longer from the beginning, also in parts and on other ranks.
embed 2 "${short[@]}" output.file=long.h5 layout.iterations=30 && long=$(hash_of)
embed 1 "${short[@]}" output.file=extended.h5 layout.iterations=10
embed 3 "${short[@]}" output.file=extended.h5 layout.iterations=10 --extend 20
[ $code -eq 0 ] && [ "$(hash_of)" = "$long" ] || fail "--extend: $(hash_of) is not $long"
same_result long.h5 extended.h5
embed 1 "${short[@]}" output.file=extended.h5 layout.iterations=10 output.overwrite=yes
before=$(cksum <extended.h5)
embed 2 "${short[@]}" output.file=extended.h5 --extend 20 run.max_time=0
[ $code -eq 75 ] && [ "$before" = "$(cksum <extended.h5)" ] || fail "a stopped --extend changed the result"
for ((start = 0; code == 75 && start < 30; start++)); do
    embed 3 "${short[@]}" output.file=extended.h5 --extend 20 run.max_time=0
done
[ $code -eq 0 ] && [ "$(hash_of)" = "$long" ] || fail "--extend in parts: $(hash_of) is not $long"
embed 1 "${short[@]}" output.file=nostate.h5 output.state=no

# refused CODE WORDS ARGUMENTS...
refused() {
    local expected=$1 words=$2
    shift 2
    embed 2 "${short[@]}" "$@"
    [ $code -eq "$expected" ] || fail "exit code $code instead of $expected: $*"
    grep -q "^iktsne: error: .*$words" err.txt || fail "no '$words': $*"
    [ "$(grep -c '^iktsne: error' err.txt)" -eq 1 ] || fail "more than one message: $*"
}
refused 2 "nostate.h5 holds no state to go on from" output.file=nostate.h5 --extend 5
refused 2 "layout.exaggeration is auto there and 3 here" output.file=extended.h5 --extend 5 layout.exaggeration=3
refused 2 "extended.h5 is of other data" output.file=extended.h5 --extend 5 input.file=other.h5
refused 4 "new.h5 cannot be read" output.file=new.h5 --extend 5

# A checkpoint of another run.
embed 2 "${short[@]}" output.file=mine.h5 run.max_time=0
[ $code -eq 75 ] || fail "not stopped"
grep -q "stopped by the end of its time in the stage 'codes'; mine.h5.checkpoint holds" err.txt || fail "what was stopped"
"$IKT_PROGRAM" info mine.h5.checkpoint/codes.h5 >out.txt 2>err.txt && grep -q "checkpoint of the stage 'codes'" out.txt || fail "info of a checkpoint"
refused 2 "mine.h5.checkpoint/codes.h5 is of a run with other settings: isolation.psi is 16 there and 32 here" \
    output.file=mine.h5 isolation.psi=32
refused 2 "mine.h5.checkpoint/codes.h5 is of other data" output.file=mine.h5 input.file=other.h5
refused 2 "codes.h5 is of a run with other settings: run.seed is 1 there and 2 here" output.file=mine.h5 run.seed=2
refused 2 "run.max_time: 'soon' is no time" output.file=mine.h5 run.max_time=soon
refused 2 "run.max_time needs a checkpoint" output.file=mine.h5 run.max_time=10 run.checkpoint=none
refused 4 "the folder /nowhere/ck for checkpoints cannot be made" output.file=mine.h5 run.checkpoint=/nowhere/ck
embed 2 "${short[@]}" output.file=mine.h5 run.seed=2 run.resume=no
[ $code -eq 0 ] && [ ! -e mine.h5.checkpoint ] || fail "run.resume=no"
# A checkpoint of another instruction set, whose bits may differ: refused in the run and in its rehearsal.
embed 1 "${short[@]}" output.file=isa.h5 run.max_time=0
isa=$("$IKT_PROGRAM" info isa.h5.checkpoint/codes.h5 --json | sed -n 's/.*"instruction_set": "\(.*\)".*/\1/p')
[ -n "$isa" ] || fail "info does not name the instruction set"
"$IKT_PROGRAM" info isa.h5.checkpoint/codes.h5 | grep '^  build: commit .*, sources [0-9a-f]\{16\}, ' >/dev/null || fail "info does not name the build"
if [ "$isa" != portable ]; then
    export IKTSNE_ISA=portable
    refused 2 "codes.h5 was made with the instruction set $isa, and this run uses portable" output.file=isa.h5
    refused 2 "codes.h5 was made with the instruction set $isa" output.file=isa.h5 --dry-run
    unset IKTSNE_ISA
fi
# run.resume=no removes what is this program's, and nothing else.
echo notes >isa.h5.checkpoint/notes.txt
echo mine >isa.h5.checkpoint/mine.h5.part-12
touch "isa.h5.checkpoint/loop.h5.part-$(head -c 8 /proc/sys/kernel/random/boot_id)-00099999"
embed 1 "${short[@]}" output.file=isa.h5 run.resume=no
[ $code -eq 0 ] && [ "$(ls isa.h5.checkpoint | tr '\n' ' ')" = "mine.h5.part-12 notes.txt " ] ||
    fail "run.resume=no: exit code $code, left: $(ls isa.h5.checkpoint)"
mkdir foreign && cp data.h5 foreign/codes.h5 && echo loop >foreign/loop.previous.h5 && cksum foreign/* >before.txt
for resume in yes no; do
    refused 4 "foreign/codes.h5 is no checkpoint of iktsne" output.file=new.h5 run.checkpoint=foreign run.resume=$resume
done
refused 4 "foreign/codes.h5 is no checkpoint of iktsne" output.file=new.h5 run.checkpoint=foreign --dry-run
cksum foreign/* | cmp -s - before.txt || fail "files of others were changed"
rm -r foreign isa.h5.checkpoint
# Where it lies and how long it goes on do not make a run another.
embed 2 "${short[@]}" output.file=mine.h5 output.overwrite=yes run.max_time=0 run.checkpoint=there
mv data.h5 moved.h5
embed 3 "${short[@]}" input.file=moved.h5 output.file=mine2.h5 run.checkpoint=there layout.iterations=5
[ $code -eq 0 ] && [ ! -e there ] || fail "a checkpoint that was moved"
mv moved.h5 data.h5

# Damage: the older file is used, then those of stages before, then the data; the result is the same.
many=("${short[@]}" affinity.search=approximate layout.iterations=300 run.checkpoint_keep=yes)
embed 1 "${many[@]}" output.file=kept.h5 run.checkpoint_every=0.00001
[ $code -eq 0 ] || fail "exit code $code"
whole=$(hash_of)
grep -q SIGUSR1 err.txt && fail "checkpoints of the clock are said to be those of a signal"
ls kept.h5.checkpoint >files.txt
grep -q '^loop.previous.h5$' files.txt && grep -q '^probabilities.h5$' files.txt || fail "no two generations: $(cat files.txt)"
flip() { # FILE: turns the bits of a byte in its middle
    local at=$(($(stat -c %s "$1") / 2)) byte
    byte=$(od -An -tu1 -j $at -N1 "$1")
    printf "\\x$(printf %02x $((255 - byte)))" | dd of="$1" bs=1 seek=$at conv=notrunc status=none
}
damaged() { # WARNINGS: a run that meets so many damaged files
    embed 2 "${many[@]}" output.file=kept.h5 output.overwrite=yes
    [ $code -eq 0 ] && [ "$(hash_of)" = "$whole" ] || fail "after damage: exit code $code, $(hash_of), not $whole"
    [ "$(grep -c 'a checkpoint cannot be used' err.txt)" -eq "$1" ] || fail "not $1 warnings"
}
"$IKT_PROGRAM" info kept.h5.checkpoint/loop.h5 >out.txt 2>err.txt && grep -q "'loop', [0-9]* iterations done" out.txt || fail "info of the loop's checkpoint"
damaged 0
flip kept.h5.checkpoint/loop.h5 && damaged 1 && [ ! -e kept.h5.checkpoint/loop.h5 ] || fail "a damaged file stays"
head -c 1000 kept.h5.checkpoint/loop.previous.h5 >cut && mv cut kept.h5.checkpoint/loop.previous.h5 && damaged 1
flip kept.h5.checkpoint/probabilities.h5 && damaged 1
rm -r kept.h5.checkpoint
damaged 0

# Signals, to one rank or to all; the launcher passes them on, or each process gets them.
long=(input.file=data.h5 output.measures=none isolation.psi=16 layout.iterations=2000000)
begin() { # RANKS ARGUMENTS...: starts in the background, waits until the loop runs
    launch "$1"
    shift
    : >err.txt # what an earlier run has said must not be taken for this one's
    "${launcher[@]}" "$IKT_PROGRAM" embed "$@" >out.txt 2>err.txt &
    started=$!
    wait_until 20 grep -q 'tsne in 2 dimensions' err.txt
    ranks_of "output.file=$file "
}
finish() { # leaves the exit code in `code`
    wait $started
    code=$?
}
# A signal that comes to the ranks one after the other, and to some twice, is one request.
saved() { [ "$(grep -c 'SIGUSR1: a checkpoint was written' err.txt)" -ge "$1" ]; }
file=once.h5
begin 3 "${long[@]}" output.file=$file run.seed=9
kill -USR1 "${pids[0]}"
wait_until 10 saved 1 || fail "SIGUSR1 to one of three ranks"
kill -USR1 "${pids[1]}"
sleep 0.3
kill -USR1 "${pids[@]}"
sleep 2
grep -q 'SIGUSR1 came within 2 seconds after a checkpoint' err.txt || fail "a SIGUSR1 without a word"
saved 2 && fail "one SIGUSR1 wrote several checkpoints: $(grep -c SIGUSR1 err.txt)"
sleep 1.5
kill -USR1 "${pids[2]}"
wait_until 10 saved 2 || fail "a later SIGUSR1 is not answered"
kill -TERM "${pids[@]}"
finish
signals=0
for ranks in 1 3; do
    for signal in TERM USR2 INT; do
        file=sig-$ranks-$signal.h5
        begin $ranks "${long[@]}" output.file=$file run.seed=9
        [ ${#pids[@]} -eq $ranks ] || fail "${#pids[@]} processes instead of $ranks"
        kill -USR1 "${pids[@]}"
        wait_until 10 [ -e $file.checkpoint/loop.h5 ] || fail "SIGUSR1: no checkpoint on $ranks ranks"
        wait_until 10 grep -q "^iktsne: SIGUSR1: a checkpoint was written in the stage 'layout' at iteration [1-9][0-9]*, $file.checkpoint/loop.h5; the run goes on" err.txt ||
            fail "SIGUSR1: the log does not say which checkpoint was written"
        kill -0 "${pids[0]}" 2>/dev/null || fail "SIGUSR1 ended the run"
        kill -$signal "${pids[@]}" # all of them, as schedulers do
        kill -$signal "${pids[0]}"
        finish
        [ $code -eq 75 ] || fail "$signal on $ranks ranks: exit code $code"
        grep -q "^iktsne: warning: stopped by SIG$signal in the stage 'layout' at iteration [1-9][0-9]*; $file.checkpoint holds" err.txt || fail "$signal: message"
        grep -q error: err.txt && fail "$signal: an error"
        [ ! -e $file ] || fail "$signal: a result"
        signals=$((signals + 1))
    done
done
# One rank's signal is enough.
file=one-rank.h5
begin 3 "${long[@]}" output.file=$file run.seed=9
kill -USR2 "${pids[2]}"
finish
[ $code -eq 75 ] || fail "a signal to one rank: exit code $code"
echo "signals: $((signals + 1)) tried"

# A study that is stopped goes on with the run that was under way, not from its beginning.
cat >study.yaml <<'Y'
data: [{name: blobs, file: data.h5}]
settings: {layout.iterations: 60000, isolation.psi: 16}
methods: [{name: Isolation, vary: {affinity.neighbours: [20, 30]}}]
seeds: [1]
measures: [Davies-Bouldin]
Y
facts() { # what results.csv says but for times
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) skip[i] = $i ~ /seconds|MB/ }
        { line = ""; for (i = 1; i <= NF; i++) if (!skip[i]) line = line $i ","; print line }' "$1/results.csv" | sort
}
"$IKT_PROGRAM" study study.yaml --output unbroken >out.txt 2>err.txt || fail "a study"
launch 2
"${launcher[@]}" "$IKT_PROGRAM" study study.yaml --output broken --ranks 2 >out.txt 2>err.txt &
started=$!
wait_until 20 [ -s broken/queue ]
sleep 1
ranks_of "output broken "
kill -TERM "${pids[@]}"
finish
[ $code -eq 75 ] || fail "a study that was stopped: exit code $code"
grep -q '^iktsne: warning: stopped by SIGTERM' err.txt || fail "what a stopped study says"
ls -d broken/best/*.checkpoint >out.txt 2>&1 || fail "no checkpoint of the run under way"
"$IKT_PROGRAM" study study.yaml --output broken >out.txt 2>err.txt || fail "a study that goes on"
[ "$(facts broken)" = "$(facts unbroken)" ] || fail "a study that was stopped has other results"
ls -d broken/best/*.checkpoint 2>/dev/null && fail "a checkpoint was left"
echo "study: stopped and gone on with"

[ -z "$(ls -- *.part-* ./*/*.part-* 2>/dev/null)" ] || fail "partial files are left"
[ $failed -eq 0 ] && echo "all checkpoints held"
exit $failed
