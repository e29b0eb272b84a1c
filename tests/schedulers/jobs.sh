#!/usr/bin/env bash
# The scripts of jobs/ for one scheduler, the first argument: pbs, lsf (by stand-ins for their commands), sge or
# flux (real ones, which the test starts). On two nodes where there are as many, over an array, as a
# scaling study, and stopped by its time and queued again until it is complete; always with the bits of
# a run on one rank that nothing stopped. ../slurm does the same and more for Slurm.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scheduler=$1
. "$here/../support/script.sh"
path=$(dirname "$IKT_PROGRAM") # what the job finds on its PATH beside the system's
if [[ $(${IKT_MPIRUN%% *} --version) == *HYDRA* ]]; then # under the name that it has where it is the only one
    mkdir bin && printf '#!/bin/sh\nexec %s "$@"\n' "${IKT_MPIRUN%% *}" >bin/mpirun && chmod 755 bin/mpirun
    path=$work/bin:$path
fi

# The stand-in's commands, and a shell in place of ssh, by which mpirun reaches the pretended nodes.
standin() {
    local name
    export STANDIN=$work/standin
    mkdir -p "$STANDIN/bin"
    for name in "$@"; do ln -s "$here/standin.sh" "$STANDIN/bin/$name"; done
    # The nodes share this machine's /tmp, where daemons of Open MPI would remove each other's files.
    cat >"$STANDIN/bin/ssh" <<END
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
echo "\$1" >>$work/nodes.txt
export TMPDIR=\$(mktemp -d $STANDIN/tmp.XXXX)
shift
exec bash -c "\$*"
END
    chmod 755 "$STANDIN/bin/ssh"
    PATH=$STANDIN/bin:$PATH
    export OMPI_MCA_plm_rsh_agent=$STANDIN/bin/ssh HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=$STANDIN/bin/ssh
}
standin_stop() {
    local group
    for group in "${STANDIN:-/nowhere}"/*/group; do
        [ ! -s "$group" ] || kill -KILL -- "-$(cat "$group")" 2>/dev/null
    done
}
standin_ended() { # NUMBER or *: every job of it, or of an array, has left its exit code
    local folder
    for folder in "$STANDIN"/$1 "$STANDIN/$1"\[[0-9]*; do
        [ ! -f "$folder/script" ] || [ -f "$folder/code" ] || return 1
    done
}

. "$here/$scheduler.sh"
scheduler_missing && exit 77
trap 'scheduler_stop; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

# No shared memory between pretended nodes, and nothing leaves this machine. Jobs get these settings where
# users load modules: schedulers hand on the environment, or do not.
export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
declare -A id
heads() {
    local script settings
    settings=$(env | sed -n "s/^\(OMPI_[A-Za-z_]*\|HYDRA_[A-Z_]*\|OMP_WAIT_POLICY\)=\(.*\)/export \1='\2'/p")
    for script in several-nodes array scaling requeue; do
        awk -v path="$path" -v jobs="$IKT_SOURCE/jobs" -v settings="$settings" '
            $0 == "# module load iktsne" { print "export PATH=" path ":$PATH IKT_JOBS=" jobs; print settings; n++; next }
            { print }
            END { exit n != 1 }' "$IKT_SOURCE/jobs/$script.$scheduler" >"$script.$scheduler" ||
            fail "$script.$scheduler has no line to load a module"
    done
}

says() { grep -q -- "$2" <(logs "$1") || fail "the log of $1 does not say '$2': $(logs "$1")"; }

on_two_nodes() {
    submit nodes several-nodes 0 run.yaml "$hasty" --verbose output.file=nodes.h5
    wait_until 60 has_ended nodes || fail "nodes does not end: $(logs nodes)"
    says nodes "embedding hash   $hasty_hash"
    says nodes "; 2 ranks x "
    # The time that the job has left is the program's limit.
    logs nodes | sed -n 's/.* \([0-9]*\) seconds are left for the run.*/\1/p' >left.txt
    [ "$(cat left.txt)" -gt 60 ] && [ "$(cat left.txt)" -le 120 ] || fail "seconds left: $(cat left.txt)"
    [ -z "${STANDIN:-}" ] || [ "$(sort -u nodes.txt | xargs)" = "node1 node2" ] ||
        fail "mpirun did not reach both nodes: $(cat nodes.txt)"
}

