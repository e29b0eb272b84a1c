#!/usr/bin/env bash
# Makes the small runs of tests/known/runs.txt and compares their final objective values and the hashes
# of their embeddings with those that the file holds.
#   scripts/known-runs.sh                 compare all, a third of them also on one of the lower instruction
#                                         sets by turns; exit code 1 where one differs
#   scripts/known-runs.sh --every-set     compare all on every instruction set that the machine has
#   scripts/known-runs.sh --ranks "1 2 7" compare each on these numbers of ranks, in place of its own
#   scripts/known-runs.sh --threads 2     ... and on this number of threads
#   scripts/known-runs.sh --only REGEX    compare the runs whose names match
#   scripts/known-runs.sh --hashes        print name and hash of each on the machine's own instruction set, and compare
#                                         nothing; with --only for scripts/matrix.sh
#   scripts/known-runs.sh --renew         write what this build gives into the file, on purpose
# Bits hold for any instruction set and compiler, and for one FFTW and C library (docs/reproducibility.md).
# With others only the values are compared, to the tolerance that the file states, and the exit code is 77.
# The environment names another program (IKT_PROGRAM) or launcher (IKT_MPIRUN, up to its option for ranks).
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${IKT_PROGRAM:-$root/build/release/iktsne}
launcher=${IKT_MPIRUN:-mpirun --oversubscribe --bind-to none -n}
file=$root/tests/known/runs.txt
mode=compare
all_threads=
only=.
while [ $# -gt 0 ]; do
    case $1 in
    --renew | --every-set | --hashes) mode=${1#--} ;;
    --ranks) mode=ranks all_ranks=${2:?--ranks needs numbers}; shift ;;
    --threads) all_threads=${2:?--threads needs a number}; shift ;;
    --only) only=${2:?--only needs a regular expression}; shift ;;
    *) sed -n '2,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
    esac
    shift
done
program=$(realpath "$program") || exit 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OPENBLAS_CORETYPE=Haswell # which sums the library takes in which order differs between makes of processors
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

# --- the libraries that the bits hold for, and the instruction sets to try ---

says() { sed -n "s/^$1: *//p" version.txt; }
"$program" --version >version.txt || exit 2
libraries="$(says FFTW); $(ldd --version | sed -n '1s/.* /libc /p')"
written_for=$(sed -n 's/^libraries *//p' "$file")
tolerance=$(sed -n 's/^tolerance *//p' "$file")
same_libraries=no
[ "$libraries" != "$written_for" ] || same_libraries=yes
own_set=$(says 'instruction set')
lower_sets=() # names of base/cpu.c
for set in portable avx2 avx512 avx512_vnni; do
    [ "$set" != "$own_set" ] || break
    lower_sets+=("$set")
done

# sets_of NUMBER: those on which the run of this number is made, beside the machine's own one.
sets_of() {
    local lower=${#lower_sets[@]}
    case $mode in
    every-set) echo "${lower_sets[@]}" ;;
    compare) [ "$lower" -eq 0 ] || [ $(($1 % 3)) -ne 0 ] || echo "${lower_sets[$1 / 3 % lower]}" ;;
    esac
}

# --- the data ---

# Two topics of forty words each that share ten, and three rows without any word: LIBSVM text, from a
# generator of its own (Park and Miller's).
write_words() {
    awk 'function draw(n) { state = state * 16807 % 2147483647; return state % n }
        BEGIN {
            state = 271828
            for (row = 0; row < 240; row++) {
                topic = row % 2
                split("", held)
                if (row % 80 != 79)
                    for (word = 0; word < 12; word++) held[topic * 30 + draw(40) + 1] += 1 + draw(3)
                line = topic
                for (column = 1; column <= 80; column++)
                    if (column in held) line = line " " column ":" held[column]
                print line
            }
        }' >words.libsvm
}

# Rows of 260 columns at two sites that lie so far apart that bytes of a row tell nothing else.
write_sites() {
    LC_ALL=C awk 'BEGIN {
            for (i = 0; i < 160; i++) {
                printf "%d", i % 2 ? 30000 : -30000
                for (k = 1; k < 260; k++) {
                    state = (state * 1103 + 12345 + i % 5 * k) % 65536
                    printf ",%.3f", (i % 5) * k % 7 / 3 + state / 65536
                }
                print ""
            }
        }' >sites.csv
}

make_data() { # NAME COMMAND...
    local name=$1 verb=$2
    shift 2
    if [ "$verb" = convert ]; then
        write_words
        write_sites
        "$program" convert "$1" "$name.h5" --quiet
    else
        "$program" generate "$1" "$name.h5" "${@:2}" --quiet
    fi </dev/null >out.txt 2>&1 || { echo "FAILED: $name cannot be made"; cat out.txt; failed=1; } >&2
}

