#!/usr/bin/env bash
# Matrices of similarities as the input: kernel PCA and kernel discriminant analysis are those of
# numpy, also of matrices that are clipped, flipped or shifted; t-SNE runs on them; the same bits on
# any ranks; the figures of the Voting matrix; bad matrices and settings are refused with the reason.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"
. "$IKT_SOURCE/tests/support/embed.sh"

python=/usr/bin/python3
files=$IKT_SOURCE/tests/io/similarity_files.py
$python -c 'import h5py, numpy' 2>/dev/null || { echo "skipped: needs h5py"; exit 77; }
$python "$files" make >out.txt 2>err.txt || fail "the matrices cannot be made"
common="output.measures=none output.overwrite=yes run.checkpoint=none"

is() { # WHAT RANKS ARGUMENTS...: the embedding is that of numpy
    local what=$1
    shift
    embed "$@"
    $python "$files" check run.h5 "$what" >out.txt 2>err.txt || fail "$what: $*"
}

# --- maps of one step ---

sim=input.similarities=sim.h5
is kpca 1 $sim:K layout.objective=kpca
wanted=$hash
for ranks in "${other_ranks[@]}"; do gives "$wanted" $ranks $sim:K layout.objective=kpca; done
gives "$wanted" 2 input.file=sim.h5 input.similarities=K layout.objective=kpca
gives "$wanted" 1 input.similarities=K.npy layout.objective=kpca
gives "$wanted" 3 $sim:K layout.objective=kpca kernel.solver=full
gives "$wanted" 2 $sim:K layout.objective=kpca input.spectrum=clip
is kpca 2 $sim:slightly layout.objective=kpca
embed 1 $sim:half layout.objective=kpca
gives "$hash" 2 $sim:rounded layout.objective=kpca
is kpca 1 input.file=rows.h5 preprocess.normalise=none kernel.kind=linear layout.objective=kpca
is whole 1 $sim:whole layout.objective=kpca
is asymmetric 3 $sim:asymmetric input.symmetrise=yes layout.objective=kpca
is raw 2 $sim:indefinite layout.objective=kpca
for spectrum in clip flip shift; do
    is $spectrum 1 $sim:indefinite input.spectrum=$spectrum layout.objective=kpca
    for ranks in 3 7; do gives "$hash" $ranks $sim:indefinite input.spectrum=$spectrum layout.objective=kpca; done
done
is kda 1 $sim:K layout.objective=kda kernel.ridge=3
for ranks in 2 4 7; do gives "$hash" $ranks $sim:K layout.objective=kda kernel.ridge=3; done
is kda 1 input.file=rows.h5 preprocess.normalise=none kernel.kind=linear layout.objective=kda kernel.ridge=3
embed 3 $sim:K input.labels=some layout.objective=kda kernel.ridge=3
grep -q '60 labelled rows in 3 classes (30 rows have no label), ridge 3: 1-NN error' err.txt ||
    fail "the labels that were used are not told"
is some 3 $sim:K input.labels=some layout.objective=kda kernel.ridge=3
embed 1 $sim:K layout.objective=kda
for ranks in 3 7; do gives "$hash" $ranks $sim:K layout.objective=kda; done
for kind in gaussian isolation; do
    embed 1 input.file=rows.h5 kernel.kind=$kind layout.objective=kpca kernel.landmarks=40
    gives "$hash" 3 input.file=rows.h5 kernel.kind=$kind layout.objective=kpca kernel.landmarks=40
    embed 1 $sim:indefinite kernel.kind=$kind layout.objective=kda
    gives "$hash" 4 $sim:indefinite kernel.kind=$kind layout.objective=kda
done

# --- t-SNE, its starts, what a run writes back, plans and measures ---

short="layout.iterations=60 layout.exaggeration_iterations=20 gaussian.perplexity=10"
embed 1 $sim:indefinite affinity.kind=gaussian $short
wanted=$hash
gives "$wanted" 3 $sim:indefinite affinity.kind=gaussian $short layout.init=kpca
for more in layout.init=kda layout.init=random input.spectrum=clip "affinity.support=dense"; do
    embed 1 $sim:indefinite affinity.kind=gaussian $short $more
    gives "$hash" 3 $sim:indefinite affinity.kind=gaussian $short $more
    [ "$hash" != "$wanted" ] || fail "$more changes nothing"
