#!/usr/bin/env bash
# iktsne view: what the page holds is what the run's file holds, on any number of ranks; names that
# are hostile stay text; nothing is loaded; what is refused. Decoding by python and by the page's own
# scripts in node.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"
here=$IKT_SOURCE/tests/io

python=
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && $candidate -c 'import h5py, numpy' 2>/dev/null; then python=$candidate; fi
done
if [ -z "$python" ]; then
    echo "python3 with h5py is not there: not tested"
    exit 77
fi
"$python" "$here/view_page.py" make . || exit 1

# view OUT.html RANKS RUN.h5 OPTIONS...
view() {
    local out=$1 ranks=$2 launch=()
    shift 2
    [ "$ranks" -eq 1 ] || read -ra launch <<<"$IKT_MPIRUN $ranks"
    "${launch[@]}" "$IKT_PROGRAM" view "$1" "$out" "${@:2}" --quiet >out.txt 2>err.txt ||
        fail "view $* on $ranks ranks"
}

check() {
    "$python" "$here/view_page.py" check "$@" >out.txt 2>err.txt || fail "the page $2 of $1"
}

full=(--colour-by "labels,values.h5:real,values.h5:wide,full.h5:labels" --images pictures.h5:X --image-shape 6x5
    --images-most 77 --title '"><img src=x onerror=alert(1)>' --mark 3,999 --background black)
for ranks in 1 "${other_ranks[@]}"; do
    view full-$ranks.html $ranks full.h5 "${full[@]}"
    cmp -s full-1.html full-$ranks.html || fail "other bytes on $ranks ranks"
done
check full.h5 full-1.html --hostile --pictures pictures.h5 77 6 5 1 1 --column values.h5:real \
    --column values.h5:wide --column full.h5:labels

# Texts of any length, of HDF5 and CSV; what is shown apart from what gives colours; a second map in
# three dimensions; classes and numbers of a table.
read_too=(--colour-by "labels,table.csv:hand,table.csv:weight,table.csv:kind" --beside beside.h5
    --hover "texts.h5:note,table.csv:note,texts.h5:code,values.h5:real,table.csv:hand")
for ranks in 1 3 7; do
    view texts-$ranks.html $ranks full.h5 "${read_too[@]}"
    cmp -s texts-1.html texts-$ranks.html || fail "other bytes with texts on $ranks ranks"
done
check full.h5 texts-1.html --beside beside.h5 --column table.csv:hand --column table.csv:weight \
    --column table.csv:kind --column texts.h5:note --column table.csv:note --column texts.h5:code \
    --column values.h5:real --uses colour,both,colour,colour,hover,hover,hover,hover

# Ids keep all their digits, and 1, 01 and 001 are three classes.
ids=(--colour-by "ids.h5:article,ids.h5:message,ids.csv:message,ids.csv:ward" --hover "ids.h5:message,ids.h5:unsigned,ids.csv:message")
for ranks in 1 3; do view ids-$ranks.html $ranks unlabelled.h5 "${ids[@]}"; done
cmp -s ids-1.html ids-3.html || fail "other bytes of ids on 3 ranks"
check unlabelled.h5 ids-1.html --column ids.h5:article --column ids.h5:message --column ids.h5:message \
    --column ids.csv:message --column ids.csv:message --column ids.csv:ward --column ids.h5:unsigned \
    --uses colour,untold,hover,untold,hover,colour,hover
view told.html 1 unlabelled.h5 --colour-by ids.h5:message --hover ids.h5:article
check unlabelled.h5 told.html --column ids.h5:message --column ids.h5:message --column ids.h5:article \
    --uses untold,colour,hover
view far.html 1 far.h5
check far.h5 far.html

# Genes of an AnnData, sparse by rows, by columns, and dense; its categories in its own colours.
for ranks in 1 4; do
    view genes-$ranks.html $ranks full.h5 --colour-by cells.h5ad:type --genes NKG7,CD3D --genes-from cells.h5ad
    view raw-$ranks.html $ranks full.h5 --colour-by labels --genes LYZ,GNLY --genes-from cells.h5ad:raw/X
done
cmp -s genes-1.html genes-4.html || fail "other bytes of genes on 4 ranks"
cmp -s raw-1.html raw-4.html || fail "other bytes of raw genes on 4 ranks"
view layer-1.html 1 full.h5 --colour-by none --genes MS4A1 --genes-from cells.h5ad:layers/dense
check unlabelled.h5 genes-1.html --column cells.h5ad:type --column cells.h5ad:X/NKG7 \
    --column cells.h5ad:X/CD3D --uses both,colour,colour --colours type "#ff0000" "#00ff00" own
