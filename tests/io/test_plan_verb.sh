#!/usr/bin/env bash
# iktsne plan: calibration writes a file that plans read, on one rank and on two; what is refused.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
export XDG_CONFIG_HOME=$work/home

plan() { timeout 60 "$IKT_PROGRAM" plan "$@" >out.txt 2>err.txt; }

# The number after "KEY": in out.txt, at the first place behind the word $2.
number() { sed -n "/\"$2\"/,\$p" out.txt | sed -n "s/.*\"$1\": \([-+.0-9e]*\).*/\1/p" | head -1; }

# Built-in constants where nothing was measured, and says so.
plan --points 100000 --columns 50 || fail "no plan"
grep -q "^machine: built-in constants" out.txt || fail "built-in constants are not named"
grep -q "^memory per rank" out.txt || fail "no memory"

# Measured constants take their place, in a folder that is made.
for ranks in 1 2; do
    rm -rf home
    launch=()
    [ "$ranks" -eq 1 ] || read -ra launch <<<"$IKT_MPIRUN $ranks"
    timeout 300 "${launch[@]}" "$IKT_PROGRAM" plan --calibrate --quiet >out.txt 2>err.txt ||
        fail "no calibration on $ranks ranks"
    [ "$(grep -c "written to $work/home/iktsne/machine.yaml" out.txt)" -eq 1 ] || fail "no path"
    [ "$(ls home/iktsne)" = machine.yaml ] || fail "other files are left: $(ls home/iktsne)"
    awk -F': ' '/^  [a-z]/ && $1 != "  name" && !($2 > 0) { exit 1 }' home/iktsne/machine.yaml ||
        fail "a rate is not positive"
    plan --points 100000 --columns 50
    grep -q "^machine: measured with $ranks ranks* x [0-9]* threads*," out.txt || fail "the file is not read"
done

# Settings, constants and machine files of one's own; the same file that embed reads.
printf 'isolation:\n  psi: 64\naffinity:\n  neighbours: 10\n' >run.yaml
plan run.yaml --points 100000 --columns 50 --ranks 64 --threads 4 --json machine.latency=1 || fail "settings"
[ "$(number psi rows)" = 64 ] && [ "$(number neighbours rows)" = 10 ] &&
    [ "$(number ranks rows)" = 64 ] && [ "$(number threads rows)" = 4 ] || fail "settings are not used"
slow=$(number seconds halo) messages=$(number messages_sent halo)
plan run.yaml --points 100000 --columns 50 --ranks 64 --threads 4 --json machine.latency=101
awk "BEGIN { d = $(number seconds halo) - $slow - 100e-6 * $messages; exit !(d * d < 1e-12) }" ||
    fail "a hundred microseconds a message more are not seen"
printf 'machine:\n  name: slow\n  gathers: 1e-3\n' >slow.yaml
plan --machine slow.yaml --points 100000 --columns 50 && grep -q '^machine: slow' out.txt || fail "--machine"

# The size of a file is asked for.
"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 500 --dimensions 6 --quiet
plan input.file=data.h5 && grep -q '^500 rows x 6, float32' out.txt || fail "the file's size"
plan input.file=data.h5 --points 5000 && grep -q '^5000 rows x 6' out.txt || fail "more points"

# What the rows decide is decided as a run does: groups of four rows have another psi, and more memory.
awk 'BEGIN { srand(1)
    for (g = 0; g < 750; g++) {
        for (c = 0; c < 8; c++) centre[c] = rand()
        for (i = 0; i < 4; i++)
            for (c = 0; c < 8; c++) printf "%s%s", (centre[c] + rand() / 1e4) * (c + 1), c < 7 ? "," : "\n"
    } }' >groups.csv
plan groups.csv && grep -o '^isolation, psi [0-9]*' out.txt >planned.txt || fail "no plan of groups"
"$IKT_PROGRAM" embed groups.csv map.h5 --dry-run 2>&1 | grep -o '^isolation, psi [0-9]*' >dry.txt
cmp -s planned.txt dry.txt || fail "plan has $(cat planned.txt), a dry run $(cat dry.txt)"

