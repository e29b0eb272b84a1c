#!/usr/bin/env bash
# What is doubtful is said in one sentence, on any ranks, and nothing is said of what only looks like
# it: columns that number the rows, matrices of distances, rows that are equal, a perplexity or a
# learning rate far above the usual, neighbours that were not found, new rows far from those of the fit.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checkpoints.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/python.sh"
python=$(find_python h5py numpy) || { echo "skipped: no Python with h5py and numpy"; exit 77; }

"$python" - <<'P' || exit 1
import h5py, numpy as np
r = np.random.default_rng(4)
n = 200
X = r.normal(size=(n, 5))
def save(name, column=None, rows=n):
    Y = X[:rows].copy()
    if column is not None:
        Y[:, 2] = column
    np.save(name, Y)
save("permuted.npy", r.permutation(n) + 7)
save("counting.npy", 1.7e9 + 600 * np.arange(n))
save("counts.npy", r.permutation(10 ** 6)[:n])         # all different, of another range
save("repeated.npy", r.integers(0, n, n) * (np.arange(n) > 1) + (n - 1) * (np.arange(n) == 1))
save("halves.npy", np.arange(n) / 2)                   # no whole numbers
save("few.npy", np.arange(20), 20)
np.save("ranks.npy", np.argsort(np.argsort(X, 0), 0).astype(float))
long = r.normal(size=(20000, 4))
long[:, 1] = r.permutation(20000)
np.save("long.npy", long)
long[:, 1] = r.integers(0, 20000, 20000)
np.save("long_counts.npy", long)
distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(2))
np.save("distances.npy", distances)
distances[3, 9] *= 1.1
np.save("lopsided.npy", distances)
np.save("joined.npy", (distances > 4.4).astype(float) * (distances.T > 4.4))
many = np.zeros((8200, 8200), dtype="u1")
many[r.integers(0, 8200, 99999), r.integers(0, 8200, 99999)] = 1
np.fill_diagonal(many, 0)
np.save("many_joined.npy", many)
few_equal = np.ones((20000, 3), dtype="u1")
few_equal[9300] = 2 # between the blocks that are looked at
np.save("seldom_other.npy", few_equal)
np.save("equal.npy", np.ones((40, 3)))
np.save("equal_bytes.npy", np.ones((40, 3), dtype="u1"))
np.save("noise.npy", r.normal(size=(1500, 200)).astype("f4"))
np.save("plain.npy", X)
head = "{},a,b,c\n"
def csv(name, heading, column):
    with open(name, "w") as f:
        f.write(head.format(heading))
        f.writelines("%d,%g,%g,%g\n" % (v, *X[i, :3]) for i, v in enumerate(column))
csv("unnamed.csv", "Unnamed: 0", range(25))
csv("gaps.csv", "ID", [i * i + 3 for i in range(60)])
csv("comma.csv", '"the row, counted"', range(60))
with open("same.csv", "w") as f:
    f.write("a,a,b,c\n")
    f.writelines("%g,%d,%g,%g\n" % (X[i, 0], i, *X[i, 1:3]) for i in range(60))
