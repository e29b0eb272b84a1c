# For scripts that try what can go wrong; sourced. A folder of their own, and a check that a command ends
# with one sentence and the documented exit code, on one rank and on three. `failed` is 1 after a failure.
. "$(dirname "${BASH_SOURCE[0]}")/script.sh"

# expect CODE 'words of the message' COMMAND...
expect() {
    local code=$1 words=$2 ranks
    shift 2
    for ranks in 1 3; do
        local launch=()
        [ "$ranks" -eq 1 ] || read -ra launch <<<"$IKT_MPIRUN $ranks"
        timeout 60 "${launch[@]}" "$IKT_PROGRAM" "$@" >out.txt 2>err.txt
        local got=$? count
        count=$(grep -c '^iktsne: error: ' err.txt)
        if [ "$got" -ne "$code" ] || [ "$count" -ne 1 ] || ! grep -q -- "$words" err.txt; then
            echo "FAILED: exit code $got instead of $code, $count messages, on $ranks ranks: $*"
            cat err.txt
            failed=1
        fi
    done
    echo "exit $code: $(grep '^iktsne: error: ' err.txt)"
}
