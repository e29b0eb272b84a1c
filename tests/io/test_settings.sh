#!/usr/bin/env bash
# Where settings come from: defaults, presets, a configuration, names on the command line; and the
# rehearsal of a run, which decides and refuses what the run would.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
export XDG_CONFIG_HOME=$work/home

embed() { timeout 60 "$IKT_PROGRAM" embed "$@" >out.txt 2>err.txt; }

# on RANKS ARGUMENTS...
on() {
    local launch=() ranks=$1
    shift
    [ "$ranks" -eq 1 ] || read -ra launch <<<"$IKT_MPIRUN $ranks"
    timeout 60 "${launch[@]}" "$IKT_PROGRAM" embed "$@" >out.txt 2>err.txt
}

# value SECTION.KEY FILE: of a configuration printed as YAML.
value() { awk -v section="${1%.*}:" -v key="${1#*.}:" '$0 == section { here = 1; next } /^[a-z]/ { here = 0 }
    here && $1 == key { print $2; exit }' "$2"; }

# refused CODE WORDS ARGUMENTS...: with nothing on standard output and no file made.
refused() {
    local code=$1 words=$2 got before
    shift 2
    before=$(ls)
    embed "$@"
    got=$?
    [ "$got" -eq "$code" ] || fail "exit code $got instead of $code: $*"
    grep -q "^iktsne: error: .*$words" err.txt || fail "no '$words': $*"
    [ ! -s out.txt ] || fail "output of a refused command: $*"
    [ "$(ls)" = "$before" ] || fail "files are left by a refused command: $*"
}

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 300 --dimensions 6 --quiet || fail "no data"
"$IKT_PROGRAM" generate gaussian-mixture other.h5 --points 200 --dimensions 5 --quiet || fail "no data"
short="layout.iterations=30"

# The defaults with comments are a configuration that says the same.
defaults() {
    embed --print-defaults && cp out.txt defaults.yaml || fail "no defaults"
    embed --print-config && cp out.txt plain.txt || fail "no configuration"
    embed defaults.yaml --print-config && cmp -s out.txt plain.txt || fail "other values come back"
    grep -q '^  # .*most similar rows' -i defaults.yaml || fail "no comments"
    ! awk 'length($0) > 100' defaults.yaml | grep . || fail "a line is too long"
    refused 2 "--print-defaults takes no settings" --print-defaults run.seed=2
    refused 2 "--print-reference takes no settings" --print-reference --preset quick
}

# A preset is what the user has not said otherwise, wherever both stand.
presets() {
    embed --preset paper --print-config && cp out.txt paper.txt || fail "no preset"
    [ "$(value layout.preset paper.txt)" = matlab ] && [ "$(value affinity.support paper.txt)" = dense ] &&
        [ "$(value run.preset paper.txt)" = paper ] || fail "the preset paper"
    printf 'run:\n  preset: paper\naffinity:\n  support: sparse\n' >paper.yaml
    embed paper.yaml --print-config
    [ "$(value layout.preset out.txt)" = matlab ] && [ "$(value affinity.support out.txt)" = sparse ] ||
        fail "a preset wins over the configuration"
    embed layout.preset=default run.preset=paper --print-config
    [ "$(value layout.preset out.txt)" = default ] && [ "$(value isolation.pool out.txt)" = 0 ] ||
        fail "a preset wins over an assignment before it"
    embed paper.yaml --preset large --print-config
    [ "$(value run.preset out.txt)" = large ] && [ "$(value layout.preset out.txt)" = default ] ||
        fail "--preset does not win over run.preset"
    cp paper.txt again.yaml
    embed again.yaml --print-config && cmp -s out.txt paper.txt || fail "what is printed says something else"
    refused 2 "did you mean\|is not one of none, quick, paper, large" --preset fast --print-config
    # The run writes down the values; a preset that they came from changes nothing any more.
    embed data.h5 p.h5 --preset paper $short output.picture= --json || fail "a run with a preset"
    "$IKT_PROGRAM" info p.h5 --config >p.yaml
    [ "$(value affinity.support p.yaml)" = dense ] && [ "$(value layout.iterations p.yaml)" = 30 ] ||
        fail "the provenance does not tell what the preset stands for"
    hash=$(grep -o '"hash": "[^"]*"' out.txt)
    embed p.yaml output.file=p2.h5 --json && grep -q "$hash" out.txt || fail "the run is not repeated"
}

# What begins like a section in the middle of a line, behind zero bytes or with a value, is data.
data_is_no_configuration() {
    local table rows comment
    rows=$(awk 'BEGIN { for (i = 0; i < 40; i++) print i * 7 % 40 "," i * 13 % 40 }')
    printf 'time: s,volt: V\n%s\n' "$rows" >units.csv
    printf 'note: x,b\n%s\n' "$rows" >note.csv
    for comment in 246 247 248 249 500 {1014..1026}; do
        printf '#%0*dnote: b\na,b\n%s\n' $comment 0 "$rows" >comment$comment.csv
    done
    for table in *.csv; do
        case $table in comment10*) embed $table $table.h5 --dry-run && continue ;; esac
        embed $table $table.h5 isolation.psi=8 layout.iterations=5 layout.exaggeration_iterations=2 || fail "$table is data"
    done
    { printf '\0\0\010\003\0\0\0\050\0\0\0\010\0\0\0\040' && head -c 8000 /dev/zero && printf '\na:\n' &&
        seq 1 3000 | head -c 2236; } >pixels.idx
    embed pixels.idx pixels.h5 isolation.psi=8 layout.iterations=5 layout.exaggeration_iterations=2 || fail "IDX is data"
    truncate -s 20G zeros.bin
    refused 4 "zeros.bin is not an HDF5 file" zeros.bin
    rm -f zeros.bin
}