csv("twice.csv", "id", [i // 2 for i in range(60)])
csv("length.csv", "length", [i * i + 3 for i in range(60)])
for far in 1, 2, 3:
    Y = r.normal(size=(200, 5))
    Y[40:40 + far] += 60 * r.choice([-1, 1], (far, 5)) + np.arange(far)[:, None] * 300
    np.save(f"far{far}.npy", Y)
Y = r.normal(size=(100, 3))
Y[30:, 1] = np.nan
np.save("left.npy", Y)
P

# looks RANKS FILE WORDS: a dry run warns by these words, which are extended regular expressions, or "".
looks() {
    launch "$1"
    "${launcher[@]}" "$IKT_PROGRAM" embed "$2" output.file=run.h5 --dry-run >out.txt 2>err.txt || fail "$2"
    grep ' warning: ' err.txt | grep -v processors >warnings.txt
    if [ -z "$3" ]; then
        [ ! -s warnings.txt ] || fail "$2 on $1 ranks: $(cat warnings.txt)"
    else
        [ "$(wc -l <warnings.txt)" = 1 ] && grep -qE "$3" warnings.txt || fail "$2 on $1 ranks: $(cat warnings.txt)"
    fi
}

columns_that_number_rows_are_named() {
    local ranks
    for ranks in 1 "${other_ranks[@]}"; do
        looks $ranks permuted.npy 'all different, as row numbers are.*column 2, counted from 0'
        looks $ranks counting.npy 'as row numbers are.*column 2, counted from 0'
        looks $ranks long.npy 'all different in the rows looked at, as row numbers are.*column 1, counted from 0'
        looks $ranks unnamed.csv "'Unnamed: 0' added to input.skip_columns leaves it out"
        looks $ranks gaps.csv "'ID' added to input.skip_columns"
        looks $ranks comma.csv "\(column 1\); '1' added to input.skip_columns"
        looks $ranks same.csv "\(column 2\); '2' added to input.skip_columns"
        for file in counts.npy repeated.npy halves.npy few.npy ranks.npy long_counts.npy twice.csv length.csv; do
            looks $ranks $file ''
        done
    done
}

matrices_of_distances_are_seen() {
    local ranks
    for ranks in 1 "${other_ranks[@]}"; do
        looks $ranks distances.npy 'preprocess.metric=precomputed'
        looks $ranks lopsided.npy ''
        looks $ranks joined.npy ''
    done
    # More rows than are looked at: zeros beside the diagonal still say that they are no distances.
    looks 1 many_joined.npy ''
}

run() { # RANKS FILE ARGUMENTS...
    launch "$1"
    shift
    "${launcher[@]}" "$IKT_PROGRAM" embed "$@" output.file=run.h5 output.picture=run.png output.overwrite=yes \
        layout.iterations=20 layout.exaggeration_iterations=10 output.measures=none >out.txt 2>err.txt || fail "$*"
}

settings_far_from_the_usual_are_doubted() {
    run 1 plain.npy affinity.kind=gaussian gaussian.perplexity=70
    grep -q 'warning: gaussian.perplexity = 70 is more than a third of the 199 other rows' err.txt || fail perplexity
    run 1 plain.npy affinity.kind=gaussian gaussian.perplexity=66
    ! grep -q warning: err.txt || fail "a perplexity that is not too large"
    run 1 few.npy affinity.kind=fuzzy
    ! grep -q gaussian.perplexity err.txt || fail "a perplexity that nothing uses"
    run 1 plain.npy layout.learning_rate=1e5
    [ "$(grep -c 'warning: layout.learning_rate = 100000 is more than 10 times' err.txt)" = 1 ] || fail rate
    run 1 equal.npy
    grep -q 'warning: .*equal.npy: all rows are equal' err.txt || fail "equal rows"
    rm run.h5 run.png
    looks 1 seldom_other.npy ''
    run 1 equal_bytes.npy
    grep -q 'warning: .*equal_bytes.npy: all rows are equal' err.txt || fail "equal bytes"
}

neighbours_not_found_are_told() {
    run 1 noise.npy affinity.search=approximate affinity.candidates=100 affinity.refinements=0
    tr '\n' ' ' <out.txt | grep -qE 'found [0-8][0-9]\.[0-9] % of the true neighbours, and [0-9.]* % of their similarity \(on 1000 rows\)\. More of them are found by a larger affinity\.candidates' || fail "what was not found"
    run 1 noise.npy affinity.search=approximate affinity.candidates=1400
    tr '\n' ' ' <out.txt | grep -qE '(9[0-9.]*|100.0) % of the true neighbours.* rows\)\. It took' || fail "what was found"
    run 1 noise.npy affinity.search=approximate affinity.candidates=100 affinity.kind=gaussian
    ! grep -q 'makes codes' out.txt || fail "codes of a kernel without any"
    run 1 noise.npy affinity.search=approximate affinity.candidates=100 output.graph=graph.h5
    run 1 noise.npy input.graph=graph.h5
    tr '\n' ' ' <out.txt | grep -q 'of the true neighbours' || fail "what a graph knows of the search"
    ! grep -q 'larger affinity.candidates' out.txt || fail "advice to search, beside a graph"
    h5dump -a /provenance/neighbours_found run.h5 >attribute.txt 2>&1 || fail "a share that is known is not written"
    "$python" -c 'import h5py; f = h5py.File("graph.h5", "a"); [g.attrs.__delitem__("neighbours_found") for g in (f, *f.values()) if "neighbours_found" in g.attrs]'
    run 1 noise.npy input.graph=graph.h5
    tr '\n' ' ' <out.txt | grep -qE 'found [0-9.]+ % of the similarity of the true neighbours \(on' || fail "a graph that does not know how many were found"
    grep -qE 'the search found [0-9.]+ % of the similarity of the true neighbours \(on' err.txt || fail "a share that is not known is told"
    h5dump -a /provenance/neighbours_found run.h5 >attribute.txt 2>&1 && fail "a share that is not known is written"
}

# New rows of the same kind, of another, and far outside; and the distances by their definition, of a
# model whose centres are all rows.
new_rows_far_away_are_told() {
    local ranks
    "$python" - <<'P' || fail "new rows"
import h5py, numpy as np
r = np.random.default_rng(5)
def save(name, X):
    with h5py.File(name, "w") as f:
        f["X"] = X.astype("f4")
old = r.normal(size=(300, 4))
save("old.h5", old)
save("same.h5", r.normal(size=(200, 4)))
save("other.h5", np.vstack([r.normal(size=(150, 4)), r.normal(size=(50, 4)) + 9, 40 * old[:3]]))
P
    run 1 old.h5 preprocess.normalise=none isolation.psi=150 isolation.pool=300 output.model=model.h5
    for ranks in 1 "${other_ranks[@]}"; do
        launch $ranks
        for file in same other; do
            "${launcher[@]}" "$IKT_PROGRAM" transform model.h5 $file.h5 $file-$ranks.h5 >out.txt 2>$file.txt || fail "transform"
        done
        ! grep -q 'lie farther' same.txt || fail "a warning of rows like those of the fit"
        grep -qE 'warning: 5[3-9] of 203 new rows lie farther from all rows of the fit' other.txt || fail "no warning: $(cat other.txt)"
    done
    "$python" - "${other_ranks[@]}" <<'P' || fail "distances"
import h5py, numpy as np, sys
old = h5py.File("old.h5")["X"][:].astype(float)
assert h5py.File("model.h5")["centres"].shape == old.shape
def nearest(A, B):
    return np.sqrt(((A[:, None] - B[None]) ** 2).sum(2))
own = nearest(old, old)
np.fill_diagonal(own, np.inf)
limit = np.sort(own.min(1))[int(np.ceil(.99 * len(old))) - 1]
for name in "same", "other":
    one = h5py.File(name + "-1.h5")["diagnostics"]
    wanted = nearest(h5py.File(name + ".h5")["X"][:].astype(float), old).min(1)
    np.testing.assert_allclose(one["distance"][:], wanted, rtol=1e-4)
    sure = abs(wanted - limit) > 1e-3
    assert (one["is_far"][:] == (wanted > limit))[sure].all() and set(one["is_far"][:]) <= {0, 1}
    for ranks in sys.argv[1:]:
        more = h5py.File(f"{name}-{ranks}.h5")["diagnostics"]
        assert all((one[k][:] == more[k][:]).all() for k in ("distance", "is_far"))
assert one["is_far"][150:].all()
P
}

# Up to one row in a hundred may be alone.
lone_rows_are_told() {
    local ranks far words hash
    for far in 1 2 3; do
        words='triplets draw them nowhere'
        [ $far -le 2 ] || words='too many to count as exceptions'
        hash=
        for ranks in 1 "${other_ranks[@]}"; do
            launch $ranks
            "${launcher[@]}" "$IKT_PROGRAM" embed far$far.npy output.file=run.h5 output.overwrite=yes layout.objective=trimap \
                layout.iterations=10 output.measures=none >out.txt 2>err.txt || fail "$far rows on $ranks ranks"
            grep -q "$far of 200 rows far from all others: $words" err.txt || fail "$far rows on $ranks ranks: $(cat err.txt)"
            : "${hash:=$(grep 'embedding hash' out.txt)}"
            grep -qF "${hash:-no hash}" out.txt || fail "$far rows: another map on $ranks ranks"
        done
    done
}

# A third of the rows that are left, once those without all values are left out, and of neighbours that are given.
a_perplexity_suits_the_rows_that_are_left() {
    local how
    for how in --dry-run output.measures=none; do
        "$IKT_PROGRAM" embed left.npy output.file=run.h5 output.overwrite=yes preprocess.missing=drop affinity.kind=gaussian \
            layout.iterations=10 $how >out.txt 2>err.txt || fail "$how: $(cat err.txt)"
        grep -q 'gaussian.perplexity: auto takes 9.67, a third of the 29 other rows' err.txt || fail "$how: $(cat err.txt)"
        "$IKT_PROGRAM" embed left.npy output.file=run.h5 output.overwrite=yes preprocess.missing=drop affinity.kind=gaussian \
            affinity.neighbours=12 layout.iterations=10 $how >out.txt 2>err.txt || fail "12 neighbours, $how: $(cat err.txt)"
        grep -q 'gaussian.perplexity: auto takes 4, a third of the 12 neighbours of a row' err.txt || fail "12 neighbours, $how: $(cat err.txt)"
    done
}

# What fewer rows do not allow is refused in one sentence, which names the preset, by the plan, the dry run and the run.
the_rows_that_are_left_are_refused_alike() {
    local first='' words
    for words in "plan left.npy" "embed left.npy output.file=no.h5 --dry-run" "embed left.npy output.file=no.h5"; do
        # shellcheck disable=SC2086
        "$IKT_PROGRAM" $words preprocess.missing=drop --preset trimap-paper --quiet >out.txt 2>err.txt && fail "$words: 50 neighbours among 30 rows"
        : "${first:=$(tail -1 err.txt)}"
        [ "$(tail -1 err.txt)" = "$first" ] || fail "$words says '$(tail -1 err.txt)', not '$first'"
        grep -q 'none of the 30 rows .*run.preset=trimap-paper sets trimap.neighbours=50' err.txt || fail "$words: $(cat err.txt)"
    done
    printf '%s\n' 'title: one' 'about: one' 'methods:' '  - {name: one, settings: {preprocess.missing: drop, run.preset: trimap-paper}}' \
        'seeds: [1]' 'measures: [10-NN accuracy]' 'data:' '  - {name: one, file: left.npy}' >left.yaml
    "$IKT_PROGRAM" study left.yaml --list --output left --quiet >out.txt 2>err.txt && fail "study: 50 neighbours among 30 rows"
    grep -qF "${first#iktsne: error: }" err.txt || fail "study says '$(tail -1 err.txt)', not '$first'"
    "$IKT_PROGRAM" plan left.npy preprocess.missing=drop affinity.kind=gaussian >out.txt 2>err.txt || fail "plan: $(cat err.txt)"
    grep -q 'auto takes 9.67, a third of the 29 other rows' err.txt || fail "plan: $(cat err.txt)"
}

# A start has as many positions as there are rows left: not as many as the file has.
a_start_is_of_the_rows_that_are_left() {
    local verb rows
    for rows in 30 100; do
        "$python" -c "print('x,y'); [print('%d,%d' % (i % 7, i % 5)) for i in range($rows)]" >start$rows.csv
    done
    for verb in plan 'embed output.file=no.h5 --dry-run' 'embed output.file=begun.h5 output.measures=none layout.iterations=10'; do
        # shellcheck disable=SC2086
        "$IKT_PROGRAM" $verb input.file=left.npy preprocess.missing=drop layout.init_file=start100.csv --quiet >out.txt 2>err.txt &&
            fail "$verb: 100 positions for 30 rows"
        grep -q 'start100.csv holds 100 positions, the data has 30 rows' err.txt || fail "$verb: $(cat err.txt)"
        # shellcheck disable=SC2086
        "$IKT_PROGRAM" $verb input.file=left.npy preprocess.missing=drop layout.init_file=start30.csv --quiet >out.txt 2>err.txt ||
            fail "$verb, 30 positions: $(cat err.txt)"
    done
}

# Steps that fall towards the last iteration fall anew when there are more of them.
extended_runs_of_falling_steps_are_told() {
    local objective wanted
    for objective in umap trimap tsne; do
        "$IKT_PROGRAM" embed far1.npy output.file=longer.h5 output.overwrite=yes layout.objective=$objective layout.iterations=20 \
            output.measures=none >out.txt 2>err.txt || fail "$objective"
        "$IKT_PROGRAM" embed far1.npy output.file=longer.h5 layout.objective=$objective layout.iterations=20 \
            output.measures=none --extend 5 >out.txt 2>err.txt || fail "$objective, extended"
        wanted=1 && [ $objective != tsne ] || wanted=0
        [ "$(grep -c 'will not be that of one longer run' err.txt)" -eq "$wanted" ] || fail "$objective: $(cat err.txt)"
    done
    "$IKT_PROGRAM" embed far1.npy output.file=longer.h5 output.overwrite=yes layout.objective=pca >out.txt 2>err.txt || fail "pca"
    "$IKT_PROGRAM" embed far1.npy output.file=longer.h5 layout.objective=pca --extend 5 >out.txt 2>err.txt
    [ $? -eq 2 ] && grep -q 'layout.objective=pca has none to make' err.txt || fail "pca is extended"
}

try columns_that_number_rows_are_named "columns that number the rows are named, others are not"
try matrices_of_distances_are_seen "a square matrix of distances is seen"
try settings_far_from_the_usual_are_doubted "perplexity, learning rate and equal rows are doubted"
try neighbours_not_found_are_told "both shares of what the search found are told, and what finds more"
try new_rows_far_away_are_told "new rows far from the fit are marked and told"
try lone_rows_are_told "rows far from all others are told, and are no exceptions where they are many"
try extended_runs_of_falling_steps_are_told "that an extended run is not one longer run is told where steps fall"
try a_perplexity_suits_the_rows_that_are_left "a perplexity that is not given suits the rows that are left"
try the_rows_that_are_left_are_refused_alike "what the rows that are left do not allow is said alike by plan, dry run, run and study"
try a_start_is_of_the_rows_that_are_left "a start is compared with the rows that are left"
exit $failed