check full.h5 raw-1.html --column cells.h5ad:raw/X/LYZ --column cells.h5ad:raw/X/GNLY
check unlabelled.h5 layer-1.html --column cells.h5ad:layers/dense/MS4A1

# More than one block; colours of pictures, shrunk; few rows on many ranks; one row, none; all equal.
for ranks in 1 3; do view many-$ranks.html $ranks many.h5; done
cmp -s many-1.html many-3.html || fail "other bytes of many rows on 3 ranks"
check many.h5 many-1.html
view few-1.html 1 few.h5 --images few.h5:colours --image-shape 5x4x3 --image-shrink 2
view few-7.html 7 few.h5 --images few.h5:colours --image-shape 5x4x3 --image-shrink 2
cmp -s few-1.html few-7.html || fail "other bytes of few rows on 7 ranks"
check few.h5 few-1.html --pictures few.h5 5 5 4 3 2
for run in one none equal line solid; do
    view $run.html 2 $run.h5 --colour-by none
    check $run.h5 $run.html
done

if command -v node >/dev/null; then
    for script in "$IKT_SOURCE"/src/viewer/page/*.js; do
        node --check "$script" 2>err.txt || fail "$script is no JavaScript"
    done
    for page in full-1 texts-1 ids-1 told many-1 few-1 solid none; do
        node "$here/view_page.js" "$IKT_SOURCE/src/viewer/page" $page.html >out.txt 2>err.txt ||
            fail "the page's own scripts on $page.html"
    done
fi

touch there.html
expect 4 'exists' view few.h5 there.html
expect 3 'broken.h5, row 2, column 0 .counted from 0.: nan is no position' view broken.h5 new.html
expect 3 'no /labels' view one.h5 new.html --colour-by labels
expect 2 'has 5 rows, but the embedding has 1000' view full.h5 new.html --images few.h5:colours \
    --image-shape 5x4x3

# refuse CODE 'words of the message' OPTIONS...: the command line, which is the same on all ranks
refuse() {
    "$IKT_PROGRAM" view few.h5 "${@:3}" >out.txt 2>err.txt
    [ $? -eq "$1" ] || fail "exit code $1 expected: view few.h5 ${*:3}"
    grep -q -- "$2" err.txt || fail "no word of '$2': view few.h5 ${*:3}"
}
refuse 3 "no data set 'nothing'" new.html --colour-by few.h5:nothing
refuse 2 'empty name' new.html --colour-by labels,,labels
refuse 2 'at most 256' new.html --genes "$(printf 'g,%.0s' {1..256})g"
refuse 3 "no gene 'CD99'" new.html --genes CD99 --genes-from cells.h5ad
refuse 3 'genes by name' new.html --genes CD3D
refuse 3 'has 1000 rows, but the map has 5' new.html --genes CD3D --genes-from cells.h5ad
refuse 3 'has 1000 texts, but there are 5 rows' new.html --hover table.csv:note
refuse 3 '1000 texts, but there are 5 rows' new.html --hover texts.h5:note
refuse 2 "no column 'tail'" new.html --hover table.csv:tail
ln -s table.csv table.of-text # known by its content, not by its name
refuse 3 'has 1000 texts, but there are 5 rows' new.html --hover table.of-text:note
refuse 2 'has 1000 rows, but few.h5 has 5' new.html --beside full.h5
refuse 2 'need each other' new.html --images few.h5:colours
for shape in 5x 5x4x2 5x4x3x1 0x5; do
    refuse 2 'is not a height and a width' new.html --images few.h5 --image-shape $shape
done
refuse 2 'rows of few.h5:/colours have 60' new.html --images few.h5:colours --image-shape 5x5
refuse 2 'not a list of rows' new.html --mark 5
refuse 4 'no-such' no-such/new.html
[ ! -e new.html ] || fail "a file was left"
"$IKT_PROGRAM" view few.h5 there.html --overwrite --quiet || fail "--overwrite"
[ -s there.html ] || fail "nothing written over there.html"
[ -z "$(find . -name '*.part-*')" ] || fail "unfinished files are left"
[ "$failed" -eq 0 ] && echo "the page holds the run, on any number of ranks"
exit "$failed"
