# For test scripts; sourced. A folder of their own that is removed in the end, and fail(), which prints
# what out.txt and err.txt hold and leaves 1 in `failed`.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
touch out.txt err.txt
failed=0

fail() {
    echo "FAILED: $*"
    cat out.txt err.txt
    failed=1
}

# wait_until SECONDS COMMAND...: until the command succeeds; fails when it has not by then.
wait_until() {
    local tries=$(($1 * 5))
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
