# shellcheck shell=bash
# Hosts of our own on this machine, for tests; sourced, after script.sh. Each is a network namespace with its
# own name, an eth0 that ends in a switch (a bridge in a namespace of its own), and a shell of Open MPI's
# launcher, which is `ip netns exec`. They share disks and processors, and nothing of the machine's own network
# is touched. They need root and iproute2.
#
#   hosts_missing        true, and says what, where there cannot be any
#   hosts_start N        h1 .. hN, 10.83.0.1 .. N; the launcher runs on h1
#   hosts_stop           ends all that runs on them, and removes them
#   on HOST COMMAND...   runs a command on one
#   host_pids HOST       the processes there
#   host_off HOST        its power fails: nothing more is sent, and everything that runs on it is gone
#   cut HOST; restore HOST; slow HOST RATE     its link: "10mbit"; "" as before
#   lossy HOST yes       packets are lost; "": as before
#   bytes_of HOST        what has left through its link, headers and all
#   hosts_mpirun         the words of the launcher; ranks and program follow
#
# A launcher waits for an answer for 15 minutes, by default: hosts_mpirun has the settings that
# docs/cluster.md recommends.

hosts=() hosts_name=ikt$$

hosts_missing() {
    PATH=$PATH:/usr/sbin:/sbin
    local why=
    command -v ip >/dev/null && command -v tc >/dev/null || why='ip and tc are not there (package iproute2)'
    [ -n "$why" ] || [ "$(id -u)" -eq 0 ] || why='only root makes network namespaces'
    [ -n "$why" ] || mpirun --version 2>/dev/null | grep -q 'Open MPI.* 4' || why='the launcher is not that of Open MPI 4'
    if [ -z "$why" ]; then
        ip netns add "$hosts_name-try" 2>/dev/null && ip -n "$hosts_name-try" link add try0 type bridge 2>/dev/null &&
            ip -n "$hosts_name-try" link add try1 type veth peer name try2 2>/dev/null || why='this machine makes no network namespaces'
        ip netns del "$hosts_name-try" 2>/dev/null
    fi
    [ -n "$why" ] || return
    echo "no hosts to test with: $why"
}

hosts_start() {
    local i host
    # `wait` of the caller is that of its own processes: the watcher has another parent.
    (watch_hosts $$ &)
    ip netns add "$hosts_name-switch"
    ip -n "$hosts_name-switch" link add switch type bridge
    ip -n "$hosts_name-switch" link set switch up
    echo '127.0.0.1 localhost' >names
    for ((i = 1; i <= $1; i++)); do
        host=h$i
        hosts+=("$host")
        echo "10.83.0.$i $host" >>names
        mkdir "tmp-$host"
        ip netns add "$hosts_name-$host"
        ip -n "$hosts_name-$host" link add eth0 type veth peer name "port$i" netns "$hosts_name-switch"
        ip -n "$hosts_name-switch" link set "port$i" master switch up
        ip -n "$hosts_name-$host" address add "10.83.0.$i/24" dev eth0
        ip -n "$hosts_name-$host" link set lo up
        ip -n "$hosts_name-$host" link set eth0 up
    done
    cat >shell <<END_OF_SHELL
#!/bin/sh
# HOST COMMAND...: in place of ssh, and as blind: it does not see that the power of a host fails.
host=\$1
shift
ip netns exec "$hosts_name-\$host" unshare --uts --mount sh -c '
    mount --bind "$work/names" /etc/hosts && hostname "\$1" || exit 1
    TMPDIR="$work/tmp-\$1"
    export TMPDIR
    shift
    exec sh -c "\$*"' sh "\$host" "\$@"
code=\$?
while [ \$code -eq 137 ] && [ -e "$work/off-\$host" ] && kill -0 \$PPID 2>/dev/null; do sleep 1; done
exit \$code
END_OF_SHELL
    chmod +x shell
    hosts_mpirun=(./shell h1 exec mpirun --mca plm_rsh_agent "$work/shell" --host "$(IFS=,; echo "${hosts[*]}")"
        --map-by node --bind-to none --oversubscribe
        --mca oob_tcp_keepalive_time 5 --mca oob_tcp_keepalive_intvl 5 --mca oob_tcp_keepalive_probes 4
        -x OMP_NUM_THREADS=1 -x OMP_WAIT_POLICY=passive --mca mpi_yield_when_idle 1 --mca btl tcp,self)
}

# Should the test be killed, what it has made goes all the same.
watch_hosts() {
    while kill -0 "$1" 2>/dev/null; do sleep 1; done
    remove_hosts
}

remove_hosts() {
    local name pid
    for name in $(ip netns list | awk '{print $1}' | grep "^$hosts_name-"); do
        for pid in $(ip netns pids "$name"); do kill -9 "$pid" 2>/dev/null; done
        ip netns del "$name"
    done
}

hosts_stop() {
    remove_hosts
    hosts=()
}

on() { ip netns exec "$hosts_name-$1" "${@:2}"; }
host_pids() { ip netns pids "$hosts_name-$1"; }
cut() { ip -n "$hosts_name-switch" link set "port${1#h}" down; }
restore() { rm -f "off-$1"; ip -n "$hosts_name-switch" link set "port${1#h}" up; }
bytes_of() { on "$1" cat /sys/class/net/eth0/statistics/tx_bytes; }

slow() {
    local where=(-n "$hosts_name-$1" qdisc)
    tc "${where[@]}" del dev eth0 root 2>/dev/null
    [ -z "$2" ] || tc "${where[@]}" add dev eth0 root tbf rate "$2" burst 64kb latency 200ms
}

# A queue so short that it drops packets of every burst.
lossy() {
    tc -n "$hosts_name-$1" qdisc del dev eth0 root 2>/dev/null
    [ -z "$2" ] || tc -n "$hosts_name-$1" qdisc add dev eth0 root tbf rate 200mbit burst 64kb limit 100kb
}

host_off() {
    local pid
    touch "off-$1"
    cut "$1"
    for pid in $(host_pids "$1"); do kill -9 "$pid" 2>/dev/null; done
}
