#!/usr/bin/env bash
# OpenMP may start fewer threads than a region asks for: under a limit (OMP_THREAD_LIMIT), on a busy machine
# (OMP_DYNAMIC), or inside a parallel region of a host program. Results must be those of one rank with one
# thread, for every affinity, every repulsion, and the verbs that read a result.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

# team ENVIRONMENT RANKS THREADS COMMAND...: runs the program in teams that may be smaller than THREADS.
team() {
    local environment=$1 ranks=$2 threads=$3
    shift 3
    # shellcheck disable=SC2086
    env $environment OMP_NUM_THREADS=$threads $IKT_MPIRUN $ranks "$IKT_PROGRAM" "$@" </dev/null >out.txt 2>err.txt
}

# The teams that each result is compared over: what OpenMP is told, ranks, threads that are asked for.
teams=("OMP_THREAD_LIMIT=1 1 2" "OMP_THREAD_LIMIT=1 2 2" "OMP_THREAD_LIMIT=1 3 3" "OMP_THREAD_LIMIT=2 2 3"
    "OMP_DYNAMIC=true 2 3" "OMP_DYNAMIC=true 3 2")

hash_of() { sed -n 's/.*"hash": "\([0-9a-f]*\)".*/\1/p' out.txt; }

"$IKT_PROGRAM" generate glyphs data.h5 --points 400 --seed 3 --quiet
"$IKT_PROGRAM" generate glyphs new.h5 --points 60 --seed 4 --quiet
common="input.file=data.h5 output.overwrite=yes output.measures=none layout.iterations=40
    layout.exaggeration_iterations=15 run.seed=5 --quiet --json"

embed_case() { # SETTINGS...
    local expected found before=$failed
    failed=0
    # shellcheck disable=SC2086
    team OMP_DYNAMIC=false 1 1 embed $common output.file=run.h5 run.threads=1 "$@" || fail "embed $*"
    expected=$(hash_of)
    [ ${#expected} -eq 16 ] || fail "no hash from: $*"
    for of in "${teams[@]}"; do
        read -r environment ranks threads <<<"$of"
        # shellcheck disable=SC2086
        team "$environment" $ranks $threads embed $common output.file=other.h5 run.threads=$threads "$@" ||
            fail "embed $* ($of)"
        found=$(hash_of)
        [ "$found" = "$expected" ] || { : >out.txt; fail "$*: hash $found in place of $expected with $of"; }
    done
    [ $failed -ne 0 ] || echo "ok: $*"
    failed=$((failed | before))
}

embed_case affinity.kind=gaussian gaussian.perplexity=12 layout.repulsion=fft
embed_case affinity.kind=gaussian gaussian.perplexity=12 affinity.support=dense layout.init=random
embed_case isolation.psi=64 layout.dimensions=3 layout.repulsion=barnes_hut
embed_case isolation.psi=64 affinity.search=approximate affinity.candidates=90 layout.repulsion=exact
embed_case isolation.form=forest isolation.psi=64 affinity.support=dense layout.repulsion=exact
embed_case isolation.psi=64 layout.repulsion=fft output.model=model.h5

# What an embedding is read for: the same text or the same file in any team. `run.h5` is of the last case.
comparable() { LC_ALL=C sed '/"peak_bytes/,$d; /seconds/d; /"threads"/d; /"ranks"/d' "$1"; }

same() { # NAME FILE COMMAND...: FILE is what the command writes, or out.txt; what tells of times, ranks and memory is left out.
    local name=$1 file=$2 before=$failed
    shift 2
    failed=0
    rm -f "$file"
    team OMP_DYNAMIC=false 1 1 "$@" || fail "$name"
    comparable "$file" >expected
    [ -s expected ] || fail "$name writes nothing"
    for of in "${teams[@]}"; do
        read -r environment ranks threads <<<"$of"
        rm -f "$file"
        team "$environment" "$ranks" "$threads" "$@" || fail "$name ($of)"
        comparable "$file" >found
        cmp -s expected found || { diff -a expected found | head -5; fail "$name differs with $of"; }
    done
    [ $failed -ne 0 ] || echo "ok: $name"
    failed=$((failed | before))
}

same evaluate out.txt evaluate run.h5 --input data.h5 --json
same plot picture.png plot run.h5 picture.png --overwrite
same transform out.txt transform model.h5 new.h5 placed.h5 --overwrite --json
exit $failed
