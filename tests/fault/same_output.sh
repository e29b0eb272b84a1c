#!/usr/bin/env bash
# Two runs on one output, also with one process number (two containers): the file is one run's as a
# whole, and no run loses its result. What killed runs leave is told and removed; what may be alive is not.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
export OMP_NUM_THREADS=1
machine=$(head -c 8 /proc/sys/kernel/random/boot_id 2>/dev/null)

awk 'BEGIN { OFS = ","; print "a,b,c"; for (i = 0; i < 40000; i++) print i % 400, i % 399 + 0.25, i % 398 + 0.5 }' >low.csv
awk -F, 'NR == 1 { print; next } { print 1000 + $1 "," 1000 + $2 "," 1000 + $3 }' low.csv >high.csv
for which in low high; do
    "$IKT_PROGRAM" convert $which.csv $which.h5 --quiet >out.txt 2>err.txt || fail "convert $which.csv"
done
own=()
unshare -pf --mount-proc true 2>/dev/null && own=(unshare -pf --mount-proc)
for delay in 0 0.02 0.05 0.1 0.15 0.2; do
    "${own[@]}" bash -c "exec '$IKT_PROGRAM' convert low.csv both.h5 --overwrite --quiet" >out.txt 2>first.txt &
    first=$!
    sleep $delay
    "${own[@]}" bash -c "exec '$IKT_PROGRAM' convert high.csv both.h5 --overwrite --quiet" >out.txt 2>err.txt ||
        fail "the second of two runs, $delay s later"
    wait $first || { cat first.txt; fail "the first of two runs, the second $delay s later"; }
    cmp -s both.h5 low.h5 || cmp -s both.h5 high.h5 || fail "$delay s apart: the file is neither run's"
done
[ -z "$(ls -- *.part-* 2>/dev/null)" ] || fail "unfinished files are left: $(ls -- *.part-*)"

# A name that may not be replaced is one run's from its first moment on: the other is refused before its work.
"$IKT_PROGRAM" embed low.h5 one.h5 input.rows=3000 output.measures=none --quiet >out.txt 2>first.txt &
first=$!
wait_until 20 compgen -G 'one.h5.part-*.lock' >out.txt
"$IKT_PROGRAM" embed high.h5 one.h5 input.rows=3000 output.measures=none >out.txt 2>err.txt &&
    fail "two runs may make one file"
grep -q "error: one.h5 is being written by another run; " err.txt || fail "the message of a name that is taken"
grep -q 'preprocess:' err.txt && fail "a name that is taken is met after the first stage"
wait $first || { cat first.txt; fail "a run whose name another wanted"; }
[ -z "$(ls -- one.h5.part-* 2>/dev/null)" ] || fail "a claim is left: $(ls -- one.h5.part-*)"

