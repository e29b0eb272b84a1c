#!/usr/bin/env bash
# input.graph as Matrix Market text and as archives of scipy.sparse: the bits of the same graph in HDF5,
# on any ranks; damaged files are refused with line, row or reason.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"
. "$IKT_SOURCE/tests/support/embed.sh"

python=/usr/bin/python3
$python -c 'import h5py, numpy, scipy.sparse' 2>/dev/null || { echo "skipped: needs h5py and scipy"; exit 77; }
$python "$IKT_SOURCE/tests/io/graph_formats.py" >out.txt 2>err.txt || fail "the graphs cannot be made"
common="layout.iterations=40 output.measures=none output.overwrite=yes run.checkpoint=none --quiet"
archives=1 # a build without libzip has none
"$IKT_PROGRAM" convert similarities.npz probe.h5 >out.txt 2>err.txt || ! grep -q libzip err.txt || archives=0


embed 1 input.graph=graph.h5
wanted=$hash
for ranks in 1 "${other_ranks[@]}"; do
    gives "$wanted" $ranks input.graph=similarities.mtx
    gives "$wanted" $ranks input.graph=any.mtx graph.values=similarities
done
gives "$wanted" 1 input.graph=similarities.mtx.gz
gives "$wanted" 3 input.graph=similarities.mtx.gz
if [ $archives -eq 1 ]; then
    for ranks in 1 3 7; do gives "$wanted" $ranks input.graph=connectivities.npz; done
    gives "$wanted" 2 input.graph=similarities.npz
    gives "$wanted" 2 input.graph=columns.npz graph.values=similarities
    gives "$wanted" 2 input.graph=triplets.npz graph.values=similarities
fi
# TriMap compares the numbers of the same graphs.
embed 1 input.graph=graph.h5 layout.objective=trimap
triplets=$hash
gives "$triplets" 3 input.graph=similarities.mtx layout.objective=trimap
gives "$triplets" 2 input.graph=similarities.mtx.gz layout.objective=trimap
if [ $archives -eq 1 ]; then
    gives "$triplets" 4 input.graph=similarities.npz layout.objective=trimap
    gives "$triplets" 2 input.graph=columns.npz graph.values=similarities layout.objective=trimap
fi
for name in both whole pattern; do
    embed 2 input.graph=$name.h5
    values=graph.values=similarities
    [ $name = pattern ] && values= # says itself that it has none
    for ranks in 1 3; do gives "$hash" $ranks input.graph=$name.mtx $values; done
done

# Eigenvectors of the P of a graph are a map of it, and a start of one.
for how in layout.objective=eigenmap "layout.init=spectral layout.iterations=40"; do
    common="output.measures=none output.overwrite=yes run.checkpoint=none --quiet"
    embed 1 input.graph=graph.h5 $how
    gives "$hash" 3 input.graph=similarities.mtx $how
done
common="layout.iterations=40 $common"

# A run on a saved graph, a plan, and labels from a file of their own.
embed 2 input.graph=similarities.mtx output.graph=kept.h5
gives "$wanted" 3 input.graph=kept.h5
$python -c 'import numpy; numpy.save("labels.npy", numpy.arange(300) % 3)'
embed 2 input.graph=similarities.mtx input.labels=labels.npy
"$IKT_PROGRAM" embed input.graph=similarities.mtx output.file=planned.h5 --dry-run >out.txt 2>err.txt || fail "a plan"
"$IKT_PROGRAM" evaluate run.h5 --kl >out.txt 2>err.txt || fail "evaluate --kl"

given="embed output.file=refused.h5 graph.values=similarities"
expect 3 "word.mtx, line 3000, column 4: 'x' is no column of the matrix" $given input.graph=word.mtx
expect 3 "outside.mtx, line 3001, column 1: '301' is no row of the matrix" $given input.graph=outside.mtx
expect 3 "more.mtx, line 400, column 11: '7' is more than an entry has" $given input.graph=more.mtx
expect 3 "infinite.mtx, line 3500, column 7: 'inf' is not the finite number" $given input.graph=infinite.mtx
expect 3 "both-faults.mtx, line 400" $given input.graph=both-faults.mtx
expect 3 "negative.mtx, row 99, column 199: -0.5 is negative" $given input.graph=negative.mtx
expect 3 "two entries in one place" $given input.graph=twice.mtx
expect 3 "has 300 rows but 301 columns" $given input.graph=wide.mtx
expect 3 "does not hold the numbers of rows, columns and entries" $given input.graph=nonsense.mtx
expect 3 "neither real, integer nor pattern" $given input.graph=hermitian.mtx
expect 3 "dense array" $given input.graph=array.mtx
expect 3 "announces 3600 entries and holds 3599" $given input.graph=few.mtx
expect 4 "short.mtx.gz, line .*truncated" $given input.graph=short.mtx.gz
expect 2 "holds one matrix" $given input.graph=similarities.mtx:graph
expect 2 "does not say what its numbers are" embed output.file=refused.h5 input.graph=any.mtx
if [ $archives -eq 1 ]; then
    expect 4 "short.npz is truncated or damaged" $given input.graph=short.npz
    expect 3 "dense.npz holds a dense array" $given input.graph=dense.npz
    for values in similarities distances probabilities none; do
        for name in nan inf; do
            expect 3 "$name.npz, row 8, column [0-9]*: -\?$name is not finite" embed output.file=refused.h5 \
                input.graph=$name.npz graph.values=$values
        done
    done
fi

[ $failed -eq 0 ] && echo "ok: graphs of other formats"
exit $failed
