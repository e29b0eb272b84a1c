#!/usr/bin/env bash
# No output takes the place of what is read, or of another output, in any verb: every file that is read
# by every file that is written, by the same name, another spelling, a symbolic link, a hard link and a
# link to the folder. Refused with exit 2 and one sentence, and every file is as it was.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/python.sh"
export OMP_NUM_THREADS=1

run() { timeout 60 "$IKT_PROGRAM" "$@" >../out.txt 2>../err.txt; }
summary() { find . -type f -exec cksum {} + | sort -k 3; find . -type l -printf '%p %l\n' | sort; }

# refused READ COMMAND...: @ in the command stands for the file that is written, which is READ.
tried=0
refused() {
    local read=$1 end=${1##*.} way written code before
    shift
    for way in same spelling symbolic hard folder; do
        rm -rf now && cp -r kept now && cd now || exit 1
        case $way in
        same) written=$read ;;
        spelling) written=.//$read ;;
        symbolic) written=s.$end && ln -s "$read" "$written" ;;
        hard) written=h.$end && ln "$read" "$written" ;;
        folder) written=f/$read && ln -s . f ;;
        esac
        before=$(summary)
        run "${@//@/$written}"
        code=$?
        [ $code -eq 2 ] || fail "$way: '${*//@/$written}' leaves $code instead of 2"
        grep -q 'are the same file: .* is read and cannot be the output, too' ../err.txt ||
            fail "$way: no sentence: ${*//@/$written}"
        [ "$before" = "$(summary)" ] || fail "$way: files are not as they were: ${*//@/$written}"
        cd .. || exit 1
        tried=$((tried + 1))
    done
}

# apart COMMAND...: @1 and @2 stand for two outputs that are the same file, which is not there yet.
apart() {
    local way first=new.h5 second code before
    for way in same spelling symbolic folder; do
        rm -rf now && cp -r kept now && cd now || exit 1
        case $way in
        same) second=$first ;;
        spelling) second=./../now//$first ;;
        symbolic) second=s.h5 && ln -s "$first" "$second" ;;
        folder) second=f/$first && ln -s . f ;;
        esac
        before=$(summary)
        local words=("${@//@1/$first}")
        run "${words[@]//@2/$second}"
        code=$?
        [ $code -eq 2 ] || fail "$way: '${words[*]//@2/$second}' leaves $code instead of 2"
        grep -q 'are the same file: ' ../err.txt || fail "$way: no sentence: ${words[*]//@2/$second}"
        [ "$before" = "$(summary)" ] || fail "$way: files are not as they were: ${words[*]//@2/$second}"
        cd .. || exit 1
        tried=$((tried + 1))
    done
}

# What is read.
mkdir kept && cd kept || exit 1
short="layout.iterations=20 isolation.psi=16 isolation.partitionings=50 output.picture=none"
run generate gaussian-mixture data.h5 --points 60 --clusters 3 --dimensions 4 || fail "data"
for copy in new.h5 from.h5 labels.h5 train.h5; do cp data.h5 kept-$copy; done
run embed data.h5 map.h5 output.model=model.h5 output.graph=graph.h5 $short || fail "a map"
cp map.h5 beside.h5
awk 'BEGIN { for (i = 0; i < 60; i++) for (j = 0; j < 60; j++)
    printf "%g%s", exp(-(i - j) * (i - j) / 50), j < 59 ? "," : "\n" }' >matrix.csv
run convert matrix.csv matrix.h5 || fail "a matrix"
{ echo word && seq -f 'w%g' 60; } >alone.csv
printf 'input: {file: data.h5}\noutput: {file: new.h5}\nlayout: {iterations: 20}\n' >run.yaml
cd .. || exit 1

