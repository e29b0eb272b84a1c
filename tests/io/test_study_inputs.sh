#!/usr/bin/env bash
# A study reads its files as the user says: by --delimiter as by input.delimiter, which makes the same runs under
# the same names, and raw numbers by what describes them, from the first look at their shape on.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
export OMP_NUM_THREADS=1

study() { timeout 120 $launch "$IKT_PROGRAM" study "$@" >out.txt 2>err.txt; }
launch=
# What a run is: its identity, outcome, hash, rows and columns.
facts() { tail -n +2 "$1/results.csv" | cut -d, -f1,5-8; }

awk 'BEGIN { for (i = 0; i < 60; i++) print i * 7 % 60 "," i % 5 ";" i * 11 % 60 "," i * 13 % 60 }' >doubtful.csv
cat >option.yaml <<'Y'
data: [{name: d, file: doubtful.csv}]
settings: {layout.iterations: 90, layout.exaggeration_iterations: 40, isolation.psi: 5}
methods: [{name: Isolation}]
seeds: [1]
measures: [AUC_RNX]
Y
sed 's/settings: {/settings: {input.delimiter: comma, /' option.yaml >setting.yaml
study option.yaml --output option --delimiter comma || fail "--delimiter"
study setting.yaml --output setting || fail "input.delimiter"
facts option | grep -q ',ok,' || fail "no run: $(cat option/results.csv)"
[ "$(facts option)" = "$(facts setting)" ] || fail "other runs by the option: $(facts option) and $(facts setting)"
"$IKT_PROGRAM" info option/best/*.h5 --config >again.yaml
grep -q 'delimiter: comma' again.yaml || fail "the delimiter is not among the settings of the run"
"$IKT_PROGRAM" embed again.yaml output.file=again.h5 output.picture=none --quiet || fail "the run again"
h5diff option/best/*.h5 again.h5 /embedding || fail "another map from the settings of the run"
launch="$IKT_MPIRUN 3"
study option.yaml --output ranks --ranks 3 --delimiter comma || fail "3 ranks"
[ "$(facts option)" = "$(facts ranks)" ] || fail "other runs on 3 ranks: $(facts ranks)"
launch=
study option.yaml --output other || fail "without the option"
[ "$(facts other | cut -d, -f1)" != "$(facts option | cut -d, -f1)" ] || fail "another delimiter, and the same run"
study setting.yaml --output setting --delimiter tab || fail "the study's word"
[ "$(facts setting | wc -l)" -eq 1 ] || fail "the option beats what the study says"

# Raw numbers, and rows that are columns.
"$IKT_PROGRAM" generate gaussian-mixture rows.h5 --points 50 --dimensions 3 --clusters 2 --quiet
h5dump -d /X -b LE -o rows.bin rows.h5 >/dev/null
cat >raw.yaml <<'Y'
data: [{name: raw, file: rows.bin, settings: {input.columns: 3, input.type: float32, input.rows: 40}}]
settings: {layout.iterations: 90, layout.exaggeration_iterations: 40}
methods: [{name: Isolation, vary: {isolation.psi: [0.1n, 0.2n]}}]
seeds: [1]
measures: [AUC_RNX]
Y
study raw.yaml --output raw || fail "raw numbers"
for psi in 4 8; do # the shares of 40 rows
    grep -qE "^[0-9a-f]*,raw,Isolation,1,$psi,ok,[0-9a-f]*,40,3," raw/results.csv || fail "psi $psi: $(cat raw/results.csv)"
done
exit $failed
