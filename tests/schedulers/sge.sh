# A Grid Engine of our own for tests; sourced. One node, this machine: master, execution daemon and all they
# write are in one folder with ports of their own; no service, nothing in /etc, any user.

scheduler_missing() {
    local program missing=()
    PATH=$PATH:/usr/sbin
    for program in sge_qmaster sge_execd qsub qstat qconf qdel; do
        command -v "$program" >/dev/null || missing+=("$program")
    done
    [ -x /usr/lib/gridengine/spoolinit ] || missing+=(spoolinit)
    [ ${#missing[@]} -gt 0 ] || return
    echo "no Grid Engine to test with: ${missing[*]} not found (packages gridengine-master gridengine-exec gridengine-client)"
}

# A key of a text of qconf: set KEY VALUE
set_key() { sed -i "s|^$1 .*|$1 $2|" q.txt; }

scheduler_start() {
    local lib=/usr/lib/gridengine share=/usr/share/gridengine folder host
    host=$(uname -n)
    sge=$(mktemp -d "${TMPDIR:-/tmp}/sge.XXXXXX")
    chmod 755 "$sge"
    export SGE_ROOT=$sge SGE_CELL=default
    SGE_QMASTER_PORT=$((13000 + RANDOM % 8000 * 2))
    SGE_EXECD_PORT=$((SGE_QMASTER_PORT + 1))
    export SGE_QMASTER_PORT SGE_EXECD_PORT
    mkdir -p "$sge"/{default/common,spool/qmaster/job_scripts,spooldb,execd,bin,utilbin,lib}
    ln -s $share/util "$sge/util"
    for folder in bin utilbin lib; do ln -s $lib "$sge/$folder/$("$sge/util/arch")"; done
    printf '%s\n' "admin_user $(id -un)" "default_domain none" "ignore_fqdn true" \
        "spooling_method berkeleydb" "spooling_lib libspoolb" "spooling_params $sge/spooldb" \
        "binary_path $lib" "qmaster_spool_dir $sge/spool/qmaster" "security_mode none" \
        "listener_threads 2" "worker_threads 2" "scheduler_threads 1" >"$sge/default/common/bootstrap"
    echo localhost >"$sge/default/common/act_qmaster"
    echo "localhost $host" >"$sge/default/common/host_aliases"
    {
        $lib/spoolinit berkeleydb libspoolb "$sge/spooldb" init
        cp $share/default-configuration q.txt
        set_key execd_spool_dir "$sge/execd"
        set_key min_uid 0
        set_key min_gid 0
        $lib/spooldefaults configuration q.txt
        $lib/spooldefaults complexes $share/util/resources/centry
        $lib/spooldefaults usersets $share/util/resources/usersets
        $lib/spooldefaults managers "$(id -un)"
        sge_qmaster
        wait_until 20 qconf -sh
        wait_until 20 qconf -as localhost
        sge_execd
        printf '%s\n' "pe_name mpi" "slots 16" "user_lists NONE" "xuser_lists NONE" \
            "start_proc_args NONE" "stop_proc_args NONE" "allocation_rule \$fill_up" "control_slaves TRUE" \
            "job_is_first_task FALSE" "urgency_slots min" "accounting_summary TRUE" "qsort_args NONE" >pe.txt
        qconf -Ap pe.txt
        qconf -sq >q.txt
        set_key qname all.q
        set_key hostlist localhost
        set_key slots 16
        set_key pe_list mpi
        set_key load_thresholds NONE
        set_key shell /bin/bash
        set_key notify 00:00:10
        qconf -Aq q.txt
        qconf -ssconf >q.txt
        set_key schedule_interval 0:0:1
        set_key flush_submit_sec 1
        set_key flush_finish_sec 1
        qconf -Msconf q.txt
    } >start.txt 2>&1
    wait_until 20 sge_is_up && return
    cat start.txt "$sge"/spool/qmaster/messages
    return 1
}

sge_is_up() { qstat -f | grep -q 'all.q@localhost .* 0/0/16 '; }

scheduler_stop() {
    local file
    [ -n "${sge:-}" ] || return 0
    qdel -u "$(id -un)" >/dev/null 2>&1
    for file in "$sge"/execd/localhost/execd.pid "$sge"/spool/qmaster/qmaster.pid; do
        [ ! -s "$file" ] || kill -TERM "$(cat "$file")" 2>/dev/null
    done
    sleep 2
    for file in "$sge"/execd/localhost/execd.pid "$sge"/spool/qmaster/qmaster.pid; do
        [ ! -s "$file" ] || kill -KILL "$(cat "$file")" 2>/dev/null
    done
    rm -rf "$sge"
}

# submit NAME SCRIPT COUNT ARGUMENTS: of COUNT jobs in an array, 0: none. A log NAME.log or NAME-TASK.log
submit() {
    local name=$1 script=$2 count=$3
    shift 3
    local array=() log=$name.log
    [ "$count" -eq 0 ] || array=(-t "1-$count") log="$name-\$TASK_ID.log"
    id[$name]=$(IKT_RANKS_PER_NODE=2 qsub -terse -V -l h_rt=0:1:40 "${array[@]}" -pe mpi 2 -o "$log" "$script.sge" "$@" | cut -d. -f1)
}

has_ended() { ! qstat -j "${id[$1]}" >/dev/null 2>&1; }
chain_has_ended() { has_ended "$1"; }
logs() { cat "$1".log "$1"-[0-9]*.log 2>/dev/null; }
