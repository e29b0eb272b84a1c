# A Slurm of our own for tests; sourced, after ../support/script.sh. Two pretended nodes, node1 and node2, are two slurmd on the
# loopback of this machine; slurmctld, both slurmd and munged keep all they have in one folder, with
# a key, a socket and ports of their own, so that two such clusters do not meet and one that the
# machine runs is not touched. No systemd, nothing in /etc, any user.
#
#   cluster_missing   true, and says what, where programs are missing
#   cluster_start     starts it; SLURM_CONF is set then, so that sbatch, srun, ... mean it
#   cluster_stop      ends it and all that jobs left
#
# Should the test be killed before it can stop the cluster, a watcher does so in its place.

cluster_cpus=8 # of each node; more than the machine has, perhaps: jobs here are small
cluster=

cluster_missing() {
    local program missing=()
    PATH=$PATH:/usr/sbin:/sbin
    for program in munged mungekey slurmctld slurmd sbatch srun scancel squeue scontrol sinfo; do
        command -v "$program" >/dev/null || missing+=("$program")
    done
    [ ${#missing[@]} -gt 0 ] || return
    echo "no Slurm to test with: ${missing[*]} not found" \
        "(packages munge slurmctld slurmd slurm-client)"
}

# Ports that nobody listens on, below the range from which the system hands out its own.
cluster_ports() {
    local wanted=$1 port found=()
    local start=$((12000 + (RANDOM * 32768 + RANDOM) % 18000))
    for ((port = start; ${#found[@]} < wanted && port < start + 500; port++)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || found+=("$port")
    done
    echo "${found[@]}"
}

# slurm.conf for three ports. cred_expire: a requeued job waits that long before it starts again.
# TmpFS and the prolog: the nodes share this machine's /tmp, where PMIx would meet itself.
cluster_configuration() {
    local user host
    user=$(id -un) host=$(uname -n)
    cat <<END
ClusterName=iktsne
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$1
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$cluster/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/%n/spool
TmpFS=$cluster/%n/tmp
TaskProlog=$cluster/prolog
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/%n/slurmd.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/%n/slurmd.log
SlurmctldDebug=debug2
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobRequeue=1
ReturnToService=2
KillWait=10
NodeName=node1 NodeAddr=127.0.0.1 NodeHostname=$host Port=$2 CPUs=$cluster_cpus
NodeName=node2 NodeAddr=127.0.0.1 NodeHostname=$host Port=$3 CPUs=$cluster_cpus
PartitionName=all Nodes=node1,node2 Default=YES MaxTime=INFINITE
END
}

# Every process of the cluster and of its jobs has the folder's name in its environment.
cluster_processes() {
    grep -lz "^SLURM_CONF=$1/" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
}

# Ends all of that and removes the folder: cluster_clean FOLDER.
cluster_clean() {
    local tries process
    for ((tries = 0; tries < 100; tries++)); do
        local left
        left=$(cluster_processes "$1")
        [ -n "$left" ] || break
        for process in $left; do kill -KILL "$process" 2>/dev/null; done
        sleep 0.1
    done
    rm -rf "$1"
}

# A watcher out of reach of what may kill the test: it waits for the test's end and cleans up.
cluster_watch() {
    env -u SLURM_CONF setsid --fork bash -c '
        . "$1"
        tail --pid="$2" -f /dev/null
        cluster_clean "$3"' watcher "${BASH_SOURCE[0]}" $$ "$cluster" </dev/null >/dev/null 2>&1
}

cluster_idle() {
    [ "$(sinfo -h -N -o %t | grep -c '^idle$')" -eq 2 ]
}

cluster_daemons() {
    local node
    mungekey --create --keyfile="$cluster/munge.key" || return
    munged --force --foreground --num-threads=2 --key-file="$cluster/munge.key" \
        --socket="$cluster/munge.socket" --pid-file="$cluster/munge.pid" \
        --log-file="$cluster/munge.log" --seed-file="$cluster/munge.seed" \
        >"$cluster/munge.out" 2>&1 &
    wait_until 10 test -S "$cluster/munge.socket" || return
    slurmctld -D -i >"$cluster/slurmctld.out" 2>&1 &
    for node in node1 node2; do
        slurmd -D -N "$node" >"$cluster/$node/slurmd.out" 2>&1 &
    done
    disown -a
    wait_until 30 cluster_idle
}

cluster_start() {
    local ports
    # Short, since names of sockets may have 107 characters only.
    cluster=$(mktemp -d "${TMPDIR:-/tmp}/slurm.XXXXXX")
    chmod 755 "$cluster"
    mkdir -p "$cluster"/{state,node1/tmp,node1/spool,node2/tmp,node2/spool}
    printf '#!/bin/sh\necho "export TMPDIR=%s/$SLURMD_NODENAME/tmp"\n' "$cluster" >"$cluster/prolog"
    chmod 755 "$cluster/prolog"
    read -ra ports < <(cluster_ports 3)
    cluster_configuration "${ports[@]}" >"$cluster/slurm.conf"
    cluster_watch
    export SLURM_CONF=$cluster/slurm.conf
    cluster_daemons && return
    echo "the private Slurm did not come up:"
    tail -n 20 "$cluster"/*.out "$cluster"/node?/slurmd.out
    return 1
}

cluster_stop() {
    [ -n "$cluster" ] || return 0
    cluster_clean "$cluster"
    unset SLURM_CONF
}
