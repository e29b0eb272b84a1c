#!/usr/bin/env bash
# Vectors as text: brackets, JSON, word vectors, comments, delimiters; every value and label as it was written,
# on one, two, three and seven ranks. $1: the program of dump_source.c.
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
. "$here/../support/script.sh"
. "$here/../support/python.sh"
python=$(find_python json pickle) || {
    echo "there is no python3: not tested"
    exit 77
}
"$python" "$here/texts.py" make || exit 1
for ranks in 1 2 3 7; do
    rm -f ./*.said ./*.rows ./*.labels ./*.names
    $IKT_MPIRUN $ranks "$1" cases.txt >out.txt 2>err.txt || fail "dump_source on $ranks ranks"
    "$python" "$here/texts.py" check || fail "on $ranks ranks"
done

# Sentences of one column are not cut in two where they are shown, nor as names of classes.
printf 'review text\ngood movie\nbad\ngood movie\nit was 5\n' >reviews.txt
printf 'a,b\n1,2\n3,4\n5,6\n7,8\n' >rows.csv
"$IKT_PROGRAM" convert rows.csv rows.h5 --labels "reviews.txt:review text" --quiet || fail "labels of one column of texts"
"$IKT_PROGRAM" convert rows.csv out.h5 --dataset b --quiet || fail "a named column"
"$IKT_PROGRAM" info out.h5 | grep -q '4 rows x 1 columns' || fail "--dataset of convert names the columns of a table"
# What was made of an array of JSON is what was made of its lines.
"$IKT_PROGRAM" convert json-one.txt one.h5 --quiet && "$IKT_PROGRAM" convert list.txt list.h5 --quiet || fail "convert"
h5diff one.h5 list.h5 /X || fail "the rows of an array of JSON"

# What is left out beside a vector, or as a comment, is said.
printf '# made\nid,v\n1,"[1,2,3,4]"\n2,"[5,6,7,8]"\n' >vector.csv
"$IKT_PROGRAM" convert vector.csv vector.h5 >out.txt 2>&1 || fail "convert vector.csv"
"$IKT_PROGRAM" info vector.csv >>out.txt
test "$(grep -c "left out: 'id'; lines of comment" out.txt)" = 2 || fail "what is left out: $(cat out.txt)"

printf '{"v":[1,2]}\n{"v":[3,4]}\n' >bare.txt
"$IKT_PROGRAM" convert bare.txt bare.h5 2>&1 | grep 'bare.txt' && fail "something is said to be left out of bare.txt"

# Commas that are read as points are told by all verbs, and commas that are not, with what keeps them from it.
printf 'a;b\n1,5;2\n-0,132;4\n3,5;6\n' >commas.csv
"$IKT_PROGRAM" convert commas.csv commas.h5 --text-columns a >out.txt 2>&1 || fail "convert commas.csv"
"$IKT_PROGRAM" info commas.csv >>out.txt
"$IKT_PROGRAM" embed commas.csv commas-run.h5 layout.iterations=5 >>out.txt 2>&1 || fail "embed commas.csv"
test "$(grep -c 'commas of numbers are read as points' out.txt)" = 3 || fail "commas are not told: $(cat out.txt)"
grep -q '3 rows x 2 columns of numbers; commas of' out.txt || fail "the sentence of embed: $(cat out.txt)"
h5dump -d /columns/a commas.h5 | grep -q '"1,5.*", "-0,132", "3,5' || fail "texts with commas are others"
printf 'a;b;date;k\n0,5;0,25;01.02;1\n1,5;1,25;02.02;2\n2,5;2,25;03.02;3\n' >mixed.csv
for verb in embed convert; do
    "$IKT_PROGRAM" $verb mixed.csv mixed-$verb.h5 $([ $verb = convert ] || echo --dry-run) >out.txt 2>&1 || fail "$verb mixed.csv"
    grep -q "warning: mixed.csv: 'a', 'b': numbers with commas, not read as column 'date' has points" out.txt || fail "$verb: $(cat out.txt)"
done
"$IKT_PROGRAM" embed mixed.csv output.file=run.h5 input.skip_columns=a,b --dry-run 2>&1 | grep 'with commas' && fail "columns that are left out are told"
printf 'a\tb\n1,5\t2,5\n3,5\t4,5\n' >tabs.csv
"$IKT_PROGRAM" convert tabs.csv out.h5 --overwrite 2>err.txt
[ $? -eq 3 ] && grep -q "'a', 'b': numbers have commas for points: write them with points, or separate the cells by semicolons" err.txt ||
    fail "commas between tabs: $(cat err.txt)"
# Objects that take several lines are counted as objects.
printf '[\n{\n"a": 1,\n"b": 2\n},\n{\n"a": null,\n"b": 3\n},\n{"a": 4, "b": 5}\n]\n' >pretty.json
$IKT_MPIRUN 2 "$IKT_PROGRAM" embed pretty.json output.file=run.h5 --dry-run >out.txt 2>&1
grep -q "pretty.json, object 2, column 1 ('a'): the cell is missing" out.txt || fail "a missing cell of an array of objects"

# A delimiter of the command line is one of the settings of the run, which can be repeated from them.
awk 'BEGIN { for (i = 0; i < 60; i++) print i * 7 % 60 "," i % 5 ";" i * 11 % 60 "," i * 13 % 60 }' >doubtful.csv
"$IKT_PROGRAM" embed doubtful.csv doubtful.h5 --delimiter comma layout.iterations=5 output.picture=none output.model=model.h5 >out.txt 2>&1 ||
    fail "$(cat out.txt)"
"$IKT_PROGRAM" info doubtful.h5 --config >again.yaml
grep -q 'delimiter: comma' again.yaml || fail "the delimiter is not recorded"
"$IKT_PROGRAM" embed again.yaml output.file=again.h5 >out.txt 2>&1 || fail "$(cat out.txt)"
h5diff doubtful.h5 again.h5 /embedding || fail "another map from the recorded settings"
# New rows and those of another file are cut by what the command line says now.
awk 'BEGIN { for (i = 0; i < 9; i++) print i * 7 % 60 "\t" i * 13 % 60 }' >new.tsv
"$IKT_PROGRAM" transform model.h5 new.tsv new.h5 --delimiter tab >out.txt 2>&1 || fail "new rows: $(cat out.txt)"
awk 'BEGIN { for (i = 0; i < 60; i++) print i * 7 % 60 "\t" i * 13 % 60 }' >other.tsv
"$IKT_PROGRAM" evaluate doubtful.h5 --input other.tsv --delimiter tab --measures ranks >out.txt 2>&1 || fail "evaluate: $(cat out.txt)"
"$IKT_PROGRAM" embed doubtful.csv other.h5 --delimiter comma input.delimiter=semicolon --dry-run 2>&1 | grep -q 'delimiter: *comma' &&
    fail "the option beats the setting"

# Columns to leave out are refused for files that are no text, where they would stay; a delimiter changes nothing there.
"$IKT_PROGRAM" generate gaussian-mixture sixty.h5 --points 60 --dimensions 3 --clusters 2 --quiet || fail "sixty.h5"
printf '\x93NUMPY\x01\x00\x46\x00%-69s\n%480s' "{'descr': '<f8', 'fortran_order': False, 'shape': (20, 3), }" '' >twenty.npy
for verb in plan embed; do
    for words in "sixty.h5 is HDF5, input.skip_columns=1" "twenty.npy is NPY, input.skip_columns=zzz"; do
        setting=${words#*, }
        "$IKT_PROGRAM" $verb ${words%% *} $setting --dry-run >out.txt 2>&1
        code=$?
        [ $verb = embed ] || { "$IKT_PROGRAM" plan ${words%% *} $setting >out.txt 2>&1; code=$?; }
        [ $code -eq 2 ] && grep -q "${words%%,*}, and ${setting%=*} is for CSV text: leave it out" out.txt ||
            fail "$verb $words: exit code $code, $(cat out.txt)"
    done
done
"$IKT_PROGRAM" embed sixty.h5 sixty.out.h5 --delimiter comma layout.iterations=5 output.picture=none >out.txt 2>&1 &&
    "$IKT_PROGRAM" evaluate sixty.out.h5 --input sixty.h5 --measures ranks >out.txt 2>&1 &&
    "$IKT_PROGRAM" embed sixty.h5 again.out.h5 --delimiter comma --print-config >printed.yaml &&
    "$IKT_PROGRAM" embed printed.yaml --dry-run >out.txt 2>&1 || fail "a delimiter beside HDF5: $(cat out.txt)"
# Of columns that were left out of another file nothing is said; a study passes over them where they are said of all.
"$IKT_PROGRAM" embed doubtful.csv skipped.h5 --delimiter comma input.skip_columns=1 layout.iterations=5 output.picture=none --quiet &&
    "$IKT_PROGRAM" evaluate skipped.h5 --input sixty.h5 --measures ranks >out.txt 2>&1 || fail "columns of another file: $(cat out.txt)"
for pair in "0 data: [{name: s, file: sixty.h5}]|settings: {input.skip_columns: \"1\"}" \
    "2 data: [{name: s, file: sixty.h5, settings: {input.skip_columns: \"1\"}}]|settings: {layout.iterations: 5}"; do
    printf '%s\nmethods: [{name: Isolation}]\nseeds: [1]\nmeasures: [AUC_RNX]\n' "${pair#? }" | tr '|' '\n' >mixed.yaml
    "$IKT_PROGRAM" study mixed.yaml --output mixed --list >out.txt 2>&1
    [ $? -eq ${pair%% *} ] && grep -q 'sixty.h5 is HDF5, and input.skip_columns is for CSV text' out.txt ||
        fail "a study of HDF5: $(cat out.txt)"
done

# The numbers of a vector have no names that input.skip_columns would take.
awk 'BEGIN { print "name,v"; for (i = 0; i < 300; i++)
    print "n" i ",\"[" rand() ", " rand() ", " i * 7 % 300 ", " rand() "]\"" }' >numbered.csv
"$IKT_PROGRAM" embed numbered.csv output.file=numbered.h5 layout.iterations=5 2>err.txt >out.txt || fail "embed numbered.csv"
grep -q '(column 2, counted from 0)' err.txt || fail "the column of a vector: $(cat err.txt)"

printf 'sep=;\na;b\n1;2\n3;4\n' >sep.csv
# A delimiter is named for whatever a verb reads, and reaches all ranks.
printf 'x|y,z|k\n1|2,5|a\n3|4,1|b\n5|6,7|c\n7|8,1|a\n' >pipes.txt
for ranks in 1 3; do
    $IKT_MPIRUN $ranks "$IKT_PROGRAM" plot rows.csv pipes.png --colour-by pipes.txt:k --delimiter=pipe --overwrite --quiet 2>err.txt &&
        fail "a map of commas was cut by bars"
    grep -q 'rows.csv' err.txt || fail "$(cat err.txt)"
    $IKT_MPIRUN $ranks "$IKT_PROGRAM" --delimiter pipe convert rows.csv out.h5 --labels pipes.txt:k --overwrite --quiet 2>err.txt &&
        fail "rows of commas were cut by bars"
done
"$IKT_PROGRAM" plot rows.h5 pipes.png --colour-by pipes.txt:k --quiet 2>err.txt && fail "bars were found among commas"
"$IKT_PROGRAM" convert rows.csv pipes.h5 --overwrite --quiet && $IKT_MPIRUN 2 "$IKT_PROGRAM" view "pipes.h5:X" pipes.html \
    --colour-by pipes.txt:k --delimiter pipe --quiet || fail "--delimiter of view"
"$IKT_PROGRAM" convert sep.csv sep.h5 --delimiter semicolon --quiet && "$IKT_PROGRAM" info sep.h5 | grep -q '2 rows x 2 columns' ||
    fail "sep=; beside --delimiter"

# Matrix Market: rows as they are; beside barcodes, as 10x writes it, genes x cells, whose cells are the rows.
printf '%%%%MatrixMarket matrix coordinate integer general\n%% a comment\n3 2 4\n1 1 5\n3 2 7\n2 1 -1\n3 1 2\n' >m.mtx
printf 'a,b\n5,0\n-1,0\n2,7\n' >m.csv
printf 'a,b,c\n5,-1,2\n0,0,7\n' >turned.csv
mkdir -p tenx && cp m.mtx tenx/matrix.mtx && gzip -f tenx/matrix.mtx && printf 'A\nB\n' | gzip >tenx/barcodes.tsv.gz
for pair in "m.mtx m.csv" "tenx/matrix.mtx.gz turned.csv" "tenx turned.csv" "tenx/ turned.csv"; do
    "$IKT_PROGRAM" convert ${pair% *} made.h5 --type float64 --sparse no --overwrite --quiet || fail "convert ${pair% *}"
    "$IKT_PROGRAM" convert ${pair#* } wanted.h5 --overwrite --quiet && h5diff made.h5 wanted.h5 /X || fail "rows of ${pair% *}"
done
$IKT_MPIRUN 3 "$IKT_PROGRAM" convert tenx made.h5 --overwrite --quiet && "$IKT_PROGRAM" info made.h5 | grep -q '2 rows x 3 columns' ||
    fail "a folder on three ranks"
cp -r tenx "ten x"
for verb in "embed FOLDER" "info FOLDER" "plan FOLDER" "landmarks FOLDER o.h5" "transform m.csv FOLDER o.h5" "evaluate m.csv --input FOLDER"; do
    read -ra words <<<"$verb"
    "$IKT_PROGRAM" "${words[@]/FOLDER/ten x}" 2>err.txt
    [ $? -eq 4 ] && grep -q "ten x is a folder with a matrix as 10x Genomics has it; .iktsne convert 'ten x' cells.h5" err.txt ||
        fail "$verb: $(cat err.txt)"
done
# Barcodes that are as many as the rows leave them; those that are neither are told of.
mkdir -p rows other && cp m.mtx rows && cp m.mtx other && printf 'A\nB\nC\n\n' >rows/barcodes.tsv && seq 5 >other/barcodes.tsv
"$IKT_PROGRAM" convert rows/m.mtx made.h5 --type float64 --sparse no --overwrite 2>err.txt || fail "barcodes of the rows"
grep -q 'rows/m.mtx: its rows are the 3 cells of rows/barcodes.tsv' err.txt || fail "which are the cells"
"$IKT_PROGRAM" convert m.csv wanted.h5 --overwrite --quiet && h5diff made.h5 wanted.h5 /X || fail "barcodes of the rows"
"$IKT_PROGRAM" convert tenx/matrix.mtx.gz made.h5 --overwrite 2>err.txt || fail "convert"
grep -q 'its columns are the 2 cells of tenx/barcodes.tsv.gz' err.txt || fail "which are the cells"
"$IKT_PROGRAM" convert other/m.mtx out.h5 --overwrite 2>err.txt
[ $? -eq 3 ] && grep -q '3 rows and 2 columns, but other/barcodes.tsv beside it names 5 cells' err.txt || fail "other barcodes"
# Arrays are their values, column after column; of symmetric ones from the diagonal on.
printf '%%%%MatrixMarket matrix array real general\n%% a comment\n3 2\n5\n-1\n\n0\n0\n0\n7\n' >array.mtx
printf 'a,b\n5,0\n-1,0\n0,7\n' >array.csv
printf '%%%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n' >square.mtx
printf 'a,b,c\n1,2,3\n2,4,5\n3,5,6\n' >square.csv
gzip -kf square.mtx
for pair in "array.mtx array.csv" "square.mtx square.csv" "square.mtx.gz square.csv"; do
    $IKT_MPIRUN 2 "$IKT_PROGRAM" convert ${pair% *} made.h5 --overwrite --quiet || fail "convert ${pair% *}"
    "$IKT_PROGRAM" convert ${pair#* } wanted.h5 --overwrite --quiet && h5diff made.h5 wanted.h5 /X || fail "rows of ${pair% *}"
done
mkdir -p dense && cp array.mtx dense/matrix.mtx && printf 'A\nB\n' >dense/barcodes.tsv
printf 'a,b,c\n5,-1,0\n0,0,7\n' >wanted.csv
"$IKT_PROGRAM" convert dense made.h5 --overwrite --quiet && "$IKT_PROGRAM" convert wanted.csv wanted.h5 --overwrite --quiet &&
    h5diff made.h5 wanted.h5 /X || fail "an array of cells"
sed '$d' array.mtx >short.mtx
printf '7\n' | cat array.mtx - >long.mtx
sed 's/^3 2$/999999999 999999999/' array.mtx >large.mtx
sed 's/^3 3$/3 2/' square.mtx >oblong.mtx
for pair in "short 4 announces 3 x 2 values, but has 5" "long 4 announces 3 x 2 values, but has 7" "large 4 announces 999999999 x 999999999" \
    "oblong 3 symmetric array that is no square"; do
    read -r name code words <<<"$pair"
    "$IKT_PROGRAM" convert $name.mtx out.h5 --overwrite 2>err.txt
    [ $? -eq "$code" ] && grep -q "$words" err.txt || fail "$name: $(cat err.txt)"
done
# Entries of one place are added up before the type is chosen: float32 does not hold 2^24 + 1.
printf '%%%%MatrixMarket matrix coordinate integer general\n1 2 3\n1 1 16777215\n1 2 4\n1 1 2\n' >sum.mtx
printf 'a,b\n16777217,4\n' >sum.csv
"$IKT_PROGRAM" convert sum.mtx made.h5 --sparse no --overwrite --quiet &&
    "$IKT_PROGRAM" convert sum.csv wanted.h5 --type float64 --overwrite --quiet && h5diff made.h5 wanted.h5 /X || fail "a sum over 2^24"
sed '$d' m.mtx >short.mtx
"$IKT_PROGRAM" convert short.mtx out.h5 --overwrite 2>err.txt && fail "an entry less than announced"
grep -q 'announces 4 entries, but has 3' err.txt || fail "$(cat err.txt)"
exit "$failed"
