# For test scripts; sourced after expect.sh. Runs of `embed`, compared by the hash of the embedding.
# The caller sets `common`, the words that all of its runs share.

# embed RANKS ARGUMENTS...: the hash of the embedding, in `hash`.
embed() {
    local ranks=$1 launch=()
    shift
    [ "$ranks" -eq 1 ] || read -ra launch <<<"$IKT_MPIRUN $ranks"
    # shellcheck disable=SC2086
    timeout 60 "${launch[@]}" "$IKT_PROGRAM" embed output.file=run.h5 $common "$@" >out.txt 2>err.txt ||
        fail "embed $* on $ranks ranks"
    hash=$(sed -n 's/^embedding hash *//p' out.txt)
}

# gives HASH RANKS ARGUMENTS...
gives() {
    local wanted=$1
    shift
    embed "$@"
    [ "$hash" = "$wanted" ] || fail "$* gives $hash instead of $wanted"
}
