#!/usr/bin/env bash
# A run over four hosts (support/hosts.sh) whose network, or one of whose hosts, fails: the job goes on with the
# bits of one host, or ends within a minute with one sentence of the launcher or of the program; then nothing
# of it is left running, and the same command on the other three goes on from the last checkpoint.
# And what leaves by the hosts' links is what the program says that it sends.
# Without an argument the whole, 12 minutes; `sample`: some cases; or the names of cases.
# IKT_NETWORK_REPORT: a file that receives a line for each case.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../support/script.sh"
. "$here/../support/hosts.sh"
hosts_missing && exit 77
trap 'hosts_stop; rm -rf "$work"' EXIT
healed= # a host whose link is well again before the job is started once more
limit=60 # seconds in which a job must end
report=${IKT_NETWORK_REPORT:-/dev/null}

# begin RANKS WORDS...: a run in the background, of the hosts in `launch`; err.txt is its log.
begin() {
    local ranks=$1
    shift
    : >err.txt # what it said before is not what it says now
    "${launch[@]}" -n "$ranks" "$IKT_PROGRAM" embed "${common[@]}" "$@" >out.txt 2>err.txt &
    started=$!
}
says() { grep -q -- "$1" err.txt; }
hash_now() { sed -n 's/^embedding hash *//p' out.txt; }
anything_left() { local host; for host in "${hosts[@]}"; do [ -z "$(host_pids "$host")" ] || return 0; done; return 1; }
nothing_left() { ! anything_left; }
is_over() { ! kill -0 "$started" 2>/dev/null; }

# The run ends within the limit, well: `seconds`, `code`.
ended() {
    local since=$SECONDS
    wait_until "${1:-$limit}" is_over || {
        fail "$case: the job is still there after ${1:-$limit} s"
        kill -9 "$started" 2>/dev/null
        hosts_end
    }
    wait "$started"
    code=$?
    seconds=$((SECONDS - since))
}
hosts_end() {
    local host pid
    for host in "${hosts[@]}"; do for pid in $(host_pids "$host"); do kill -9 "$pid" 2>/dev/null; done; done
}

# The last word on why a job is over: one sentence of the program or of the launcher.
reason() {
    grep -h -o -E '^iktsne: error: .*|ORTE has lost communication with a remote daemon|.*exited on signal [0-9]+.*|An ORTE daemon has unexpectedly failed|ORTE was unable to reliably start one or more daemons|No network interfaces were found|.*unable to establish.*connection.*|.*[Cc]onnection (reset|timed out).*|mpirun noticed that process rank .*' err.txt | head -n 1
}

goes_on() { # it is complete, with the bits of one host
    ended "${1:-$limit}"
    [ $code -eq 0 ] || fail "$case: exit code $code"
    [ "$(hash_now)" = "$hash" ] || fail "$case: hash '$(hash_now)' in place of $hash"
    echo "$case: goes on, $seconds s, the same hash" | tee -a "$report"
    rm -rf run.h5*
}

stops() { # it ends; the same command goes on from its checkpoint, without the host
    local at why
    ended
    why=$(reason)
    [ $code -ne 0 ] || fail "$case: exit code 0"
    [ -n "$why" ] || fail "$case: no sentence"
    wait_until "$limit" nothing_left || { fail "$case: still running: $(for h in "${hosts[@]}"; do host_pids "$h" | xargs -r ps -o pid,args -p; done)"; hosts_end; }
    [ ! -e run.h5 ] || fail "$case: a result of a run that did not end"
    at=$(ls -t run.h5.checkpoint 2>/dev/null | grep -v part | head -n 1)
    [ -z "$healed" ] || restore "$healed"
    healed=
    cp err.txt "${IKT_NETWORK_LOGS:-.}/$case.txt"
    begin 3 output.file=run.h5
    local before=$seconds
    ended 200
    { [ $code -eq 0 ] && [ "$(hash_now)" = "$hash" ]; } || fail "$case: afterwards exit code $code, hash '$(hash_now)' in place of $hash"
    ! says 'checkpoint cannot be used' || fail "$case: its checkpoint is damaged"
    [ -z "$at" ] || says 'going on' || says "checkpoint" || fail "$case: its checkpoint was not used"
    echo "$case: ends after $before s (${why:-nothing}); goes on from ${at:-the beginning}, the same hash" | tee -a "$report"
    rm -rf run.h5*
}

# --- the cases: what happens, once the log says that it is time -------------------------------------

with() { # PATTERN OF THE LOG: a run on four hosts has come so far
    begin 4 output.file=run.h5 run.checkpoint_every=0.002 --verbose
    wait_until 100 says "$1" || fail "$case: not so far: $1"
}
in_loop='iteration 100:'

