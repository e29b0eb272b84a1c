#!/usr/bin/env bash
# `iktsne info RUN.h5 --config` prints a YAML that gives the same embedding again, whatever the
# settings chose for themselves, and on any number of ranks; for a file of `transform` it names the
# command that does.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

hash_in() { sed -n 's/.*"hash": "\([0-9a-f]*\)".*/\1/p' "$1"; }
configuration() { "$IKT_PROGRAM" info "$1" --config 2>err.txt; }
settings() { grep -vE '^ *#|^  (file|picture|model):' "$1"; }

# embed RANKS ARGUMENTS...: the hash of the embedding, in `hash`.
embed() {
    local ranks=$1
    shift
    timeout 60 $IKT_MPIRUN "$ranks" "$IKT_PROGRAM" embed "$@" --quiet --json >out.txt 2>err.txt ||
        fail "embed $* on $ranks ranks"
    hash=$(hash_in out.txt)
    [ ${#hash} -eq 16 ] || fail "no hash of: $* on $ranks ranks"
}

# gives HASH RANKS FILE.yaml: it does.
gives() {
    embed "$2" "$3" output.file=again.h5 output.overwrite=yes
    [ "$hash" = "$1" ] || fail "$3 of ($what) gives $hash on $2 ranks instead of $1"
}

# repeats SETTINGS...: what runs on 1 and 3 ranks leave repeats them on 3 and 1, and is itself left
# by the repetition.
repeats() {
    local ranks first
    what=$*
    for ranks in 1 3; do
        embed "$ranks" $common "$@" output.file=run.h5 output.picture=run.png output.overwrite=yes
        first=$hash
        configuration run.h5 >$ranks.yaml || fail "info --config after $what"
        gives "$first" $((4 - ranks)) $ranks.yaml
        configuration again.h5 >again.yaml || fail "info --config after $what"
        diff <(settings $ranks.yaml) <(settings again.yaml) >out.txt ||
            fail "repeated, ($what) is another configuration"
    done
    diff <(settings 1.yaml) <(settings 3.yaml) >out.txt || fail "($what) depends on the ranks"
    echo "$first  $what"
}

"$IKT_PROGRAM" generate glyphs data.h5 --points 300 --seed 3 --quiet || exit 1
"$IKT_PROGRAM" generate glyphs other.h5 --points 200 --seed 4 --quiet || exit 1
"$IKT_PROGRAM" generate gaussian-mixture many.h5 --points 3100 --dimensions 4 --clusters 3 --quiet || exit 1
common="input.file=data.h5 output.measures=none layout.iterations=24 layout.exaggeration_iterations=9 run.seed=5"
auto="layout.iterations=auto layout.exaggeration_iterations=auto"

repeats preprocess.normalise=none layout.repulsion=fft output.model=model.h5
repeats affinity.kind=gaussian gaussian.perplexity=12.3 affinity.support=dense layout.learning_rate=123.456789012345678
repeats layout.objective=nerv layout.trade_off=0.1 layout.exaggeration=3.3
repeats layout.preset=matlab
repeats layout.stop=auto $auto
repeats affinity.kind=adaptive preprocess.pca=20
repeats isolation.form=forest affinity.search=approximate affinity.refinements=1
repeats isolation.model_from=other.h5 affinity.search=approximate
# Landmarks, whose own run chooses for itself: neighbours, and how to sum.
repeats layout.init=landmark affinity.kind=gaussian gaussian.perplexity=45
repeats layout.init=landmark input.file=many.h5 layout.landmarks=300 layout.iterations=9

# The head says what else has to be known.
grep -q "^# embedding hash $hash: iktsne .* instruction set [a-z0-9_]*$" 3.yaml || fail "no head: $(head -3 3.yaml)"
grep -q "^# made on .*; names of files are relative to $PWD\$" 3.yaml || fail "no folder: $(head -3 3.yaml)"
grep -q '^  # not written again: picture: "run.png"$' 3.yaml || fail "the picture would be written again"

# From another folder, with the name that the head explains.
what="another folder"
mkdir elsewhere
(cd elsewhere && timeout 60 "$IKT_PROGRAM" embed ../3.yaml input.file=../many.h5 output.file=again.h5 \
    --quiet --json) >out.txt 2>err.txt || fail "from another folder"
[ "$(hash_in out.txt)" = "$hash" ] || fail "another embedding in another folder"

# A start from a file, and the model file of a run.
mv again.h5 start.h5
repeats layout.init_file=start.h5 input.file=many.h5 layout.repulsion=exact layout.iterations=9
embed 1 $common output.file=run.h5 output.model=model.h5 output.overwrite=yes
what="a model"
configuration model.h5 >model.yaml || fail "info model.h5 --config"
grep -q '^  # not written again: model: "model.h5"$' model.yaml || fail "the model would be written again"
gives "$hash" 3 model.yaml

# New rows: the command in the head.
transform="$IKT_MPIRUN 3 $IKT_PROGRAM transform"
mv other.h5 "o'ther.h5"
$transform model.h5 "o'ther.h5" placed.h5 --neighbours 7 --quiet --json >out.txt 2>err.txt || fail "transform"
hash=$(hash_in out.txt)
configuration placed.h5 >placed.yaml || fail "info placed.h5 --config"
command=$(sed -n 's/^# repeated by: iktsne //p' placed.yaml)
[ -n "$command" ] || fail "no command: $(head -4 placed.yaml)"
eval "\"\$IKT_PROGRAM\" ${command/OUT.h5/replaced.h5} --quiet --json" >out.txt 2>err.txt || fail "$command"
[ "$(hash_in out.txt)" = "$hash" ] || fail "another place: $command"

# The best runs of a study.
cat >small.yaml <<'Y'
title: small
data: [{name: blobs, generate: gaussian-mixture, options: {points: 90, dimensions: 4, clusters: 3}}]
settings: {affinity.support: dense, layout.iterations: 40}
methods: [{name: Isolation, vary: {isolation.psi: [4, 8]}}]
seeds: [1]
measures: [AUC_RNX]
Y
timeout 60 $IKT_MPIRUN 2 "$IKT_PROGRAM" study small.yaml --output study --ranks 2 --quiet >out.txt 2>err.txt || fail "study"
ls study/best/*.h5 >out.txt 2>err.txt || fail "the study left no embedding"
for file in study/best/*.h5; do
    what=$file
    configuration "$file" >best.yaml || fail "info $file --config"
    hash=$("$IKT_PROGRAM" info "$file" | sed -n 's/^ *embedding_hash *//p')
    [ ${#hash} -eq 16 ] || fail "no hash in $file"
    gives "$hash" 3 best.yaml
done
exit "$failed"
