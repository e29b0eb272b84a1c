#!/usr/bin/env bash
# An output has no name that says another format: every verb refuses it before its work, the plan and
# the rehearsal as the run does, and the sentence names what to write instead. Endings that nobody knows stay.
. "$(dirname "${BASH_SOURCE[0]}")/../support/watch.sh"

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 300 --dimensions 4 --clusters 3 --quiet || exit 1
for row in 1 2 3; do echo 1,2,3,4; done >rows.csv
embed="data.h5 isolation.psi=8 layout.iterations=5 layout.exaggeration_iterations=2 output.measures=none output.picture=none"
"$IKT_PROGRAM" embed $embed output.file=run.h5 output.model=model.h5 --quiet >out.txt 2>err.txt || exit 1
cp run.h5 other.h5

# refused ROLE NAME FORMAT BETTER HOW ARGUMENTS...: on one rank and on three, and nothing of that name is there then.
refused() {
    local words="$1 is ${what:-an HDF5 file}, and by the name $2 programs would take it for $3: name it $4$5\$" ranks
    for ranks in 1 3; do try 2 "$words" $ranks "${@:6}"; done
    [ ! -e "$2" ] || fail "$2 is there: ${*:6}"
    grep -qE 'preprocess:|codes:|rows, ' err.txt && fail "refused after work: ${*:6}"
}

made() { echo "; .iktsne $1 $2 $3. makes that of it"; }
for verb in embed plan "embed --dry-run"; do
    refused output.file x.npy NPY x.h5 "$(made export x.h5 x.npy)" $verb $embed output.file=x.npy
done
refused output.file x.npy NPY x.h5 "$(made export x.h5 x.npy)" embed data.h5 x.npy
refused output.file 'x y.csv.gz' CSV 'x y.h5' "; .iktsne export 'x y.h5' 'x y.csv.gz'. makes that of it" embed $embed "output.file=x y.csv.gz"
refused output.file x.png PNG x.h5 "$(made plot x.h5 x.png)" embed $embed output.file=x.png
refused output.file x.HTML HTML x.h5 "$(made view x.h5 x.HTML)" embed $embed output.file=x.HTML
refused output.model m.npz NPZ m.h5 "" embed $embed output.file=x.h5 output.model=m.npz
refused output.graph g.mtx "Matrix Market" g.h5 "" plan $embed output.file=x.h5 output.graph=g.mtx
refused OUTPUT.h5 x.npy NPY x.h5 "" convert rows.csv x.npy
refused OUTPUT.h5 x.h5.gz gzip x.h5 "" convert rows.csv x.h5.gz
refused OUT.h5 x.csv CSV x.h5 "" generate glyphs x.csv --points 30
refused OUT.h5 x.parquet Parquet x.h5 "" generate glyphs x.parquet --points 30
refused OUT.h5 x.tsv TSV x.h5 "$(made export x.h5 x.tsv)" transform model.h5 data.h5 x.tsv
refused OUT.h5 x.pdf PDF x.h5 "$(made plot x.h5 x.pdf)" align run.h5 other.h5 x.pdf
refused output.file x.json JSON x.h5 "" landmarks data.h5 x.json --count 10
refused OUT x.csv CSV x.vtkhdf "" export run.h5 x.csv --format vtkhdf

# Pictures, pages and tables likewise.
what="a picture"
for verb in embed plan "embed --dry-run"; do
    refused output.picture x.csv CSV x.png " (or .svg, .pdf)" $verb data.h5 x.h5 isolation.psi=8 output.picture=x.csv
done
refused output.picture x.png.gz gzip x.png " (or .svg, .pdf)" plan data.h5 x.h5 output.picture=x.png.gz
refused --picture t.jpg JPEG t.png " (or .svg, .pdf)" transform model.h5 data.h5 x.h5 --picture t.jpg
refused OUT x.html HTML x.png " (or .svg, .pdf)" plot run.h5 x.html
refused OUT x.hdf5 HDF5 x.png " (or .svg, .pdf)" plot run.h5 x.hdf5
what="an HTML page" refused OUT.html x.png PNG x.html " (or .htm)" view run.h5 x.png
what="CSV text" refused OUT x.npy NPY x.csv " (or .txt, .gz)" export run.h5 x.npy --format csv
what=NPY refused OUT x.txt text x.npy "" export run.h5 x.txt --format npy
what="CSV text" refused --curve x.png PNG x.csv " (or .txt)" evaluate run.h5 --input data.h5 --measures ranks --curve x.png
for name in p.SVG p.pdf p.png p.xyz; do try 0 "" 1 plot run.h5 $name --quiet; done
for name in t.txt t.csv.gz t.txt.gz t.xyz; do try 0 "" 1 export run.h5 $name --format csv --quiet; done
try 0 "" 1 view run.h5 v.htm --quiet

# Names that say nothing, say HDF5, or are no name of a file.
mkdir some.csv
for name in plain x.h5 x.hdf5 x.h5ad x.out run.5 some.csv/.npy; do
    try 0 "" 1 convert rows.csv $name --quiet
    [ -s $name ] || fail "$name is not there"
done
report
