# For scripts that stop runs and go on; sourced. `embed RANKS ARGUMENTS...` leaves its exit code in
# `code` and never takes longer than its watchdog allows.
. "$(dirname "${BASH_SOURCE[0]}")/script.sh"

watchdog=${IKT_WATCHDOG:-120} # seconds

launch() { # RANKS: sets `launcher`, what starts a run on them
    launcher=(timeout "$watchdog")
    [ "$1" -eq 1 ] && return
    local mpirun
    read -ra mpirun <<<"$IKT_MPIRUN $1"
    launcher+=("${mpirun[@]}")
}

embed() { # RANKS ARGUMENTS...
    launch "$1"
    shift
    "${launcher[@]}" "$IKT_PROGRAM" embed "$@" >out.txt 2>err.txt
    code=$?
    [ $code -ne 124 ] || fail "hang: embed $*"
}

ranks_of() { # WORDS: the processes of the run that has them in its command line, as `pids`
    mapfile -t pids < <(pgrep -f -- "$1" | while read -r p; do
        [ "$(cat "/proc/$p/comm" 2>/dev/null)" = iktsne ] && echo "$p"
    done)
}

hash_of() { # what out.txt says
    sed -n 's/^embedding hash *//p' out.txt
}

# The embedding and everything but provenance of two results are the same.
same_result() {
    h5diff --exclude-path /provenance "$1" "$2" >/dev/null || fail "$1 and $2 differ"
}
