#!/usr/bin/env bash
# Wrong command lines: exit code 2, exactly one message on one line, nothing on standard output, no
# hang, on one rank and on three; and what asks for help or the version, printed once, exit code 0.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

# launch RANKS ARGUMENTS...: output in out.txt and err.txt, exit code returned; 124 is a hang.
launch() {
    local ranks=$1 command=()
    shift
    [ "$ranks" -eq 1 ] || read -ra command <<<"$IKT_MPIRUN $ranks"
    timeout 60 "${command[@]}" "$IKT_PROGRAM" "$@" >out.txt 2>err.txt </dev/null
}

# The launcher may add lines of its own about the exit code, and a small machine is warned of, so only
# our errors are counted; the words must stand in the message itself.
check_refusal() {
    local code=$1 ranks=$2 words=$3 got=$4
    shift 4
    [ "$got" -eq "$code" ] || fail "exit code $got instead of $code on $ranks ranks: $*"
    [ "$(grep -c 'iktsne: error: ' err.txt)" -eq 1 ] || fail "not one message on $ranks ranks: $*"
    grep -q "^iktsne: error: .*$words" err.txt || fail "no '$words' on $ranks ranks: $*"
    grep -q 'iktsne' out.txt && fail "something of ours on standard output, $ranks ranks: $*"
    LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f]' err.txt && fail "control characters, $ranks ranks: $*"
}

# The ranks to try, one after the other; three take longer to start than all else that is done here.
one="1" both="1 3"

# refused RANKS CODE WORDS ARGUMENTS...
refused() {
    local list=$1 code=$2 words=$3 ranks
    shift 3
    for ranks in $list; do
        launch "$ranks" "$@"
        check_refusal "$code" "$ranks" "$words" $? "$@"
    done
}

# printed RANKS LINE ARGUMENTS...: exit code 0, no error, the line exactly once.
printed() {
    local list=$1 line=$2 ranks got
    shift 2
    for ranks in $list; do
        launch "$ranks" "$@"
        got=$?
        [ "$got" -eq 0 ] || fail "exit code $got instead of 0 on $ranks ranks: $*"
        [ "$(grep -c -- "$line" out.txt)" -eq 1 ] || fail "not once '$line', $ranks ranks: $*"
        grep -v '^iktsne: warning: more threads' err.txt && fail "standard error, $ranks ranks: $*"
    done
}

# The program itself.
refused "$both" 2 "there is no verb 'embde'; did you mean 'embed'" embde
refused "$one" 2 "there is no verb ''" ""
refused "$one" 2 "--json is no option of iktsne itself" --json embed
refused "$one" 2 "--threads needs a value" info --threads
refused "$both" 2 "--threads: '0' is not an integer from 1" --threads 0 info data.h5
refused "$one" 2 "--threads: '2x' is not an integer" info data.h5 --threads=2x

# Options and arguments of a verb.
refused "$both" 2 "iktsne info has no option --jsn; did you mean --json" info data.h5 --jsn
refused "$one" 2 "iktsne plot has no option --widht; did you mean --width" plot a.h5 a.png --widht=5
refused "$one" 2 "iktsne info has no option -j" info data.h5 -j
refused "$one" 2 "too few arguments; usage: iktsne info FILE" info
refused "$both" 2 "too few arguments; usage: iktsne convert" convert one.csv
refused "$both" 2 "too many arguments; usage: iktsne info FILE" info one.h5 two.h5
refused "$one" 2 "too few arguments" info --json
refused "$one" 2 "--json: 'perhaps' is not yes or no" info data.h5 --json=perhaps
refused "$both" 2 "--points: 'ten' is not an integer" generate five-subspace out.h5 --points ten
refused "$one" 2 "--seed needs a value" generate five-subspace out.h5 --seed

# Names of other programs, as settings and as options; nothing is said where nothing is near.
refused "$both" 2 "'n_components=3' is no setting.*; the dimensions of the map are layout.dimensions" \
    embed n_components=3
refused "$one" 2 "unknown key 'layout.n_iter'; the number of iterations is layout.iterations" embed layout.n_iter=9
refused "$one" 2 "unknown section 'tsne'; the perplexity is gaussian.perplexity" embed tsne.perplexity=9
refused "$one" 2 "has no option --random-state; the seed of all random draws is run.seed" embed --random-state 1
refused "$one" 2 "has no option --min_dist; UMAP has umap.min_dist" plan --min_dist=.1
refused "$one" 2 "has no option --iterations; settings are written without dashes: layout.iterations=VALUE" \
    embed --iterations 9
refused "$one" 2 "unknown section 'zzzz'$" embed zzzz.qqqq=1
refused "$one" 2 "iktsne embed has no option --zzzz (\`iktsne embed --help" embed --zzzz
refused "$one" 2 "there is no verb 'zzzz' (\`iktsne --help" zzzz
refused "$one" 2 "iktsne plot does not take the setting input.rows" plot a.h5 a.png input.rows=4