# One name is enough; the first line of the log tells what is made of it.
names() {
    mkdir folder && cp data.h5 folder/my.data.h5
    embed folder/my.data.h5 $short || fail "no run from a name alone"
    [ -f my.data.embedding.h5 ] && [ -f my.data.png ] || fail "not the files that follow from the name"
    head -1 err.txt | grep -q "reading folder/my.data.h5:/X (300 rows x 6 columns, float32), will write my.data.embedding.h5 and my.data.png; 1 rank x" ||
        fail "the first line does not say so"
    refused 4 "my.data.embedding.h5 exists already.*output.overwrite=yes" folder/my.data.h5 $short
    embed folder/my.data.h5 output.overwrite=yes $short || fail "no overwriting"
    embed data.h5 folder/out.h5 $short && [ -f folder/out.h5 ] && [ -f folder/out.png ] || fail "a name for the result"
    embed data.h5 x.embedding.h5 $short && [ -f x.embedding.h5 ] && [ -f x.png ] || fail "a picture named after x.embedding.h5"
    embed data.h5 output.file=folder/set.h5 $short && [ -f folder/set.h5 ] && [ -f folder/set.png ] || fail "a result that a setting names"
    embed data.h5 third.h5 output.picture= $short && [ -f third.h5 ] && [ ! -f third.png ] || fail "no picture"
    printf 'layout:\n  iterations: 20\noutput:\n  file: fourth.h5\n' >c.yaml
    embed c.yaml data.h5 --json && [ -f fourth.h5 ] && [ ! -f fourth.png ] && grep -q '"iterations_done": 20' out.txt ||
        fail "a configuration beside a name"
    embed data.h5 c.yaml fifth.h5 && [ -f fifth.h5 ] || fail "a configuration behind a name"
    embed /dev/stdin data.h5 sixth.h5 --print-config <c.yaml && [ "$(value layout.iterations out.txt)" = 20 ] ||
        fail "a configuration from a pipe"
    cp c.yaml settings.txt && embed settings.txt --print-config && [ "$(value layout.iterations out.txt)" = 20 ] ||
        fail "a configuration of another name"
    { printf '\n# %0300d\n \r\n' 0 && cat c.yaml; } >long.txt && embed long.txt --print-config &&
        [ "$(value layout.iterations out.txt)" = 20 ] || fail "a configuration behind a long comment"
    for length in {1010..1026} 5000; do # of what stands before it, wherever a reader may stop
        { printf '# %0*d\n' $length 0 && cat c.yaml; } >long.txt && embed long.txt --print-config &&
            [ "$(value layout.iterations out.txt)" = 20 ] || fail "a configuration behind a comment of $length digits"
    done
    [ ! -e /proc/self/fd ] || { embed /proc/self/fd/0 data.h5 sixth.h5 --print-config < <(cat c.yaml) &&
        [ "$(value layout.iterations out.txt)" = 20 ]; } || fail "a configuration from /proc/self/fd"
    shm=$(mktemp -d /dev/shm/iktsne.XXXXXX 2>/dev/null) && { # files there are files
        cp data.h5 "$shm" && cp c.yaml "$shm/settings" && embed "$shm/settings" "$shm/data.h5" shm.h5 output.picture= && [ -f shm.h5 ]
        code=$?
        rm -rf "$shm"
        [ $code -eq 0 ] || fail "data in /dev/shm: $(cat err.txt)"
    }
    printf 'layout: {iterations: 20}\n' >brace.txt && embed brace.txt --print-config &&
        [ "$(value layout.iterations out.txt)" = 20 ] || fail "a configuration with a brace"
    printf 'layuot:\n  iterations: 20\n' >wrong.txt
    refused 2 "unknown section 'layuot'" wrong.txt --print-config
    data_is_no_configuration
    embed ./data.h5 --print-config && [ "$(value output.file out.txt)" = '"data.embedding.h5"' ] || fail "a dot before"
    embed x.csv.gz --print-config && [ "$(value output.file out.txt)" = '"x.embedding.h5"' ] || fail "two endings"
    embed .hidden --print-config && [ "$(value output.file out.txt)" = '".hidden.embedding.h5"' ] || fail "no ending"
    embed a=b/c.h5 --print-config
    grep -q "no setting" err.txt || fail "an = in a name"
    embed ./a=b.h5 --print-config && [ "$(value input.file out.txt)" = '"./a=b.h5"' ] || fail "an = behind a /"
    "$IKT_PROGRAM" plan data.h5 --preset paper >out.txt 2>err.txt && grep -q "^300 rows x 6.*" out.txt &&
        grep -q ", dense; 1000 iterations" out.txt || fail "plan reads settings differently"
    refused 2 "output.file and input.file are the same file" data.h5 data.h5 output.overwrite=yes
    refused 2 "output.picture and input.file are the same file" data.h5 new.h5 output.picture=./data.h5 output.overwrite=yes
    refused 2 "output.picture and output.file are the same file" data.h5 new.h5 output.picture=new.h5
    refused 2 "one name too many" data.h5 a.h5 b.h5
    refused 2 "one name too many" c.yaml paper.yaml
    refused 2 "input.file is given twice" data.h5 input.file=other.h5
    refused 2 "output.file is given twice" data.h5 a.h5 output.file=b.h5
    refused 4 "none.h5" none.h5
    refused 2 "the name of a file is empty" "" out.h5
}