done
embed 1 $sim:indefinite layout.iterations=30 layout.exaggeration_iterations=10 isolation.psi=8
gives "$hash" 2 $sim:indefinite layout.iterations=30 layout.exaggeration_iterations=10 isolation.psi=8
embed 1 input.file=rows.h5 layout.init=kda layout.iterations=30 layout.exaggeration_iterations=10 isolation.psi=8
gives "$hash" 3 input.file=rows.h5 layout.init=kda layout.iterations=30 layout.exaggeration_iterations=10 isolation.psi=8
for run in "$sim:indefinite input.spectrum=flip layout.objective=kda" "input.file=rows.h5 kernel.kind=gaussian layout.objective=kpca"; do
    # shellcheck disable=SC2086
    embed 2 $run
    wanted=$hash
    "$IKT_PROGRAM" info run.h5 --config >again.yaml 2>err.txt || fail "info --config"
    gives "$wanted" 1 again.yaml
done
embed 1 $sim:K layout.objective=kpca output.measures=all --verbose
grep -q '1-NN error, input' out.txt || fail "no error of the input"
grep -q 'global score' out.txt && fail "a measure of coordinates is computed of similarities"
"$IKT_PROGRAM" evaluate run.h5 --input sim.h5 >out.txt 2>err.txt || fail "evaluate --input FILE"
grep -q '1-NN error, input' out.txt || fail "no error of the input in evaluate"
"$IKT_PROGRAM" evaluate run.h5 --input sim.h5:K >out.txt 2>err.txt || fail "evaluate --input FILE:DATASET"
"$IKT_PROGRAM" plan $sim:K layout.objective=kpca >out.txt 2>err.txt || fail "plan of similarities"
"$IKT_PROGRAM" embed $sim:K layout.objective=kda output.file=no.h5 --dry-run >out.txt 2>err.txt || fail "dry run"

# --- the Fisher metric: of inner products it is that of the rows ---

fisher="affinity.kind=fisher fisher.sigma=2 layout.init=random $short"
# shellcheck disable=SC2086
embed 1 input.file=rows.h5 preprocess.normalise=none $fisher
cp run.h5 of-rows.h5
# shellcheck disable=SC2086
embed 1 $sim:K $fisher
$python - <<'PYTHON' >out.txt 2>err.txt || fail "probabilities of rows and of their inner products"
import h5py, numpy as np
a, b = (h5py.File(name)["fisher/posterior"][()] for name in ("of-rows.h5", "run.h5"))
sys_ok = a.shape == b.shape and np.abs(a - b).max() < 1e-4 and np.abs(b.sum(1) - 1).max() < 1e-5
raise SystemExit(0 if sys_ok and a.std() > 0.1 else 1)
PYTHON
for set in "$sim:K" "$sim:indefinite" "input.file=rows.h5 kernel.kind=isolation isolation.psi=8" \
    "input.file=rows.h5 kernel.kind=gaussian fisher.sigma=0.3" "$sim:indefinite fisher.own=kept"; do
    # shellcheck disable=SC2086
    embed 1 $fisher $set
    # shellcheck disable=SC2086
    for ranks in 2 3 7; do gives "$hash" $ranks $fisher $set; done
done

# Pairs of which the square of a distance would be negative are counted.
# shellcheck disable=SC2086
embed 2 $sim:uneven affinity.kind=fisher fisher.sigma=2 layout.init=random $short
pairs=$($python -c 'import h5py, numpy as np; print((np.triu(h5py.File("sim.h5")["uneven"][()], 1) > 1).sum())')
grep -q "fisher: $pairs of 4005 pairs of the support are more similar to each other than to themselves" err.txt || fail "not $pairs pairs"

# New rows by their similarities to the support: rows of the matrix that come again are nearest to themselves.

# shellcheck disable=SC2086
embed 1 $sim:indefinite $fisher fisher.support=20 output.model=model.h5
$python - <<'PYTHON' || fail "similarities to the support"
import h5py, numpy as np
k, support = h5py.File("sim.h5")["indefinite"][()], h5py.File("model.h5")["fisher/support"][()]
rows = np.setdiff1d(np.arange(len(k)), support)
np.save("new.npy", k[np.ix_(rows, support)])
np.save("rows.npy", rows)
PYTHON
"$IKT_PROGRAM" transform model.h5 new.npy placed.h5 --overwrite --quiet >out.txt 2>err.txt || fail "new similarities: $(cat err.txt)"
for ranks in 3 7; do
    # shellcheck disable=SC2086
    $IKT_MPIRUN $ranks "$IKT_PROGRAM" transform model.h5 new.npy again.h5 --overwrite --quiet >again.txt 2>err.txt
    grep -qF "$(grep 'embedding hash' out.txt)" again.txt || fail "new similarities on $ranks ranks"