# Names of files that look like something else.
refused "$one" 2 "'eq=ual.h5' is no setting, which is section.key=value; a file of that name is written ./eq=ual.h5" \
    embed eq=ual.h5
refused "$one" 2 "has no option -dash.h5 (.*); a file of that name is written ./-dash.h5" embed -dash.h5

# Settings of embed. A mistake on the command line is found before any file is opened.
refused "$one" 2 "'psi=4' is no setting, which is section.key=value; did you mean 'isolation.psi'" \
    embed psi=4
refused "$one" 2 "the number of partitionings is isolation.partitionings" embed t=200
refused "$one" 2 "unknown key 'isolation.t'; the number of partitionings is isolation.partitionings" embed isolation.t=200
refused "$one" 2 "unknown key 'affinity.k'; the number of neighbours of a row is affinity.neighbours" embed affinity.k=30
refused "$one" 2 "OUT.html is an HTML page, and by the name page.png programs would take it for PNG: name it page.html" view data.h5 page.png
refused "$one" 2 "OUT is a picture, and by the name map.jpg programs would take it for JPEG: name it map.png" plot data.h5 map.jpg
refused "$both" 2 "unknown key 'isolation.pis'; did you mean 'isolation.psi'" embed isolation.pis=4
refused "$one" 2 "unknown section 'layuot'; did you mean 'layout.iterations'" embed layuot.iterations=4
refused "$one" 2 "run.seed: '1.5' is not an integer from 0 to 9e+15" embed run.seed=1.5
refused "$one" 2 "layout.init: 'cpa' is not one of auto, pca" embed layout.init=cpa
refused "$one" 4 "extra.yaml cannot be read" embed run.seed=1 extra.yaml
refused "$one" 2 "'c.h5' is one name too many" embed a.h5 b.h5 c.h5
refused "$one" 2 "unknown section 'a?'" embed $'a\n.b=1'
refused "$one" 2 "output.file: not UTF-8 text" embed $'output.file=\xff.h5'
refused "$both" 4 "missing.yaml cannot be read: No such file or directory" embed missing.yaml

# Ranks that are asked for different things.
on_third() {
    local words="$1"
    shift
    # shellcheck disable=SC2016
    timeout 60 $IKT_MPIRUN 3 bash -c '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" != 2 ] || set -- "$@" '"$words"'
        exec "$@"' x "$IKT_PROGRAM" "$@" >out.txt 2>err.txt </dev/null
}
apart() {
    on_third "$@"
    check_refusal 2 3 "rank 2 was started with other arguments than rank 0: give the same to all" $? "$@"
}
apart run.seed=9 embed data.h5 out.h5
apart layout.iterations=9 embed data.h5 out.h5
apart "--delimiter tab" info data.h5
for words in --verbose --quiet "--threads 2" "--log json"; do # of each rank by itself
    on_third "$words" info missing.h5
    check_refusal 4 3 "missing.h5 cannot be read" $? "$words"
done
on_third "--threads 0" info missing.h5
check_refusal 2 3 "--threads: '0' is not an integer" $? "--threads 0 on one rank"
apart "'' ''" embed data.h5

# Help and version, once however many ranks there are.
printed "$one" "^usage: iktsne VERB"
printed "$both" "^usage: iktsne VERB" --help
printed "$one" "^usage: iktsne VERB" --quiet -h
printed "$both" "^HDF5: " --version
printed "$one" "^HDF5: " embed --version
printed "$one" "^HDF5: " info data.h5 --version
for verb in embed generate convert evaluate plot info plan; do
    printed "$one" "^usage: iktsne $verb " "$verb" --help
    printed "$one" "^usage: iktsne $verb " help "$verb"
done
printed "$one" "^usage: iktsne plot " --threads 1 plot --nonsense -h
printed "$both" "^  isolation.psi = " embed --help
printed "$both" "^  seed: 7$" embed run.seed=7 --print-config

# What embed prints as its configuration is a configuration.
launch 1 embed run.seed=7 isolation.psi=64 output.file='a "b".h5' --print-config
cp out.txt printed.yaml
launch 3 embed printed.yaml --print-config
cmp -s out.txt printed.yaml || fail "a printed configuration does not print the same again"

# Output that does not arrive is an error of the file system, not a success.
if [ -w /dev/full ]; then
    timeout 60 "$IKT_PROGRAM" --help >/dev/full 2>err.txt
    check_refusal 4 1 "standard output cannot be written: No space left" $? --help to a full disk
fi

[ "$failed" -eq 0 ] && echo "every wrong command line was refused as it should be"
exit "$failed"