# --- the runs ---

common="output.file=run.h5 output.overwrite=yes output.measures=none output.state=no run.seed=5
    run.checkpoint=none layout.iterations=90 layout.exaggeration_iterations=35 layout.momentum_switch=45
    layout.report_every=90"

# run SET RANKS THREADS DATA SETTINGS...: value and hash in `got`, and behind the hash a checksum of the
# measures, where there are any. Columns are brought to [0, 1] unless the settings say otherwise.
run() {
    local set=$1 ranks=$2 threads=${all_threads:-$3} data=()
    [ "$4" = none ] || data=("input.file=$4.h5" preprocess.normalise=minmax)
    shift 4
    # shellcheck disable=SC2086
    IKTSNE_ISA=$set OMP_NUM_THREADS=$threads $launcher "$ranks" "$program" embed $common run.threads=$threads \
        "${data[@]}" "$@" --quiet --json </dev/null >out.txt 2>err.txt || { got="failed failed"; return; }
    got="$(sed -n 's/^ *"\(kl\|cost\)": \([-+.e0-9]*\).*/\2/p' out.txt | tail -n 1) $(
        sed -n 's/^ *"hash": "\([0-9a-f]*\)".*/\1/p' out.txt)"
    if grep -q '^ *"value": ' out.txt; then
        got+=-$(sed -n 's/^ *"value": //p' out.txt | md5sum | cut -c1-16)
    fi
}

is_near() {
    awk -v a="$1" -v b="$2" -v t="$tolerance" \
        'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a + 0 == a && d <= t * (b < 0 ? -b : b)) }'
}

compare() { # NAME VALUE HASH, with `got`
    local value=${got% *} hash=${got#* }
    if [ $same_libraries = yes ] && [ "$got" != "$2 $3" ]; then
        echo "FAILED: $1: expected $2 $3, found $value $hash"
        [ "$value" != failed ] || cat err.txt
        failed=1
    elif ! is_near "$value" "$2"; then
        echo "FAILED: $1: expected $2 within $tolerance of it, found $value"
        [ "$value" != failed ] || cat err.txt
        failed=1
    else
        [ "$hash" != "$3" ] || equal=$((equal + 1))
        echo "ok: $1 $value $hash"
    fi
}

failed=0
equal=0
number=0
while IFS= read -r line; do
    read -r kind name rest <<<"$line"
    case $kind in
    data)
        # shellcheck disable=SC2086
        make_data "$name" $rest
        ;;
    run)
        number=$((number + 1))
        # What a run leaves for others (kept.h5) has to be there, whichever runs are asked for.
        if [[ $name =~ $only || $rest == *output.graph* ]]; then
            known=${rest##*=> }
            if [ $mode = ranks ]; then
                read -r _ words <<<"${rest%%=> *}"
                for ranks in $all_ranks; do
                    # shellcheck disable=SC2086
                    run "$own_set" "$ranks" $words
                    # shellcheck disable=SC2086
                    compare "$name on $ranks ranks" $known
                done
                continue
            fi
            # shellcheck disable=SC2086
            run "$own_set" ${rest%%=> *}
            if [ $mode = hashes ]; then
                [[ ! $name =~ $only ]] || echo "$name ${got#* }"
                [ "$got" != "failed failed" ] || { cat err.txt; failed=1; } >&2
            elif [ $mode = renew ]; then
                printf 'run  %-22s %s => %s\n' "$name" "$(sed 's/ *=>.*//' <<<"$rest")" "$got"
                [ "$got" != "failed failed" ] || { cat err.txt; failed=1; } >&2
            else
                # shellcheck disable=SC2086
                compare "$name" $known
                for set in $(sets_of $number); do
                    # shellcheck disable=SC2086
                    run "$set" ${rest%%=> *}
                    # shellcheck disable=SC2086
                    compare "$name on $set" $known
                done
            fi
            continue
        fi
        ;;
    libraries)
        if [ $mode = renew ]; then echo "libraries $libraries"; continue; fi
        ;;
    esac
    [ $mode != renew ] || echo "$line"
done <"$file" >result.txt
if [ $mode = renew ]; then
    [ $failed -eq 0 ] || exit 1
    cp result.txt "$file"
    echo "$file is renewed for: $libraries"
    exit 0
fi
cat result.txt
[ $mode != hashes ] || exit $failed
[ $failed -eq 0 ] || exit 1
if [ $same_libraries = no ]; then
    echo "the values agree within $tolerance, and $equal hashes do; those need not, as they hold for"
    echo "  $written_for"
    echo "and this is"
    echo "  $libraries"
    exit 77
fi