yes=output.overwrite=yes
embeds() {
    local output reads read
    for output in file picture model graph; do
        reads="output.$output=@ $yes"
        [ $output = file ] || reads="$reads output.file=new.h5"
        refused run.yaml embed run.yaml $reads
        refused data.h5 embed input.file=data.h5 $reads
        refused matrix.h5 embed input.similarities=matrix.h5:X $reads
        refused graph.h5 embed input.graph=graph.h5 $reads
        for read in input.labels=kept-labels.h5:labels "affinity.kind=fisher fisher.train=kept-train.h5:labels" \
            isolation.model_from=kept-from.h5 layout.init_file=map.h5; do
            name=${read##*=}
            refused "${name%:*}" embed input.file=data.h5 $read $reads
        done
    done
    refused data.h5 embed data.h5 @ $yes --dry-run
    refused map.h5 embed input.file=data.h5 layout.init_file=map.h5 output.file=@ --extend 5
}
embeds

outputs() {
    local file=output.file=@1
    apart embed data.h5 $file output.picture=@2
    apart embed data.h5 $file output.model=@2
    apart embed data.h5 $file output.graph=@2
    apart embed data.h5 $file run.checkpoint=@2
    apart embed data.h5 x.h5 output.model=@1 output.graph=@2
    apart embed data.h5 x.h5 output.model=@1 output.picture=@2
    apart embed data.h5 x.h5 output.picture=@1 output.graph=@2
    apart embed data.h5 x.h5 output.model=@1 run.checkpoint=@2
    apart transform model.h5 data.h5 @1 --picture @2
}
outputs

others() {
    refused data.h5 landmarks data.h5 @ --count 5 --overwrite
    refused data.h5 generate deform @ --source data.h5 --overwrite
    refused matrix.csv convert matrix.csv @ --overwrite
    refused data.h5 convert data.h5 @ --rows 20 --overwrite
    refused kept-labels.h5 convert matrix.csv @ --labels kept-labels.h5:labels --overwrite
    for new in "@ --picture none" "o.h5 --picture @"; do
        refused model.h5 transform model.h5 data.h5 $new --overwrite
        refused data.h5 transform model.h5 data.h5 $new --overwrite
        refused kept-labels.h5 transform model.h5 data.h5 $new --labels kept-labels.h5:labels --overwrite
    done
    refused map.h5 align map.h5 beside.h5 @ --overwrite
    refused beside.h5 align map.h5 beside.h5 @ --overwrite
    refused map.h5 evaluate map.h5 --input data.h5 --measures ranks --curve @ --overwrite
    refused data.h5 evaluate map.h5 --input data.h5 --measures ranks --curve @ --overwrite
    refused kept-labels.h5 evaluate map.h5 --input data.h5 --measures ranks --labels kept-labels.h5:labels --curve @ --overwrite
    refused kept-from.h5 evaluate map.h5 isolation.model_from=kept-from.h5 --input data.h5 --measures ranks --curve @ --overwrite
    refused map.h5 export map.h5 @ --format npy --overwrite
    refused kept-labels.h5 export map.h5 @ --format csv --columns labels,kept-labels.h5:labels --overwrite
    refused alone.csv export map.h5 @ --columns alone.csv --overwrite
    refused alone.csv export map.h5 @ --columns labels,alone.csv:word --overwrite
    refused alone.csv view map.h5 @ --colour-by alone.csv --overwrite
    refused alone.csv view map.h5 @ --hover labels,alone.csv --overwrite
    refused alone.csv plot map.h5 @ --colour-by alone.csv --overwrite
    refused alone.csv evaluate map.h5 --input data.h5 --measures ranks --labels alone.csv --curve @ --overwrite
    refused map.h5 view map.h5 @ --overwrite
    refused beside.h5 view map.h5 @ --beside beside.h5 --overwrite
    refused kept-labels.h5 view map.h5 @ --colour-by labels,kept-labels.h5:labels --overwrite
    refused kept-labels.h5 view map.h5 @ --hover kept-labels.h5:labels --overwrite
    refused data.h5 view map.h5 @ --images data.h5:X --image-shape 2x2 --overwrite
    refused data.h5 view map.h5 @ --genes a --genes-from data.h5:X --overwrite
    refused map.h5 plot map.h5 @ --overwrite
    refused beside.h5 plot map.h5 @ --behind beside.h5 --overwrite
    refused kept-labels.h5 plot map.h5 @ --colour-by kept-labels.h5:labels --overwrite
    refused data.h5 plot map.h5 @ --genes a --genes-from data.h5:X --overwrite
}
others
[ $tried -gt 300 ] || fail "$tried commands were tried"

# What an output is called until it is complete, the files of a checkpoint, constants of a machine, the
# folder of a study.
derived() {
    rm -rf now && cp -r kept now && cd now || exit 1
    mv data.h5 new.h5.part-0123abcd-0123abcd
    local before
    before=$(summary)
    run embed new.h5.part-0123abcd-0123abcd new.h5 && fail "input in the place of an unfinished output"
    grep -q 'input.file has the name new.h5.part-0123abcd-0123abcd, and output.file is written to a file of such a name' ../err.txt ||
        fail "no sentence on unfinished outputs"
    mv new.h5.part-0123abcd-0123abcd data.h5
    mkdir new.h5.checkpoint
    run embed data.h5 new.h5 output.model=new.h5.checkpoint/loop.h5 && fail "a model in the place of a checkpoint"
    grep -q 'run.checkpoint and output.model are the same file' ../err.txt || fail "no sentence on checkpoints"
    rmdir new.h5.checkpoint
    run plan --calibrate --machine data.h5 && fail "constants in the place of data"
    grep -q 'data.h5 holds no constants of a machine' ../err.txt || fail "no sentence on constants"
    [ "$before" = "$(mv data.h5 new.h5.part-0123abcd-0123abcd && summary)" ] || fail "files are not as they were"
    cd .. || exit 1
}
derived

# What is no clash: the same name in two folders, streams, a name that is a data set and a file, a run
# that is extended, and an AnnData file that gets the map of another of its maps.
allowed() {
    rm -rf now && cp -r kept now && cd now || exit 1
    mkdir other
    run convert data.h5 other/data.h5 || fail "the same name in another folder"
    run embed data.h5 a.h5 $short output.picture=/dev/null || fail "a stream"
    cp data.h5 da:ta.h5 && run view map.h5 page.html --images da:ta.h5 --image-shape 2x2 || fail "a name with a colon"
    cp map.h5 labels
    run plot map.h5 labels --colour-by labels --overwrite || fail "a file with the name of a data set"
    run embed data.h5 map.h5 $short output.model= output.graph= --extend 5 || fail "--extend"
    cd .. || exit 1
    local python
    python=$(find_python numpy h5py) || return 0
    (cd now && "$python" -c '
import h5py, numpy
with h5py.File("cells.h5ad", "w") as f:
    f["obsm/X_umap"] = numpy.random.default_rng(1).random((60, 2))
    f["X"] = numpy.ones((60, 3), "f4")
    f["obs/_index"] = numpy.arange(60).astype("S")
    f["obs"].attrs["_index"] = "_index"
    f.attrs["encoding-type"], f["obs"].attrs["encoding-type"] = "anndata", "dataframe"
    f.attrs["encoding-version"] = "0.1.0"') || fail "an AnnData file"
    cd now || exit 1
    run export cells.h5ad:obsm/X_umap cells.h5ad --in-place --key X_copy || fail "a map beside another one"
    cd .. || exit 1
}
allowed

# What a file that is read is made of: the folder of a matrix as 10x Genomics has it, the parts of a
# virtual data set, the file that an external link leads to.
parts() {
    local python output
    rm -rf now && cp -r kept now && cd now || exit 1
    mkdir cells
    {
        echo "%%MatrixMarket matrix coordinate integer general"
        echo "6 40 40"
        awk 'BEGIN { for (i = 0; i < 40; i++) print i % 6 + 1, i + 1, i % 3 + 1 }'
    } >cells/matrix.mtx
    awk 'BEGIN { for (i = 0; i < 40; i++) print "c" i }' >cells/barcodes.tsv
    awk 'BEGIN { for (i = 0; i < 6; i++) print "g" i "\tg" i "\tGene" }' >cells/features.tsv
    ln -s cells/matrix.mtx link.h5
    for output in cells/matrix.mtx cells/barcodes.tsv cells/../cells/features.tsv link.h5; do
        part_is_kept convert cells $output --overwrite
        part_is_kept convert cells/matrix.mtx $output --overwrite
    done
    run convert cells cells/rows.h5 && run convert cells cells/rows.h5 --overwrite ||
        fail "a file that is not the matrix's: $(cat ../err.txt)"
    python=$(find_python numpy h5py) || { cd .. && return 0; }
    "$python" -c '
import h5py
layout = h5py.VirtualLayout((60, 4), dtype=h5py.File("data.h5")["X"].dtype)
layout[:] = h5py.VirtualSource("data.h5", "X", (60, 4))
h5py.File("virtual.h5", "w").create_virtual_dataset("X", layout)
h5py.File("external.h5", "w")["X"] = h5py.ExternalLink("data.h5", "/X")' || fail "files made of another"
    ln data.h5 hard.h5
    ln -sf data.h5 link.h5
    for output in data.h5 hard.h5 link.h5; do
        for read in virtual.h5 external.h5; do
            part_is_kept convert $read $output --overwrite
            part_is_kept embed $read $output $yes $short
        done
    done
    run embed virtual.h5 other.h5 $short || fail "a virtual data set: $(cat ../err.txt)"
    run embed external.h5 other.h5 $yes $short || fail "an external link: $(cat ../err.txt)"
    cd .. || exit 1
}
part_is_kept() {
    local before code
    before=$(summary)
    run "$@"
    code=$?
    [ $code -eq 2 ] || fail "'$*' leaves $code instead of 2: $(cat ../err.txt)"
    grep -q 'cannot be the output, too' ../err.txt || fail "no sentence: $*"
    [ "$before" = "$(summary)" ] || fail "files are not as they were: $*"
}
parts

exit $failed
