#!/usr/bin/env bash
# A checkpoint and --extend refuse files whose contents have changed, of every role that the map depends
# on, and take those that have only moved; the result names what was read.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
export OMP_NUM_THREADS=1

embed() { timeout 120 "$IKT_PROGRAM" embed "$@" >out.txt 2>err.txt; }
make() { "$IKT_PROGRAM" generate gaussian-mixture "$@" --dimensions 5 --clusters 3 --quiet; }
make data.h5 --points 200
make a.h5 --points 150 --seed 2
make b.h5 --points 150 --seed 3
make labels-a.h5 --points 200 --seed 4
make labels-b.h5 --points 200 --seed 5
tiny="layout.iterations=20 isolation.psi=16 isolation.partitionings=50 output.picture=none output.measures=none"
embed data.h5 start-a.h5 $tiny || fail "a start"
embed data.h5 start-b.h5 run.seed=2 $tiny || fail "another start"
awk 'BEGIN { for (i = 0; i < 100; i++) print i }' >train-a.csv
awk 'BEGIN { for (i = 50; i < 150; i++) print i }' >train-b.csv

# of_role ROLE PART A B SETTINGS...: a run that read A goes on with the same contents of another name, and
# not where the file of that name holds those of B, whether from a checkpoint or by --extend.
of_role() {
    local role=$1 part=$2 a=$3 b=$4 hash end=${3##*.}
    shift 4
    local run=(data.h5 run.h5 $tiny "$@")
    rm -rf run.h5 run.h5.checkpoint
    cp "$a" moved.$end
    cp "$a" used.$end
    embed "${run[@]}" $role=used.$end$part || fail "$role: a run"
    hash=$(grep hash out.txt)
    for way in checkpoint extend; do
        local more=()
        if [ $way = checkpoint ]; then
            rm -f run.h5
            embed "${run[@]}" $role=used.$end$part run.max_time=0
            [ $? -eq 75 ] || fail "$role: no checkpoint"
        else
            more=(--extend 5)
        fi
        cp "$b" used.$end
        embed "${run[@]}" "${more[@]}" $role=used.$end$part
        [ $? -eq 2 ] || fail "$role: $way with other contents is not refused"
        grep -q "is of other data (.*) than $role (.*)" err.txt || fail "$role: $way: no sentence"
        cp "$a" used.$end
        embed "${run[@]}" "${more[@]}" $role=moved.$end$part || fail "$role: $way with a file that was moved"
        [ $way = extend ] || [ "$(grep hash out.txt)" = "$hash" ] || fail "$role: another map after a stop"
    done
    "$IKT_PROGRAM" info run.h5 >out.txt 2>err.txt
    grep -q "read_$role" out.txt || fail "$role: not in the provenance"
    grep "read_$role" out.txt | grep -q "moved.$end.*[0-9a-f]\{16\}" || fail "$role: no file and checksum in the provenance"
}

of_role isolation.model_from "" a.h5 b.h5
of_role layout.init_file "" start-a.h5 start-b.h5
of_role input.labels :labels labels-a.h5 labels-b.h5 layout.init=kda

# Labels that weigh neighbours, and the rows of fisher.train, stand in the checksum of the rows.
fisher() {
    local run=(data.h5 run.h5 layout.iterations=20 output.picture=none output.measures=none affinity.kind=fisher)
    rm -rf run.h5 run.h5.checkpoint
    embed "${run[@]}" fisher.train=train-a.csv || fail "fisher: a run"
    cp train-a.csv moved.csv
    embed "${run[@]}" fisher.train=train-b.csv --extend 5 && fail "fisher: other rows to learn from"
    grep -q "is of other data" err.txt || fail "fisher: no sentence"
    embed "${run[@]}" fisher.train=moved.csv --extend 5 || fail "fisher: a list that was moved"
    "$IKT_PROGRAM" info run.h5 >out.txt
    grep -q 'read_fisher.train.*moved.csv, labels [0-9a-f]*' out.txt || fail "fisher: provenance"
    embed "${run[@]}" fisher.train=moved.csv input.labels=labels-a.h5:labels --extend 5 && fail "fisher: other labels"
}
fisher

# Other labels colour the map, and change nothing of it.
rm -rf run.h5
embed data.h5 run.h5 $tiny || fail "a run"
embed data.h5 run.h5 $tiny input.labels=labels-a.h5:labels --extend 5 || fail "other labels are refused where they do not matter"
"$IKT_PROGRAM" info run.h5 >out.txt
grep -q 'read_input.file.*data.h5:/X, 200 x 5 float32, hash [0-9a-f]*' out.txt || fail "the data are not in the provenance"
grep -q 'read_input.labels.*labels-a.h5:labels, hash [0-9a-f]*' out.txt || fail "the labels are not in the provenance"
printf 'input: {file: data.h5}\n' >run.yaml
embed run.yaml output.file=other.h5 $tiny || fail "a run of a configuration"
"$IKT_PROGRAM" info other.h5 >out.txt
grep -q 'read_configuration.*run.yaml, hash' out.txt || fail "the configuration is not in the provenance"

exit $failed
