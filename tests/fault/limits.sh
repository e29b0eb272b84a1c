#!/usr/bin/env bash
# Limits of a shell and of a container that the libraries below do not tolerate: one sentence of ours
# where it can be had, and no foreign one where the limit does not matter.
. "$(dirname "${BASH_SOURCE[0]}")/../support/watch.sh"

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 300 --dimensions 4 --clusters 3 --quiet || exit 1
embed="embed input.file=data.h5 output.file=out.h5 output.overwrite=yes isolation.psi=16 layout.iterations=10
    layout.exaggeration_iterations=2 output.measures=none --quiet"
limited() { around=(bash -c "ulimit $1; exec \"\$0\" \"\$@\""); }
silent() { [ "$last" -ne 0 ] || [ ! -s err.txt ] || fail "said: $(head -n 1 err.txt)"; }

limited "-n 16"
try 5 "the limit of open files (ulimit -n) is 16, .* need 32: raise it" 1 $embed
limited "-S -n 16" # which may be raised
try 0 "" 1 $embed
limited "-s 64"
try 5 "the limit of the stack (ulimit -s) is 64 kB, .* 1024: raise it" 1 $embed
try 5 "the limit of the stack (ulimit -s) is 64 kB" 1 info data.h5
around=(env OMP_STACKSIZE=64k)
try 5 "a stack of OMP_STACKSIZE=64k: unset it, or give at least 256k" 1 $embed
around=(env OMP_STACKSIZE=90000G)
try 5 "a stack of OMP_STACKSIZE=90000G: .*: unset it" 1 $embed
for size in 256k 256 "1 M" 300000B; do
    around=(env "OMP_STACKSIZE=$size")
    try 0 "" 1 $embed
done
if [ -z "${ASAN_OPTIONS:-}" ]; then
    # MPI would wait for ever, and so would OpenBLAS at the end, for its second thread.
    address="the limit of address space (ulimit -v or -d) leaves [0-9]* MB.*: raise it"
    for limit in "-v 160000" "-v 220000" "-d 20000" "-d 100000"; do
        around=(env OPENBLAS_NUM_THREADS=2 OMP_NUM_THREADS=2 bash -c "ulimit $limit; exec \"\$0\" \"\$@\"")
        try 5 "$address" 1 $embed
        try 5 "$address" 1 info data.h5
        try 5 "$address" 1 help
        try 5 "$address" 1 embed --help
        try 0 "" 1 --version
    done
fi
around=(env OMP_NUM_THREADS=100000) # OpenMP would end by a signal
try 0 "" 1 info data.h5
grep -q "x 4096 threads" err.txt || fail "threads are not bounded: $(cat err.txt)"
around=(bash -c 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"')
try 5 "the current folder is not there any more, or cannot be reached: change to another" 1 $embed
try 0 "" 1 info "$PWD/data.h5"
[ "$(ls -d gone out.h5* 2>/dev/null)" = out.h5 ] || fail "something is left of the current folder"
around=(env TMPDIR=/nonexistent)
try 0 "" 1 $embed
silent
around=(env SLURM_NTASKS=2) # a launcher of another MPI starts as many runs of one rank
try 2 "SLURM_NTASKS announces 2 tasks but this MPI sees a single rank" 1 $embed

if unshare -n true 2>/dev/null; then
    around=(unshare -n) # without an interface that is up, the loopback one included
    try 0 "" 1 $embed
    silent
else
    echo "skipped: no network (unshare -n is not allowed)"
fi
if unshare -m mount -t tmpfs none /dev/shm 2>/dev/null; then
    within() { around=(unshare -m sh -c "mount -t tmpfs -o $1 none /dev/shm && exec \"\$0\" \"\$@\""); }
    within size=64k
    try 0 "" 1 $embed
    silent
    within ro
    try 0 "" 1 $embed
    silent
    launched=yes
    try 0 "" 2 $embed
else
    echo "skipped: a small /dev/shm (unshare -m is not allowed)"
fi
report
