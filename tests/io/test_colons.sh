#!/usr/bin/env bash
# FILE:COLUMN where the file, the column, or both have colons in their names: the file is the longest one that is
# there, for labels of a run, of convert and evaluate, colours, hover columns and exported columns, on any ranks.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
export OMP_NUM_THREADS=1

awk 'BEGIN { print "x,y,kind:a,a:b:c"
    for (i = 0; i < 40; i++) print i * 7 % 40 "," i * 11 % 40 ",k: " i % 3 ",u" i % 2 }' >t.csv
cp t.csv run-12:30.csv
cut -d, -f1,2 t.csv >x.csv
few="layout.iterations=5 layout.exaggeration_iterations=2 output.picture=none output.overwrite=yes"
"$IKT_PROGRAM" embed t.csv own.h5 input.labels=kind:a input.skip_columns=a:b:c $few --quiet || fail "the column's own name"
for ranks in 1 3; do
    for name in t.csv:kind:a run-12:30.csv:kind:a ./t.csv:kind:a; do
        $IKT_MPIRUN $ranks "$IKT_PROGRAM" embed x.csv map.h5 "input.labels=$name" $few --quiet 2>err.txt || fail "$name on $ranks ranks"
        h5diff own.h5 map.h5 /labels || fail "$name on $ranks ranks: other labels"
    done
    $IKT_MPIRUN $ranks "$IKT_PROGRAM" plot map.h5 map.png --colour-by t.csv:a:b:c --overwrite --quiet 2>err.txt || fail "plot"
    $IKT_MPIRUN $ranks "$IKT_PROGRAM" view map.h5 map.html --overwrite --hover t.csv:a:b:c,run-12:30.csv:kind:a --colour-by t.csv:kind:a --quiet 2>err.txt || fail "view"
    grep -q '"name":"a:b:c"' map.html && grep -q '"name":"kind:a"' map.html || fail "names of the page's columns"
done
"$IKT_PROGRAM" convert x.csv l.h5 --labels run-12:30.csv:kind:a --quiet || fail "convert"
h5diff own.h5 l.h5 /labels || fail "convert: other labels"
"$IKT_PROGRAM" evaluate own.h5 --labels t.csv:kind:a --measures clusters >one.txt && "$IKT_PROGRAM" evaluate own.h5 --measures clusters >two.txt || fail "evaluate"
cmp -s one.txt two.txt || fail "evaluate: other labels"

# Texts that convert has kept under such a name.
"$IKT_PROGRAM" convert t.csv t.h5 --label-column kind:a --quiet || fail "convert with text"
"$IKT_PROGRAM" embed t.h5 map.h5 input.labels=columns/a:b:c $few --quiet || fail "labels in the file"
"$IKT_PROGRAM" export map.h5 map.csv --columns t.h5:columns/a:b:c --quiet || fail "export"
[ "$(sed -n 2,4p map.csv | grep -c 'u[01]$')" -eq 3 ] || fail "export: $(head -3 map.csv)"

# Where no file is there, or it lacks the column, the message tells so of the whole name.
"$IKT_PROGRAM" embed x.csv map.h5 input.labels=none.csv:kind:a $few 2>err.txt && fail "no file"
grep -q "no labels 'none.csv:kind:a'" err.txt || fail "no file: $(cat err.txt)"
"$IKT_PROGRAM" evaluate own.h5 --labels t.csv:no:a 2>err.txt && fail "no column"
grep -q "t.csv has no column 'no:a'" err.txt || fail "no column: $(cat err.txt)"
mkdir -p run-13 # a folder is no file that a column could be of
"$IKT_PROGRAM" evaluate own.h5 --labels run-13:30/missing.csv:kind 2>err.txt && fail "a folder before the colon"
grep -q "run-13:30/missing.csv" err.txt || fail "a folder before the colon: $(cat err.txt)"
exit $failed