done
$python - <<'PYTHON' || fail "rows of the matrix are not nearest to themselves"
import h5py, numpy as np
rows, f = np.load("rows.npy"), h5py.File("placed.h5")
assert np.array_equal(f["diagnostics/nearest"][()], rows) and f["diagnostics/similarity"][()].min() == 1
PYTHON
"$IKT_PROGRAM" transform model.h5 K.npy no.h5 >out.txt 2>err.txt
[ $? -eq 3 ] && grep -q 'from their similarities to the 20 rows of its support' err.txt || fail "similarities to other rows are placed"

# --- Voting (Schulz, Brinkrolf & Hammer 2017): 24 and 29 of 435 rows in the space and by kernel PCA ---

voting=$IKT_TEST_DATA/sim_voting.h5
error_of() { sed -n "s/^$1   *\([0-9.]*\).*/\1/p" out.txt | head -1; }
if [ -e "$voting" ]; then
    wanted=
    for ranks in 1 "${other_ranks[@]}"; do
        embed $ranks input.similarities="$voting:K" layout.objective=kpca output.measures=all --verbose
        [ "$(error_of 'error of the nearest neighbour in the input')" = 0.0551724 ] || fail "Voting, input"
        [ "$(error_of 'error of the nearest neighbour')" = 0.0666667 ] || fail "Voting, kernel PCA"
        [ "$hash" = "${wanted:=$hash}" ] || fail "Voting on $ranks ranks"
    done
    # With own weights left out and all rows in the support, 8.0 % in the Fisher metric.
    embed 2 input.similarities="$voting:K" affinity.kind=fisher fisher.sigma=perplexity layout.iterations=20
    grep -q '435 of 435.* of the nearest train row 8.0 % by the metric' err.txt || fail "Voting, Fisher metric"
    # Permuted labels of the support are told by the map, and a warning says by what (docs/fisher.md, "Own labels").
    embed 2 input.similarities="$voting:K" affinity.kind=fisher fisher.sigma=perplexity fisher.permute=yes gaussian.perplexity=20 \
        affinity.neighbours=60 layout.init=random layout.iterations=500
    grep -q 'permuted labels have an error of .* by what each lacks without its own weight' err.txt || fail "Voting, permuted labels"
    for ridge in 0.01:0.0413793 0.1:0.0344828; do
        embed 2 input.similarities="$voting:K" layout.objective=kda kernel.ridge=${ridge%:*} output.measures=map --verbose
        [ "$(error_of 'error of the nearest neighbour')" = "${ridge#*:}" ] || fail "Voting, ridge $ridge"
    done
fi

# --- refused ---

