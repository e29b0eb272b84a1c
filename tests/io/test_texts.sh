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
# 1e3 and 1000 are two classes, as 1 and 001 are.
printf 'a,k\n1,1e3\n2,1000\n3,2\n4,2\n' >codes.csv
"$IKT_PROGRAM" convert codes.csv codes.h5 --label-column k --quiet || fail "labels with exponents"
h5dump -y -d labels codes.h5 | grep -q '1, 0, 2, 2' || fail "1e3 and 1000 are one class"
# What was made of an array of JSON is what was made of its lines.
"$IKT_PROGRAM" convert json-one.txt one.h5 --quiet && "$IKT_PROGRAM" convert list.txt list.h5 --quiet || fail "convert"
h5diff one.h5 list.h5 /X || fail "the rows of an array of JSON"
exit "$failed"
