#!/usr/bin/env bash
# valgrind on two ranks: no memory of ours is lost or still held at the end, no memory is read before it
# is written, by runs that succeed and by runs that fail. What libraries keep is in leaks.supp.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
command -v valgrind >/dev/null || { echo "skipped: valgrind is not installed"; exit 77; }
"$IKT_PROGRAM" --version | grep "^MPI: .*Open MPI" >/dev/null ||
    { echo "skipped: leaks.supp knows what Open MPI keeps, and this is another MPI"; exit 77; }
export OMP_NUM_THREADS=1 HWLOC_COMPONENTS=-x86 # hwloc cannot ask the processor under valgrind
export IKTSNE_FORK=no # valgrind would hold what a forked process leaves behind for lost, too
tests=$(dirname "$IKT_PROGRAM")/tests
check=(valgrind --quiet --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all --num-callers=40
    --suppressions="$IKT_SOURCE/tests/fault/leaks.supp" --error-exitcode=99 --log-file=valgrind.%p)

# clean CODE RANKS COMMAND...: exit code CODE, and nothing to report.
clean() {
    local code=$1 ranks=$2 got
    shift 2
    rm -f valgrind.*
    timeout 200 $IKT_MPIRUN "$ranks" "${check[@]}" "$@" >out.txt 2>err.txt
    got=$?
    cat valgrind.* >report.txt
    [ "$got" -eq "$code" ] && [ ! -s report.txt ] && return
    [ "$code" -eq 99 ] && [ "$got" -eq 99 ] && [ -s report.txt ] && return
    fail "exit code $got instead of $code: ${*:2}"
    head -n 200 report.txt
}

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 120 --dimensions 4 --clusters 3 --quiet || exit 1
"$tests/write_h5" nan.h5 || exit 1
# Methods: dense and exact, a line by the tree, NeRV by distances, trees and landmarks in a volume; and
# two whose runs fail, before the loop and in it.
cat >study.yaml <<'Y'
title: small
data: [{name: blobs, generate: gaussian-mixture, options: {points: 60, dimensions: 4, clusters: 3}}]
settings: {layout.iterations: 12, layout.exaggeration_iterations: 4}
methods:
  - {name: dense, settings: {affinity.support: dense, isolation.psi: 4}}
  - {name: line, settings: {layout.repulsion: barnes_hut, layout.dimensions: 1, affinity.search: approximate, affinity.refinements: 1}}
  - {name: distances, settings: {affinity.kind: gaussian, layout.objective: nerv}, vary: {gaussian.perplexity: [5, 200]}}
  - {name: trees, settings: {isolation.form: forest, layout.init: landmark, layout.landmarks: 20, layout.dimensions: 3}}
  - {name: wild, settings: {layout.learning_rate: 1e12, layout.repulsion: exact}}
seeds: [1]
measures: [AUC_RNX]
Y

clean 0 2 "$IKT_PROGRAM" embed input.file=data.h5 output.file=run.h5 output.model=model.h5 output.picture=run.png \
    layout.repulsion=fft isolation.psi=8 layout.iterations=20 layout.exaggeration_iterations=5 \
    affinity.search=approximate preprocess.pca=3 run.log=json
clean 0 2 "$IKT_PROGRAM" transform model.h5 data.h5 placed.h5 --picture placed.png
clean 0 2 "$IKT_PROGRAM" evaluate run.h5 --input data.h5
clean 0 2 "$IKT_PROGRAM" plot run.h5 plot.png
clean 0 2 "$IKT_PROGRAM" study study.yaml --output study --ranks 2
grep -c ',failed,' study/results.csv | grep -qx 2 || fail "not two failing runs: $(cut -c1-200 study/results.csv)"
clean 3 2 "$IKT_PROGRAM" embed input.file=nan.h5 output.file=none.h5 output.model=none2.h5

# All that would have been seen: lost memory of ours, and objects of libraries that were forgotten.
clean 99 1 "$tests/lose"
for call in ikt_alloc fftw_plan_r2r_1d PMPI_Comm_dup; do
    grep -q "by .*: $call" report.txt || { fail "what $call gave was lost, and valgrind did not see it"; cat report.txt; }
done
exit "$failed"