# What a rehearsal says is what the run then does: every setting of the provenance, the shape.
rehearsal() {
    local ranks kind kinds=("" "layout.init=landmark" "--preset paper" "affinity.kind=gaussian gaussian.perplexity=5"
        "affinity.search=approximate isolation.psi=16" "isolation.form=forest layout.dimensions=3")
    for ranks in 1 2; do
        [ "$ranks" -eq 1 ] || kinds=("${kinds[@]:0:2}")
        for kind in "${kinds[@]}"; do
            rm -f r.h5 r.png
            on "$ranks" data.h5 r.h5 $short $kind --dry-run || fail "a rehearsal on $ranks ranks: $kind"
            sed -n '/^settings, as/,$p' out.txt | tail -n +2 >said.txt
            grep -q "^300 rows x 6, float32; $ranks ranks* x" out.txt && grep -q "^memory per rank" out.txt &&
                grep -q "^time .* s, predicted" out.txt && grep -q "^writes  *r.h5, .* MB" out.txt || fail "no plan: $kind"
            [ ! -e r.h5 ] && [ ! -e r.png ] && [ ! -e r.h5.checkpoint ] || fail "a rehearsal leaves files"
            on "$ranks" data.h5 r.h5 $short $kind || fail "the run itself: $kind"
            "$IKT_PROGRAM" info r.h5 --config | grep -v '^#' >did.txt
            # What belongs to the job is not written down; what was not needed stays auto.
            diff <(grep -v '^  \(# not written again: \)\?\(rows\|threads\|search\|candidates\|picture\):' said.txt) \
                <(grep -v '^  \(# not written again: \)\?\(rows\|threads\|search\|candidates\|picture\):' did.txt) >differ.txt ||
                fail "the run did something else ($kind): $(cat differ.txt)"
        done
    done
    on 2 data.h5 new.h5 --dry-run --json || fail "no JSON"
    /usr/bin/python3 -c "
import json
r = json.load(open('out.txt'))
assert r['plan']['rows'] == 300 and r['plan']['ranks'] == 2 and r['settings']['isolation']['psi'] == 50, r
assert r['plan']['bytes_per_rank']['peak'] > 1e6 and r['seconds'] > 0 and r['labels'] is True" || fail "JSON"
}