# Killed while it writes, on one rank and on two; the next run finds what is left.
unfinished() { ls -- "$1".part-* >/dev/null 2>&1; }
is_alive() { grep -q '^State:[[:space:]]*[^ZX]' "/proc/$1/status" 2>/dev/null; }
all_ended() { for pid; do is_alive "$pid" && return 1; done; return 0; }
make() { "$@" generate gaussian-mixture "$file" --points 400000 --dimensions 20 >out.txt 2>err.txt; }
killed=0
for ranks in 1 2; do
    file=killed$ranks.h5
    make $IKT_MPIRUN $ranks "$IKT_PROGRAM" &
    until unfinished $file || ! kill -0 $!; do :; done 2>/dev/null
    mapfile -t pids < <(grep -lzx "$file" /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3)
    [ ${#pids[@]} -eq 0 ] || kill -KILL "${pids[@]}" 2>/dev/null
    wait $! 2>/dev/null
    # The launcher is gone before its ranks are, whose locks hold until they have ended.
    wait_until 60 all_ended "${pids[@]}" || fail "a process that was killed does not end"
    unfinished $file || continue
    killed=$((killed + 1))
    touch "$file.part-$machine-0badcafe.data.0" # of Open MPI
    make "$IKT_PROGRAM" || fail "after a run that was killed"
    [ -n "$machine" ] || continue
    grep -qE "^iktsne: $file.part-$machine-[0-9a-f]{8}, which a run that was killed had left, is removed" err.txt ||
        fail "nothing is said of what the killed run left"
    unfinished $file && fail "left: $(ls -- $file.part-*)"
done
[ $killed -gt 0 ] || fail "no run was killed in time"

# A job that its scheduler starts again on another machine: what its first start has left is removed, and nothing
# of other jobs, nor of the same start (two runs of one job).
start() { # JOB START COMMAND...: a start of a job, 0 the first
    local flag=Y
    [ "$2" -gt 0 ] || flag=
    case $scheduler in
    slurm) env SLURM_JOB_ID="$1" SLURM_RESTART_COUNT="$2" "${@:3}" ;;
    lsf) env LSB_JOBID="$1" LSB_JOBINDEX=0 ${flag:+LSB_RESTART=$flag} "${@:3}" ;;
    sge) env JOB_ID="$1" SGE_TASK_ID=undefined RESTARTED=$(($2 > 0)) "${@:3}" ;;
    esac
}
file=again.h5
for scheduler in slurm lsf sge; do
    make start 77 0 "$IKT_PROGRAM" &
    until unfinished $file || ! kill -0 $!; do :; done 2>/dev/null
    pkill -KILL -P $!
    wait $! 2>/dev/null
    for left in $file.part-*; do mv "$left" "${left/part-$machine/part-00000001}"; done
    away=$(ls -- $file.part-00000001-???????? 2>/dev/null)
    if [ -n "$away" ]; then
        for job in "77 0" "78 1" "7 1"; do
            start $job "$IKT_PROGRAM" convert low.csv $file --overwrite >out.txt 2>err.txt || fail "beside job 77 of $scheduler"
            [ -e "$away" ] && grep -q "warning: $away .*another machine.*remove it" err.txt || fail "what job 77 of $scheduler left, for job $job"
        done
        start 77 1 "$IKT_PROGRAM" convert low.csv $file --overwrite >out.txt 2>err.txt || fail "the second start of job 77 of $scheduler"
        grep -q "^iktsne: $away, which a run that was killed had left, is removed" err.txt || fail "nothing is said of it ($scheduler)"
        unfinished $file && fail "left: $(ls -- $file.part-*)"
    elif [ -n "$machine" ]; then
        fail "no run of a job of $scheduler was killed in time"
    fi
    rm -f $file
done

# Checkpoints of machines that failed: those of a day ago are removed, and younger ones and results are not.
old=run.h5.checkpoint/codes.h5.part-00000001-0123abcd young=run.h5.checkpoint/codes.h5.part-00000001-0123abce
mkdir run.h5.checkpoint
touch $old.lock $young run.h5.part-00000001-0123abcd
touch -d '25 hours ago' $old $old.lock $young.lock run.h5.part-00000001-0123abcd
"$IKT_PROGRAM" embed low.h5 run.h5 input.rows=500 layout.iterations=3 output.measures=none run.max_time=0 >out.txt 2>err.txt
[ $? -eq 75 ] || fail "a run without time"
[ ! -e $old ] && [ ! -e $old.lock ] || fail "an old checkpoint of another machine stays"
grep -q "^iktsne: $old, which a run that was killed had left, is removed" err.txt || fail "nothing is said of an old checkpoint"
[ -e $young ] && [ -e run.h5.part-00000001-0123abcd ] || fail "a young checkpoint, or an old result, is removed"

# Of another machine, and of a run that is alive: the lock is held.
away=new.h5.part-00000001-0123abcd
touch $away
"$IKT_PROGRAM" convert low.csv new.h5 --quiet >out.txt 2>err.txt || fail "beside a run of another machine"
[ -e $away ] && grep -q "warning: $away .*another machine.*remove it" err.txt || fail "what another machine has left"
if [ -n "$machine" ] && command -v flock >/dev/null; then
    alive=late.h5.part-$machine-0123abcd
    touch $alive
    flock $alive.lock sleep 30 &
    holder=$!
    wait_until 5 test -e $alive.lock
    "$IKT_PROGRAM" convert low.csv late.h5 --quiet >out.txt 2>err.txt && fail "not refused beside a run that writes it"
    grep -q "error: late.h5 is being written by another run; " err.txt || fail "the message beside a run that writes it"
    "$IKT_PROGRAM" convert low.csv late.h5 --overwrite >out.txt 2>err.txt || fail "the last one is not kept"
    grep -q "another run is writing late.h5, too; " err.txt || fail "nothing is said of the other run"
    [ -e $alive ] && cmp -s late.h5 low.h5 || fail "the file of a run that is alive is removed"
    pkill -P $holder
    kill $holder 2>/dev/null
    wait $holder 2>/dev/null
    "$IKT_PROGRAM" convert low.csv late.h5 --overwrite >out.txt 2>err.txt || fail "after it"
    [ ! -e $alive ] && [ ! -e $alive.lock ] || fail "left: $(ls -- late.h5.part-*)"
fi
exit $failed
