# For scripts that put the program into trouble; sourced. Every run goes through try(), under a time limit:
# it must end, with an exit code among those allowed, with exactly one sentence of ours where that is not
# 0 and none where it is, and without a word of a crash. report() prints the count and ends the script.
. "$(dirname "${BASH_SOURCE[0]}")/script.sh"
tried=0
held=0
: "${patience:=60}" # seconds

# Open MPI waits for a second after a rank that failed, before it looks at the others.
export OMPI_MCA_odls_base_sigkill_timeout=0

# The launcher with its number of ranks, as words for the array `launch`; one rank needs none, unless
# `around` must not be around what a rank without a launcher starts beside it.
launched=no
launcher() {
    launch=()
    [ "$1" -eq 1 ] && [ "$launched" = no ] || read -ra launch <<<"$IKT_MPIRUN $1"
}

# broken MESSAGE: the case at hand does not hold.
broken() {
    fail "$1"
    sound=0
}

check_words() {
    local code=$1 words=$2 count
    count=$(grep -c '^iktsne: error: ' err.txt)
    if [ "$code" -eq 0 ]; then
        [ "$count" -eq 0 ] || broken "an error is printed, but the exit code is 0: $case"
        return
    fi
    [ "$count" -eq 1 ] || broken "$count messages instead of one: $case"
    grep -q -- "^iktsne: error: .*$words" err.txt || broken "no '$words': $case"
}

# try CODES WORDS RANKS ARGUMENTS...: CODES as "0 5"; WORDS stand in the message of a failure (a regular
# expression, may be empty). What must run around the program is taken from the array `around`.
around=()
try() {
    local codes=$1 words=$2 ranks=$3 code launch
    shift 3
    case="$ranks ranks: $*"
    sound=1
    launcher "$ranks"
    command timeout -k 5 $((patience * slower)) "${launch[@]}" "${around[@]}" "$IKT_PROGRAM" "$@" >out.txt 2>err.txt </dev/null
    code=$?
    tried=$((tried + 1))
    if [ "$code" -eq 124 ] || [ "$code" -eq 137 ]; then
        broken "hang: $case"
    elif [[ " $codes " != *" $code "* ]]; then
        broken "exit code $code instead of $codes: $case"
    else
        check_words "$code" "$words"
    fi
    if grep -qE 'Segmentation|Signal: |core dumped|leak: |Sanitizer|internal error' err.txt; then
        broken "words of a crash: $case"
    fi
    last=$code
    held=$((held + sound))
}

report() {
    echo "cases tried $tried, held $held"
    [ "$failed" -eq 0 ] && [ "$tried" -gt 0 ] && [ "$held" -eq "$tried" ]
    exit
}
