# For test scripts; sourced. A folder of their own that is removed in the end, and fail(), which prints
# what out.txt and err.txt hold and leaves 1 in `failed`.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
touch out.txt err.txt
failed=0

# Ranks and threads whose results are compared with those of one rank: a sample, or what
# IKT_RANKS="2 3 4 7" IKT_THREADS="1 2" ask for, as `scripts/check.sh all` does.
read -ra other_ranks <<<"${IKT_RANKS:-3}"
read -ra thread_counts <<<"${IKT_THREADS:-2}"

# Under a sanitizer everything takes several times as long.
slower=1
if [ -n "${ASAN_OPTIONS:-}${TSAN_OPTIONS:-}" ]; then
    slower=10
    timeout() { command timeout $(($1 * slower)) "${@:2}"; }
fi

fail() {
    echo "FAILED: $*"
    cat out.txt err.txt
    failed=1
}

# wait_until SECONDS COMMAND...: until the command succeeds; fails when it has not by then.
wait_until() {
    local tries=$(($1 * 5 * slower))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $((tries -= 1)) -gt 0 ] || return 1
        sleep 0.2
    done
}

# try FUNCTION WORDS: says so where it finds no fault.
try() {
    local before=$failed
    failed=0
    "$1"
    [ $failed -ne 0 ] || echo "ok: $2"
    failed=$((failed | before))
}