over_an_array() {
    local psi
    submit few array 2 isolation.psi=16,32,64 run.yaml "$hasty"
    submit psi array 3 isolation.psi=16,32,64 run.yaml "$hasty"
    wait_until 60 has_ended few
    wait_until 60 has_ended psi || fail "the array does not end: $(logs psi)"
    if [ "$scheduler" != flux ]; then # which has no arrays: nobody knows how many jobs there are
        says few "there are 3 values of isolation.psi and 2 jobs in the array: submit it with the indices 1-3"
    fi
    for psi in 16 32 64; do
        iktsne info "psi-$psi.h5" --config 2>>err.txt | grep " psi: $psi\b" >/dev/null ||
            fail "psi-$psi.h5 is not the run of psi $psi: $(logs psi)"
        [ -s "psi-$psi.png" ] || fail "no picture of psi $psi"
    done
}

scaling() {
    local ranks
    submit strong scaling 0 run.yaml "$hasty"
    wait_until 90 has_ended strong || fail "strong does not end: $(logs strong)"
    for ranks in 1 2; do
        grep -q "\"hash\": \"$hasty_hash\"" "strong-$ranks.json" || fail "strong-$ranks.json: other bits"
    done
    [ "$(logs strong | grep -A2 '^ranks  seconds' | awk 'NR > 1 && $2 > 0 && $3 > 0' | wc -l)" -eq 2 ] ||
        fail "no table of the scaling study: $(logs strong)"
    [ -s strong-machine.yaml ] || fail "no strong-machine.yaml"
    submit weak scaling 0 ranks=2 rows=300 run.yaml "$hasty"
    submit toomany scaling 0 ranks=1,9 run.yaml
    wait_until 90 has_ended weak || fail "weak does not end: $(logs weak)"
    iktsne info weak-2.h5 | grep 600 >/dev/null || fail "weak-2.h5: rows: $(logs weak)"
    [ ! -e weak-1.h5 ] || fail "ranks=2 was not obeyed"
    wait_until 30 has_ended toomany
    says toomany "ranks=1,9: the job has 2 ranks only"
}

# Every job of the chain stops after some seconds of its own, with a checkpoint and exit code 75.
queued_again() {
    IKT_TIME=1 submit chain requeue 0 run.yaml output.file=chain.h5
    wait_until 150 chain_has_ended chain || fail "the chain does not end: $(logs chain)"
    says chain "stopped by the end of its time"
    says chain "goes on at iteration"
    says chain "embedding hash   $hash"
    [ -z "$(ls -A chain.h5.checkpoint 2>/dev/null)" ] || fail "the run is complete, but its checkpoint is still there"
}

# Long enough to be stopped by its time; what is tried in haste takes fewer iterations.
cat >run.yaml <<'END'
input: {file: data.h5}
isolation: {psi: 64}
layout: {iterations: 6000, exaggeration_iterations: 60}
output: {measures: none, overwrite: yes}
END
hasty="layout.iterations=100"
PATH=$(dirname "$IKT_PROGRAM"):$PATH
run_alone() { iktsne embed run.yaml "$@" output.file=alone.h5 --quiet | sed -n 's/^embedding hash *//p'; }

scheduler_start || exit 1
heads
iktsne generate gaussian-mixture data.h5 --points 1000 --dimensions 10 --clusters 5 --quiet
hasty_hash=$(run_alone "$hasty") hash=$(OMP_NUM_THREADS=2 run_alone)
[ -n "$hasty_hash" ] && [ -n "$hash" ] || fail "no runs to compare with"
try on_two_nodes "$scheduler: two ranks have the bits of one, and know when their job ends"
try over_an_array "$scheduler: an array over psi; one of another length is refused"
try scaling "$scheduler: strong and weak scaling, with a table"
try queued_again "$scheduler: stopped by its time and queued again until complete: the bits of an unbroken run"
exit $failed