refused() { # CODE WORDS ARGUMENTS...
    local code=$1 words=$2
    shift 2
    expect "$code" "$words" embed output.file=x.h5 output.overwrite=yes run.checkpoint=none "$@"
}
k="$sim:K layout.objective=kpca"
refused 3 'row 7, column 9 is .*, and row 9, column 7 is .*, the pair that differs most' $sim:skew layout.objective=kpca
refused 3 'needs a square matrix' $sim:oblong layout.objective=kpca
refused 3 'three rows at least, and there are 2' input.similarities=few.h5:K layout.objective=kpca
refused 3 'row 7, column 9: nan is no finite number' $sim:nan layout.objective=kpca
refused 3 'row 80, column 2: inf is no finite number' $sim:infinite layout.objective=kpca
refused 3 'all similarities are 0' $sim:zero layout.objective=kpca
refused 3 'is sparse, and input.similarities' $sim:sparse layout.objective=kpca
refused 3 'sim.h5:/complex' $sim:complex layout.objective=kpca
refused 3 'sim.h5:/text' $sim:text layout.objective=kpca
refused 3 'row 3, column 4: an integer of 2^53 or more loses digits' $sim:overflow affinity.kind=fisher
refused 3 'row 0, column 0: .* is no finite number that fits single precision' $sim:huge affinity.kind=fisher
refused 3 'largest similarity of the support .* too small for single precision' $sim:tiny affinity.kind=fisher
# What does not fit is refused before anything is read.
large="input.similarities=large.h5:K layout.objective=kpca"
refused 5 "the stage 'pca' needs about [0-9]* MB more .*input.spectrum=raw: the matrix is not held" $large input.spectrum=clip
refused 5 "needs about [0-9]* MB more .*or kernel.solver=landmarks" $large kernel.solver=full
refused 5 "needs about [0-9]* MB more .*input.symmetrise=no" input.similarities=large.h5:K affinity.kind=fisher input.symmetrise=yes
refused 3 "'fewer' has 83 entries, but there are 90 rows" $sim:K input.labels=fewer affinity.kind=fisher
refused 3 "'fractions', row 4: [0-9].5 is not an integer" $sim:K input.labels=fractions affinity.kind=fisher
refused 3 "has no data set 'M'" $sim:M layout.objective=kpca
refused 4 'none.h5 cannot be read' input.similarities=none.h5:K layout.objective=kpca
refused 3 'kernel PCA: 1 of the centred' $sim:line layout.objective=kpca
refused 3 'kernel PCA: 0 of the centred' $sim:negative layout.objective=kpca
refused 3 'eigenvalue of -kernel.ridge or below' $sim:negative layout.objective=kda kernel.ridge=1
refused 3 'gives no unit for kernel.ridge' $sim:negative layout.objective=kda
refused 3 'kda needs labels, and the input has none' input.similarities=bare.h5:K layout.objective=kda
refused 3 'needs two classes' $sim:K input.labels=same layout.objective=kda
refused 3 'there is one of label 1' $sim:K input.labels=alone layout.objective=kda
refused 2 'fisher.euclidean takes plain distances' $sim:K affinity.kind=fisher fisher.euclidean=0.3
refused 2 'output.model does not go with input.spectrum = clip' $sim:K affinity.kind=fisher input.spectrum=clip output.model=no.h5
refused 2 'fisher.candidates=euclidean takes plain distances' $sim:K affinity.kind=fisher fisher.candidates=euclidean
refused 2 'input.graph is another input' $k input.graph=sim.h5:K
refused 2 'preprocess.normalise scales' $k preprocess.normalise=zscore
refused 2 'preprocess.pca reduces' $k preprocess.pca=3
refused 2 'preprocess.metric is a distance' $k preprocess.metric=cosine
refused 2 'preprocess.missing fills' $k preprocess.missing=mean
refused 2 'input.rows would leave' $k input.rows=50
refused 2 'layout.objective = pca needs rows' $sim:K layout.objective=pca
refused 2 'layout.init = pca needs rows' $sim:K affinity.kind=gaussian layout.init=pca
refused 2 'layout.init = landmark places' $sim:K affinity.kind=gaussian layout.init=landmark
refused 2 'output.model does not go with input.spectrum = flip' $k input.spectrum=flip output.model=m.h5
refused 2 'output.model does not go with kernel.kind = gaussian of a matrix' $k kernel.kind=gaussian output.model=m.h5
refused 2 'output.model needs isolation.form = voronoi' input.file=rows.h5 layout.objective=kpca isolation.form=forest output.model=m.h5
refused 2 'output.model and output.file are the same file' input.file=rows.h5 layout.objective=kpca output.model=x.h5
refused 2 'output.model keeps the coordinates' $sim:K output.model=m.h5
refused 2 'kernel.kind = linear takes inner products' $k kernel.kind=linear
refused 2 'inner products of the rows' input.file=rows.h5 preprocess.metric=manhattan layout.objective=kpca kernel.kind=gaussian
refused 2 'kernel.landmarks = 50 would have no effect.*kernel.solver=landmarks' $k kernel.landmarks=50 kernel.solver=full
refused 2 'kernel.bandwidth = 2 would have no effect' $k kernel.bandwidth=2
refused 2 'kernel.ridge = 2 would have no effect' $k kernel.ridge=2
refused 2 'kernel.kind = gaussian would have no effect' input.file=rows.h5 kernel.kind=gaussian
refused 2 'input.spectrum = clip would have no effect' input.file=rows.h5 input.spectrum=clip
refused 2 'kernel.ridge' $sim:K layout.objective=kda kernel.ridge=0
refused 2 'kpca and kda compare rows' input.graph=sim.h5:distances layout.objective=kpca
refused 2 'leave layout.init and init_file out' $k layout.init=random
refused 2 'layout.iterations = 9 would have no effect' $k layout.iterations=9
refused 2 'output.file and input.similarities are the same file' $k output.file=sim.h5
refused 3 'kernel PCA: 0 of the centred' $sim:distances layout.objective=kpca
grep -q 'as in a matrix of distances' err.txt || fail "distances are taken for similarities without a word"
exit $failed