case_slow_one() { slow h3 200mbit; with "$in_loop"; goes_on 200; slow h3 ''; }
case_slow_all() { for h in "${hosts[@]}"; do slow "$h" 400mbit; done; with "$in_loop"; goes_on 200; for h in "${hosts[@]}"; do slow "$h" ''; done; }
case_slow_in_loop() { with "$in_loop"; slow h2 20mbit; sleep 3; slow h2 ''; goes_on; }
case_cut_2_s() { with "$in_loop"; cut h3; sleep 2; restore h3; goes_on; }
case_cut_8_s() { with "$in_loop"; cut h3; sleep 8; restore h3; goes_on; }
case_cut_in_search() { with 'order:'; cut h4; sleep 4; restore h4; goes_on; }
case_flaps() { with "$in_loop"; for _ in 1 2 3 4 5 6 7 8; do cut h2; sleep 0.3; restore h2; sleep 0.7; done; goes_on; }
case_no_address() { with "$in_loop"; on h3 ip address del 10.83.0.3/24 dev eth0; sleep 2; on h3 ip address add 10.83.0.3/24 dev eth0; goes_on; }
case_loses_packets() { with "$in_loop"; lossy h2 yes; goes_on; dropped=$(on h2 tc -s qdisc show dev eth0 | grep -o 'dropped [0-9]*'); echo "loses_packets: $dropped"; lossy h2 ''; }
# Both ends of a link let smaller packets through than the others send, and nobody says so.
case_large_packets_vanish() { with "$in_loop"; on h2 ip link set eth0 mtu 600; sleep 4; on h2 ip link set eth0 mtu 1500; goes_on; }
case_frozen_8_s() { with "$in_loop"; local p; p=$(host_pids h4); kill -STOP $p; sleep 8; kill -CONT $p; goes_on; }
case_cut_for_good() { with "$in_loop"; cut h3; stops_without h3; restore h3; }
case_launcher_cut() { with "$in_loop"; cut h1; healed=h1; stops_without h4; }
case_rank_dies() { with "$in_loop"; kill -9 $(rank_on h2); stops_without h2; }
case_rank_dies_anywhere() { # a stage after the other
    local at
    for at in 'placement:' 'preprocess:' 'isolation: psi' 'order:' 'recall:' 'P: ' 'iteration 0:' 'iteration 50:'; do
        with "$at"
        kill -9 $(rank_on h2)
        stops_without h2
    done
}
case_daemon_dies() { with "$in_loop"; kill -9 $(daemon_on h3); stops_without h3; }
case_off_in_codes() { with 'isolation: psi'; host_off h3; stops_without h3; restore h3; }
case_off_in_search() { with 'order:'; sleep 0.2; host_off h4; stops_without h4; restore h4; }
case_off_in_loop() { with "$in_loop"; host_off h2; stops_without h2; restore h2; }
case_off_in_checkpoint() { with "$in_loop"; until ls run.h5.checkpoint 2>/dev/null | grep -q part || is_over; do :; done; host_off h3; stops_without h3; restore h3; }
case_not_there() { cut h3; begin 4 output.file=run.h5 --verbose; stops_without h3; restore h3; }

stops_without() { local keep=("${launch[@]}"); launch=("${hosts_mpirun[@]/#*h1,h2,h3,h4*/$(others "$1")}"); stops; launch=("${keep[@]}"); }
others() { local h list=; for h in "${hosts[@]}"; do [ "$h" = "$1" ] || list+=${list:+,}$h; done; echo "$list"; }
named() { local p; for p in $(host_pids "$1"); do [ "$(cat "/proc/$p/comm" 2>/dev/null)" != "$2" ] || echo "$p"; done; }
rank_on() { named "$1" iktsne; }
daemon_on() { named "$1" orted; }

# --- bytes ------------------------------------------------------------------------------------------

# Sum over the hosts of what has left by their links.
all_bytes() { local h sum=0; for h in "${hosts[@]}"; do sum=$((sum + $(bytes_of "$h"))); done; echo "$sum"; }

# A run's bytes by the links, and by its own account: of all that it does, and of an iteration.
counted() { # ITERATIONS: `by_links`, `by_program`
    local before
    before=$(all_bytes)
    begin 4 output.file=run.h5 layout.iterations="$1" --json
    ended 200
    by_links=$(($(all_bytes) - before))
    by_program=$(python3 -c "
import json
print(int(json.load(open('out.txt'))['traffic']['stages']['total']['bytes_sent']['mean'] * 4))")
    rm -rf run.h5*
}

case_bytes() {
    local links program
    counted 100
    links=$by_links program=$by_program
    counted 400
    awk -v l="$by_links" -v p="$by_program" -v m="$((by_links - links))" -v q="$((by_program - program))" 'BEGIN {
        printf "bytes: %.1f MB by the links, %.1f by the program, %.3f; an iteration %.1f KB and %.1f, %.3f\n",
            l / 1e6, p / 1e6, l / p, m / 3e5, q / 3e5, m / q
        exit !(m / q < 1.1 && m / q > 0.9) }' | tee -a "$report"
    [ "${PIPESTATUS[0]}" -eq 0 ] || fail "bytes: more than 10 % between them"
}

"$IKT_PROGRAM" generate glyphs data.h5 --points 20000 --seed 1 --quiet || exit 1
common=(input.file=data.h5 preprocess.pca=50 isolation.psi=128 affinity.search=approximate output.measures=none
    layout.iterations=500 run.threads=1)
"$IKT_PROGRAM" embed "${common[@]}" output.file=one.h5 >out.txt 2>err.txt || fail "on one host"
hash=$(hash_now)
hosts_start 4
launch=("${hosts_mpirun[@]}")
case "${1:-all}" in
all) cases=(bytes slow_one slow_all slow_in_loop cut_2_s cut_8_s cut_in_search flaps no_address loses_packets large_packets_vanish
    frozen_8_s cut_for_good launcher_cut rank_dies rank_dies_anywhere daemon_dies off_in_codes off_in_search off_in_loop
    off_in_checkpoint not_there) ;;
sample) cases=(bytes cut_2_s off_in_loop) ;;
*) cases=("$@") ;;
esac
for case in "${cases[@]}"; do "case_$case"; done
exit $failed
