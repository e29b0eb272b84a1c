#!/usr/bin/env bash
# One hash of the embedding over ranks 1, 2, 3, 4, 7 and threads 1, 2, for each kind of affinity. By turns a case
# has 1, 3 and 7 or 1, 2 and 4 ranks, of one or two threads; IKT_RANKS="2 3 4 7" and IKT_THREADS="1 2" run all.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

$IKT_PROGRAM generate glyphs data.h5 --points 500 --seed 3 --quiet
$IKT_PROGRAM generate glyphs other.h5 --points 300 --seed 4 --quiet
# Rows so few per cell that some share none: the adopted ones must not depend on the ranks either.
common="input.file=data.h5 output.file=out.h5 output.overwrite=yes output.measures=none
    layout.iterations=60 layout.exaggeration_iterations=20 run.seed=5 --quiet --json"
cases=("isolation.psi=64 preprocess.normalise=none layout.repulsion=fft"
    "isolation.psi=480 preprocess.pca=10 affinity.neighbours=7 layout.repulsion=fft"
    "isolation.psi=64 layout.stop=auto layout.iterations=150 layout.repulsion=fft"
    "affinity.support=dense isolation.psi=32 layout.repulsion=exact"
    "affinity.kind=gaussian gaussian.perplexity=12 preprocess.pca=20 layout.repulsion=fft"
    "affinity.kind=gaussian gaussian.perplexity=12 affinity.support=dense layout.init=random"
    # Search among near cells, with fewer candidates than rows, from a pool; with adopted rows.
    "affinity.search=approximate affinity.candidates=90 isolation.psi=16 isolation.pool=130 layout.repulsion=fft"
    "affinity.search=approximate affinity.candidates=70 affinity.neighbours=7 isolation.psi=480 layout.repulsion=fft"
    "affinity.search=approximate affinity.kind=gaussian gaussian.perplexity=5 preprocess.pca=20 layout.repulsion=fft affinity.refinements=2"
    "affinity.search=approximate affinity.kind=knn affinity.neighbours=9 affinity.candidates=30 affinity.passes=3 layout.repulsion=fft"
    # Cells found among near centres, of floats and of bytes; neighbours among the rows of near centres, or of all.
    "isolation.search=approximate isolation.candidates=70 isolation.psi=250 affinity.search=approximate preprocess.pca=10"
    "isolation.search=approximate isolation.candidates=70 isolation.psi=250 affinity.search=approximate preprocess.normalise=none"
    "isolation.search=approximate isolation.candidates=70 isolation.psi=60 preprocess.pca=10 layout.repulsion=fft"
    # Cells from random trees; neighbours that count alike; widths by the n-th neighbour.
    "isolation.form=forest isolation.psi=64 preprocess.normalise=none layout.repulsion=fft"
    "isolation.form=forest isolation.psi=300 affinity.support=dense layout.repulsion=exact"
    "isolation.form=forest affinity.search=approximate affinity.candidates=90 isolation.psi=16 isolation.pool=90"
    "affinity.kind=knn affinity.neighbours=9 preprocess.pca=20"
    "affinity.kind=knn affinity.neighbours=9 affinity.support=dense layout.init=random"
    "affinity.kind=adaptive affinity.search=approximate affinity.neighbours=12 adaptive.neighbours=5 preprocess.pca=20"
    "affinity.kind=adaptive affinity.support=dense layout.init=random"
    # The model of other rows, fewer than those embedded, with their components; of trees.
    "isolation.model_from=other.h5 isolation.psi=200 preprocess.pca=15 affinity.search=approximate affinity.candidates=90"
    "isolation.model_from=other.h5 isolation.form=forest isolation.psi=100 preprocess.normalise=none"
    # A map that contracts to nothing, nearly, and is brought back.
    "affinity.support=dense isolation.psi=1 layout.preset=matlab layout.learning_rate=60 layout.repulsion=exact"
    # A start from landmarks.
    "layout.init=landmark layout.landmarks=90 isolation.psi=64 layout.repulsion=fft"
    "layout.init=landmark affinity.search=approximate affinity.candidates=90 affinity.kind=gaussian gaussian.perplexity=5 preprocess.pca=20"
    # Eigenvectors of P: as the start, rows in slots; of dense P; as the map; with eigenvalues.
    "layout.init=spectral affinity.search=approximate affinity.candidates=90 isolation.psi=64 layout.eigengap=absolute"
    "layout.init=spectral affinity.support=dense isolation.psi=32 layout.repulsion=exact layout.dimensions=3"
    "layout.exaggeration_iterations=auto layout.iterations=auto layout.objective=eigenmap affinity.kind=gaussian gaussian.perplexity=5 preprocess.pca=20"
    # One and three dimensions, by a tree and exactly; other objectives; landmarks in a volume.
    "layout.dimensions=1 isolation.psi=64 layout.repulsion=barnes_hut"
    "layout.dimensions=3 isolation.psi=64 layout.repulsion=barnes_hut layout.init=landmark layout.landmarks=90"
    "layout.dimensions=3 affinity.support=dense isolation.psi=32 layout.repulsion=exact"
    "layout.objective=nerv isolation.psi=64 layout.repulsion=fft layout.iterations=40"
    # Steps that are too long, and halved at iteration 100.
    "layout.objective=nerv layout.tsne_iterations=0 affinity.kind=gaussian layout.iterations=110 layout.exaggeration_iterations=105 layout.learning_rate=3000"
    "layout.objective=jse layout.trade_off=0.3 isolation.psi=64 layout.repulsion=exact layout.iterations=40"
    "layout.objective=sne affinity.support=dense isolation.psi=32 layout.iterations=40"
    # UMAP and LargeVis: epochs of a small pool, rows in slots.
    "layout.exaggeration_iterations=auto affinity.kind=fuzzy layout.objective=umap umap.pool=64 umap.far_rows=5 umap.redraw=7"
    "layout.exaggeration_iterations=auto affinity.search=approximate affinity.candidates=90 isolation.psi=64 layout.objective=largevis layout.dimensions=3"
    # TriMap: far rows from epochs of a small pool; triplets that are drawn once, rows in slots.
    "layout.exaggeration_iterations=auto affinity.kind=knn layout.objective=trimap trimap.pool_rows=64 trimap.far_rows=5 trimap.redraw=7"
    "layout.exaggeration_iterations=auto affinity.search=approximate affinity.candidates=90 isolation.psi=64 layout.objective=trimap trimap.triplets=fixed layout.dimensions=3"
    # The whole kernel: small and large cells, the last iterations; rows without similarity; no cell but one; rows in
    # the order of coarse cells, or of near centres; a volume, of all pairs.
    "affinity.support=whole isolation.psi=32 whole.partitionings=8 whole.block=5 whole.last_iterations=7 whole.last_partitionings=30"
    "affinity.support=whole isolation.psi=480 isolation.partitionings=9 preprocess.pca=10 layout.repulsion=fft"
    "affinity.support=whole isolation.psi=1 isolation.partitionings=3 layout.iterations=20"
    "affinity.support=whole whole.partitionings=8 affinity.search=approximate isolation.psi=64 isolation.pool=130 layout.repulsion=fft"
    "affinity.support=whole isolation.search=approximate isolation.candidates=70 isolation.psi=120 affinity.search=approximate"
    "affinity.support=whole layout.dimensions=3 isolation.psi=64 layout.repulsion=barnes_hut layout.objective=tsne")

failed=0
turn=0
some=("1 3 7" "1 2 4")
for at in "${!cases[@]}"; do
    settings=${cases[at]}
    first=
    read -ra rank_counts <<<"${some[at % 2]}"
    [ "${IKT_RANKS:-}" != "2 3 4 7" ] || rank_counts=(1 2 3 4 7)
    for ranks in "${rank_counts[@]}"; do
        turn=$((turn + 1))
        for threads in 1 2; do
            [ "${IKT_THREADS:-}" = "1 2" ] || [ $((turn % 2 + 1)) -eq $threads ] || continue
            # shellcheck disable=SC2086
            hash=$(OMP_NUM_THREADS=$threads $IKT_MPIRUN $ranks "$IKT_PROGRAM" embed $common $settings |
                sed -n 's/.*"hash": "\([0-9a-f]*\)".*/\1/p')
            [ ${#hash} -eq 16 ] || { echo "no hash from: $settings"; exit 1; }
            : "${first:=$hash}"
            [ "$hash" = "$first" ] || failed=1
            echo "$hash  $ranks ranks x $threads threads  $settings"
        done
    done
done
exit $failed