# Nodes, ranks and threads are recommended for this machine, or for what the options describe; the plan is
# then that of the recommendation. Where ranks are given there is nothing to recommend.
plan --points 1000 --columns 50 || fail "no recommendation"
grep -q '^recommended      1 node x 1 rank x [0-9]* thread' out.txt || fail "a small run does not get one rank"
large=(--points 8100000 --columns 784 --type uint8 --nodes 16 --cores 64 --domains 2)
plan "${large[@]}" --memory 256G --json || fail "no recommendation in JSON"
[ "$(number ranks best)" = "$(number ranks rows)" ] && [ "$(number threads best)" = "$(number threads rows)" ] ||
    fail "the plan is not that of the recommendation"
awk "BEGIN { exit !($(number predicted_seconds best) < $(number predicted_seconds one_rank) &&
    $(number predicted_bytes_of_node best) <= 0.9 * 256 * 2 ^ 30 && $(number bytes_of_node recommendation) == 256 * 2 ^ 30) }" ||
    fail "the recommendation is slow, or does not fit"
plan "${large[@]}" --memory 256gb && grep -q ' and 256.0 GiB$' out.txt || fail "memory as PBS writes it"
plan "${large[@]}" --memory 1G && grep -q '^recommended      nothing fits: ' out.txt || fail "what does not fit is recommended"
plan "${large[@]}" --ranks 7 --memory 256G && grep -q '; 7 ranks x' out.txt || fail "--ranks is not obeyed"
plan --points 1000 --columns 50 --ranks 2 && ! grep -q '^recommended' out.txt || fail "--ranks: a recommendation"

# refused CODE WORDS ARGUMENTS...
refused() {
    local code=$1 words=$2 got
    shift 2
    plan "$@"
    got=$?
    [ "$got" -eq "$code" ] || fail "exit code $got instead of $code: $*"
    grep -q "^iktsne: error: .*$words" err.txt || fail "no '$words': $*"
    [ ! -s out.txt ] || fail "output of a refused plan: $*"
}
refused 2 "the size of the data is not known"
refused 2 "the size of the data is not known" --points 100
refused 2 "--points: 'many' is not an integer" --points many
refused 2 "--type: 'int4' is not one of uint8" --points 100 --columns 3 --type int4
refused 2 "isolation.psi = 100 is larger than the 50 rows" --points 50 --columns 3 isolation.psi=100
refused 2 "adaptive.neighbours = 31, but only 30 neighbours" --points 500 --columns 3 \
    affinity.kind=adaptive affinity.neighbours=30 adaptive.neighbours=31
refused 2 "fisher.support = 51, but there are only 50 rows" --points 50 --columns 3 affinity.kind=fisher gaussian.perplexity=5 \
    fisher.support=51
for words in "--json" "--log json"; do
    plan --points 100000 --columns 50 --steps $words || fail "no steps with $words"
    python3 -c "import json; steps = json.load(open('out.txt'))['steps']; assert [s['makes'] for s in steps][-1] == 'map', steps
assert all(s['stage'] and s['stage_seconds'] >= 0 for s in steps)" || fail "steps are no JSON with $words"
done
refused 2 "affinity.kind: 'kernel' is not one of isolation, gaussian, knn, adaptive" affinity.kind=kernel
refused 2 "preprocess.pca = 9" --points 50 --columns 3 preprocess.pca=9
refused 2 "machine.latency" --points 50 --columns 3 machine.latency=-1
refused 2 "--memory: '256' is no amount of memory" --points 50 --columns 3 --memory 256
refused 2 "--memory: '1X' is no amount of memory" --points 50 --columns 3 --memory 1X
refused 2 "--domains 5: a node has only 4 cores" --points 50 --columns 3 --cores 4 --domains 5
refused 2 "'run.yaml' has no meaning with --calibrate" --calibrate run.yaml
refused 4 "none.yaml cannot be read" --points 50 --columns 3 --machine none.yaml
refused 2 "unknown key 'machine.letency'; did you mean 'machine.latency'" --points 50 --columns 3 machine.letency=1
refused 4 "cannot be" --calibrate --quiet --machine /proc/no/machine.yaml
exit "$failed"