# What a run would refuse.
refusals() {
    refused 2 "output.file is not set" input.file=data.h5 --dry-run
    refused 2 "input.file is not set" output.file=new.h5 --dry-run
    refused 4 "my.data.embedding.h5 exists already" folder/my.data.h5 --dry-run
    refused 4 "missing/out.h5 cannot be written" data.h5 missing/out.h5 --dry-run
    refused 3 "no data set 'Y'" data.h5 new.h5 input.dataset=Y --dry-run
    refused 3 "no labels 'kinds' (input.labels)" data.h5 new.h5 input.labels=kinds --dry-run
    refused 2 "isolation.psi = 301 is larger than the 300 rows" data.h5 new.h5 isolation.psi=301 --dry-run
    refused 2 "affinity.neighbours = 300" data.h5 new.h5 affinity.neighbours=300 --dry-run
    refused 2 "preprocess.pca = 7, but data.h5:/X has only 6 columns" data.h5 new.h5 preprocess.pca=7 --dry-run
    refused 2 "output.model needs affinity.kind" data.h5 new.h5 output.model=m.h5 affinity.kind=knn --dry-run
    refused 3 "other.h5:/X (isolation.model_from) has 5 columns" data.h5 new.h5 isolation.model_from=other.h5 --dry-run
    refused 3 "p.h5 holds 300 positions, the data has 200 rows" other.h5 new.h5 layout.init=file \
        layout.init_file=p.h5 --dry-run
    refused 2 "run.max_time: 'soon' is no time" data.h5 new.h5 run.max_time=soon --dry-run
    refused 2 "run.max_time needs a checkpoint" data.h5 new.h5 run.max_time=5 run.checkpoint=none --dry-run
    refused 2 "p.h5 is of a run with other settings" data.h5 p.h5 --extend 5 --dry-run
    refused 2 "is of other data" other.h5 p.h5 --extend 5 --dry-run
    embed data.h5 p.h5 --preset paper $short output.picture= --extend 5 --dry-run || fail "extending is refused"
    # A checkpoint is named, or refused, and stays.
    embed data.h5 stopped.h5 $short run.max_time=0
    [ $? -eq 75 ] || fail "the run did not stop"
    embed data.h5 stopped.h5 $short --dry-run && grep -q "^goes on  *from a checkpoint" out.txt || fail "no checkpoint seen"
    refused 2 "is of a run with other settings: run.seed is 1 there and 2 here" data.h5 stopped.h5 $short run.seed=2 --dry-run
    embed data.h5 stopped.h5 $short run.seed=2 run.resume=no --dry-run || fail "run.resume=no"
    [ -d stopped.h5.checkpoint ] || fail "a rehearsal removes a checkpoint"
}

# A setting of a part that is not in use is refused, wherever it stands and by every verb that takes settings.
idle() {
    local way file kind
    printf 'gaussian:\n  perplexity: 5\n' >idle.yaml
    for way in "gaussian.perplexity=5" idle.yaml; do
        refused 2 "gaussian.perplexity = 5 would have no effect in this run, as it goes with affinity.kind=gaussian" data.h5 new.h5 $way
        refused 2 "gaussian.perplexity = 5 would have no effect" data.h5 new.h5 $way --dry-run
        refused 2 "gaussian.perplexity = 5 would have no effect" data.h5 new.h5 $way --print-config
    done
    "$IKT_PROGRAM" plan data.h5 gaussian.perplexity=5 >out.txt 2>err.txt
    [ $? -eq 2 ] && grep -q "goes with affinity.kind=gaussian" err.txt || fail "plan"
    embed data.h5 new.h5 idle.yaml affinity.kind=gaussian --dry-run || fail "a setting in use"
    # Presets name what only some kernels use.
    for kind in "--preset paper" "--preset quick" "--preset large"; do
        embed data.h5 new.h5 $kind affinity.kind=gaussian --dry-run || fail "$kind with another kernel"
    done
    # A run writes down a configuration that is accepted, also with what auto has made useless.
    for kind in "layout.accuracy=tight" "affinity.candidates=50" "--preset quick layout.exaggeration_iterations=10" "--preset paper affinity.kind=gaussian"; do
        embed data.h5 i.h5 $kind $short output.picture= output.overwrite=yes || fail "a run: $kind"
        "$IKT_PROGRAM" info i.h5 --config >i.yaml && embed i.yaml output.overwrite=yes --dry-run || fail "written back: $kind"
    done
    # What comes with the program.
    for file in "$IKT_SOURCE"/config/*.yaml; do
        embed "$file" --print-config || fail "$file"
    done
}

try defaults "defaults with comments"
try presets "presets"
try names "names on the command line"
try rehearsal "a rehearsal tells what the run does"
try refusals "a rehearsal refuses what the run would refuse"
try idle "settings that are not in use"
exit "$failed"
