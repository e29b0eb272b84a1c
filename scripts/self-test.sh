#!/bin/sh
# Tries an installed iktsne: makes a small set of data, embeds it on one thread, on two, and as the words
# after this script's name start it, and compares the hashes, which have to be equal. Installed as
# share/iktsne/self-test.sh; takes a few seconds.
#   sh self-test.sh                      one rank
#   sh self-test.sh mpirun -n 2          also on two
#   sh self-test.sh srun -n 8
# The program is the one of this installation, or else the one on the PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$here/../../bin/iktsne
[ -x "$program" ] || program=iktsne
if [ "$(id -u)" -eq 0 ]; then # Open MPI asks root to say twice that it means it
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$program" generate five-subspace data.h5 --quiet

hash_of() { # LAUNCHER AND PROGRAM...
    "$@" embed input.file=data.h5 input.rows=400 output.file=run.h5 output.overwrite=yes \
        layout.iterations=60 layout.exaggeration_iterations=20 --quiet >out.txt
    sed -n 's/^embedding hash *//p' out.txt
}

one=$(OMP_NUM_THREADS=1 hash_of "$program")
two=$(OMP_NUM_THREADS=2 hash_of "$program")
echo "one thread:  $one"
echo "two threads: $two"
if [ $# -gt 0 ]; then
    many=$(OMP_NUM_THREADS=1 hash_of "$@" "$program")
    echo "$*: $many"
else
    many=$one
fi
if [ "${#one}" -ne 16 ] || [ "$one" != "$two" ] || [ "$one" != "$many" ]; then
    echo "self-test.sh: the hashes differ" >&2
    exit 1
fi
"$program" info run.h5 >/dev/null
echo "iktsne works"
