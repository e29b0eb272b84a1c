#!/usr/bin/env bash
# Memory that does not do: limits of address space, of control groups and of Slurm are met by a refusal
# before the work, and an allocation that fails in the middle, on any rank, by one sentence and exit code
# 5 on all. Never by a crash or a hang.
. "$(dirname "${BASH_SOURCE[0]}")/../support/watch.sh"
if [ -n "${ASAN_OPTIONS:-}" ]; then
    echo "skipped: the address sanitizer needs address space without limit, and allocates by itself"
    exit 77
fi

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 3000 --dimensions 8 --clusters 3 --quiet || exit 1
"$IKT_PROGRAM" generate gaussian-mixture large.h5 --points 20000 --dimensions 2 --quiet || exit 1
embed="embed input.file=data.h5 output.file=out.h5 output.picture=out.png output.overwrite=yes isolation.psi=16
    layout.iterations=20 layout.exaggeration_iterations=2 layout.repulsion=fft --quiet"
"$IKT_PROGRAM" $embed output.file=run.h5 output.model=model.h5 >/dev/null || exit 1
dense="embed input.file=large.h5 output.file=out.h5 output.overwrite=yes affinity.support=dense --quiet"
refusal="the stage '[a-z]*' needs about [0-9]* MB more on each rank, but only [0-9]* MB are left for rank [0-9]*"

# Limits of address space, from what is hardly enough to start MPI (with less we refuse to, and with a
# little more it is a crash of MPI's own) to what is enough. The launcher has no limit.
limited() { around=(bash -c "ulimit -v $(($1 * 1000)); exec \"\$0\" \"\$@\""); }
launched=yes
starts() { # and MPI has nothing to complain about
    local launch
    launcher 2
    limited "$1"
    timeout 60 "${launch[@]}" "${around[@]}" "$IKT_PROGRAM" info data.h5 >out.txt 2>err.txt
    local code=$?
    [ "$code" -eq 0 ] || [ "$code" -eq 5 ] && ! grep -qE 'ERROR|cannot|failed to map|system call|MPI alone' err.txt
}
first=200
# Starts vary by some MB: what is enough has to be enough again, and a little more as well.
enough() { starts "$1" && starts $(($1 + 25)) && starts "$1" && starts $(($1 + 50)); }
while [ "$first" -lt 4000 ] && ! enough "$first"; do first=$((first + 40)); done
echo "MPI starts in an address space of about $first MB"
refused=0
for ((megabytes = first + 50; megabytes <= first + 530; megabytes += 32)); do
    limited "$megabytes"
    try "0 5" "" 2 $embed
    [ "$last" -ne 5 ] || refused=$((refused + 1))
done
[ "$refused" -gt 3 ] || fail "only $refused of the limits were refused"
[ "$last" -eq 0 ] || fail "$((megabytes - 32)) MB more than MPI needs are not enough"
limited $((first + 900))
try 5 "$refusal (ulimit -v)" 2 $dense
# Verbs that have no plan: a picture of 1.2 GB, on rank 0 alone.
try 5 "out of memory: .* MB for picture on rank 0" 2 plot run.h5 large.png --width 20000 --height 20000
grep -q "a smaller picture (--width, --height) needs less memory" err.txt || fail "no advice: $(cat err.txt)"
launched=no
around=()

# What Slurm granted is a limit, also where nothing enforces it.
around=(env SLURM_MEM_PER_NODE=1)
try 5 "the stage 'picture' needs .*: use more nodes, or output.picture=none" 1 embed data.h5 small.h5 isolation.psi=16 layout.repulsion=exact --quiet
around=(env SLURM_MEM_PER_NODE=900)
try 5 "$refusal (memory that Slurm granted)" 1 $dense
try 5 "$refusal (memory that Slurm granted)" 2 $dense
around=(env SLURM_MEM_PER_CPU=300 SLURM_CPUS_ON_NODE=3)
try 5 "$refusal (memory that Slurm granted)" 1 $dense
around=(env SLURM_MEM_PER_NODE=3000)
try 0 "" 2 $embed
around=(env SLURM_MEM_PER_NODE=0)
try 0 "" 1 $embed
around=()

# A control group with a limit, where one can be made.
group=
for parent in /sys/fs/cgroup/memory /sys/fs/cgroup; do
    [ -n "$group" ] || ! mkdir "$parent/iktsne-test-$$" 2>/dev/null || group=$parent/iktsne-test-$$
done
if [ -n "$group" ] && { echo 800M >"$group/memory.limit_in_bytes" || echo 800M >"$group/memory.max"; } 2>/dev/null; then
    around=(bash -c "echo \$\$ >$group/cgroup.procs && exec \"\$0\" \"\$@\"")
    launched=yes
    try 5 "$refusal (limit of the control group)" 2 $dense
    try 0 "" 2 $embed
    launched=no
    around=()
else
    echo "skipped: a limit of a control group (none can be made here)"
fi
[ -z "$group" ] || rmdir "$group" 2>/dev/null

# Allocations that fail in the middle on one rank of two: of number NUMBER and all that follow.
# fail_at RANK 'NUMBERS' ARGUMENTS...
fail_at() {
    local rank=$1 numbers=$2 number
    shift 2
    for number in $numbers; do
        around=(env LD_PRELOAD="$(dirname "$IKT_PROGRAM")/tests/libno_memory.so" IKT_TEST_FAIL_AT="$number" IKT_TEST_FAIL_RANK="$rank")
        try 5 "out of memory: .* on rank $rank" 2 "$@"
    done
    around=()
}
fail_at 1 "1 12 31 66 104 151 211 260" $embed output.model=new.h5
fail_at 0 "24 99 140 270" $embed output.model=new.h5
# Of a map that follows labels: the model, lists, and behind P.
fisher="embed input.file=data.h5 output.file=new.h5 affinity.kind=fisher fisher.support=60 gaussian.perplexity=5
    layout.iterations=4 layout.exaggeration_iterations=2 layout.repulsion=fft output.measures=none --quiet"
fail_at 1 "61 105 200" $fisher
fail_at 0 "60 90" $fisher output.model=new.model.h5
fail_at 1 "3 50 95" evaluate run.h5 --input data.h5
fail_at 1 "7 60" transform model.h5 data.h5 new.h5
fail_at 0 "33" plot run.h5 new.png
fail_at 1 "4" generate five-subspace new.h5
fail_at 0 "8" convert data.h5 new.h5
[ -z "$(ls -d new.* ./*.part-* 2>/dev/null)" ] || fail "files are left: $(ls -d new.* ./*.part-*)"
report
