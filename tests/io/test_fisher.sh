#!/usr/bin/env bash
# Maps that follow labels, through the program: the same on any ranks and in many pieces; which labels
# count; what log and result say of them; what is refused.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checkpoints.sh"

# rows N: a table of N rows in three classes that overlap, every seventh without a label.
rows() {
    awk -v n="$1" 'function normal() { return rand() + rand() + rand() + rand() - 2 }
        BEGIN { srand(4); print "x,y,z,u,v,class"
            for (i = 0; i < n; i++) {
                c = i % 3
                printf "%.6f,%.6f,%.6f,%.6f,%.6f,%s\n", normal() + (c == 0), normal() + (c == 1), normal() + (c == 2),
                    2 * normal(), 2 * normal(), i % 7 == 5 ? "" : substr("onetwotri", 3 * c + 1, 3) } }'
}
rows 330 >few.csv
rows 2500 >many.csv
(echo train; seq 0 2 328) >train.csv
usual=(input.file=few.csv input.labels=class affinity.kind=fisher gaussian.perplexity=10 preprocess.normalise=none
    output.overwrite=yes output.picture=none output.measures=none layout.exaggeration_iterations=3 layout.iterations=8)

bits() {
    local how
    for how in fisher.support=60 "fisher.support=60 fisher.own=kept" fisher.euclidean=0.4 "fisher.train=train.csv fisher.points=3" \
        "fisher.candidates=posterior fisher.among=40" "fisher.candidates=near fisher.among=60 fisher.support=60" "fisher.permute=yes fisher.rule=outer fisher.support=40" \
        "layout.objective=sne layout.init=random"; do
        # shellcheck disable=SC2086
        embed 1 "${usual[@]}" $how output.file=one.h5
        [ $code -eq 0 ] || fail "$how"
        hash=$(hash_of)
        # shellcheck disable=SC2086
        OMP_NUM_THREADS=2 embed 3 "${usual[@]}" $how output.file=three.h5
        [ $code -eq 0 ] && [ "$(hash_of)" = "$hash" ] || fail "$how: $(hash_of) on three ranks, not $hash"
        same_result one.h5 three.h5
    done
}

# Every invocation does one piece and stops: between batches of rows, behind P, in the loop.
pieces() {
    goes_on 3 input.file=many.csv fisher.support=30 layout.iterations=5
    goes_on 5 input.file=many.csv fisher.candidates=posterior fisher.among=2400 fisher.support=30 layout.iterations=5
    goes_on 4 input.file=many.csv fisher.candidates=near fisher.among=300 fisher.support=30 layout.iterations=5
    # So many rows are held in an order of their own, which depends on the ranks; lists do not.
    rows 17000 >more.csv
    goes_on 5 input.file=more.csv fisher.candidates=posterior fisher.among=60 fisher.support=30 layout.iterations=4 affinity.neighbours=10 gaussian.perplexity=3
}

# goes_on STOPS ARGUMENTS...: a run in at least so many pieces, on one, two and three ranks by turns, is the whole run.
goes_on() {
    local runs=0 whole in_lists=no least=$1
    shift
    embed 1 "${usual[@]}" "$@" output.file=whole.h5
    [ $code -eq 0 ] || fail "the whole run"
    whole=$(hash_of)
    while [ $runs -lt 40 ]; do
        embed $((runs % 3 + 1)) "${usual[@]}" "$@" output.file=parts.h5 run.max_time=0
        [ $code -eq 75 ] || break
        runs=$((runs + 1))
        grep -q "in the stage 'neighbours'" err.txt && in_lists=yes
    done
    [ $code -eq 0 ] && [ "$(hash_of)" = "$whole" ] || fail "exit code $code, $(hash_of) in place of $whole"
    [ $runs -gt "$least" ] && [ $in_lists = yes ] || fail "only $runs stops"
}

# relabel FILE FROM: the labels of all rows with these last digits become "two".
relabel() {
    awk -F, -v OFS=, -v rest="$2" 'NR > 1 && (NR - 2) % 2 == rest { $6 = "two" } { print }' few.csv >"$1"
}

# What is not in the train list may change, and nothing but figures does.
labels() {
    local hash
    embed 1 "${usual[@]}" fisher.train=train.csv output.file=a.h5
    hash=$(hash_of)
    [ $code -eq 0 ] || fail "a train list"
    relabel others.csv 1
    embed 1 "${usual[@]}" input.file=others.csv fisher.train=train.csv output.file=b.h5
    [ "$(hash_of)" = "$hash" ] || fail "labels of rows that are not in the list change the map"
    relabel train-others.csv 0
    sed -i '2s/two/one/;4s/two/tri/;8s/two/tri/;10s/two/tri/;14s/two/one/' train-others.csv
    embed 1 "${usual[@]}" input.file=train-others.csv fisher.train=train.csv output.file=c.h5
    [ $code -eq 0 ] && [ "$(hash_of)" != "$hash" ] || fail "labels of rows in the list change nothing"
    # A list is a column of any kind of file.
    (echo rows && seq 0 2 328) >named.csv
    embed 1 "${usual[@]}" fisher.train=named.csv output.file=b.h5
    [ "$(hash_of)" = "$hash" ] || fail "a list of another heading is another list"
    embed 1 "${usual[@]}" fisher.train=a.h5:fisher/support output.file=b.h5
    [ $code -eq 0 ] && grep -q "uses labels of $(h5ls a.h5/fisher/support | grep -o '[0-9]*' | tail -1) rows" err.txt ||
        fail "a list of one dimension is not read"
    # A checkpoint goes with its labels.
    embed 1 "${usual[@]}" fisher.train=train.csv output.file=half.h5 run.max_time=0
    [ $code -eq 75 ] || fail "no checkpoint"
    embed 1 "${usual[@]}" input.file=train-others.csv fisher.train=train.csv output.file=half.h5
    [ $code -ne 0 ] && grep -q 'labels' err.txt || fail "a run goes on with other labels"
    embed 1 "${usual[@]}" input.file=others.csv fisher.train=train.csv output.file=half.h5
    [ $code -eq 0 ] && [ "$(hash_of)" = "$hash" ] || fail "a run does not go on with other labels of rows that are not in the list"
}

says() {
    # Plain distances count as 0.3 unless something else is said.
    embed 1 "${usual[@]}" output.file=a.h5
    hash=$(hash_of)
    "$IKT_PROGRAM" info a.h5 --config | grep '^ *euclidean: 0.3' >/dev/null || fail "the share of plain distances is not told"
    embed 1 "${usual[@]}" fisher.euclidean=0.3 output.file=b.h5
    [ "$(hash_of)" = "$hash" ] || fail "the usual share of plain distances is not 0.3"
    embed 1 "${usual[@]}" fisher.euclidean=0 output.file=b.h5
    [ "$(hash_of)" != "$hash" ] || fail "plain distances change nothing"
    # Where most rows are equal they do not count, and cannot be asked for.
    awk -F, -v OFS=, 'NR > 1 && NR % 4 { for (c = 1; c < NF; c++) $c = 1 } { print }' few.csv >equal.csv
    embed 1 "${usual[@]}" input.file=equal.csv fisher.sigma=1 output.file=b.h5
    [ $code -eq 0 ] && grep -q 'most rows are equal, so that plain distances do not count' err.txt || fail "rows that are mostly equal"
    embed 1 "${usual[@]}" input.file=equal.csv fisher.sigma=1 fisher.euclidean=0.3 output.file=b.h5
    [ $code -eq 3 ] && grep -q 'adds plain distances, but most rows are equal' err.txt || fail "a share of distances that are 0"
    embed 2 "${usual[@]}" fisher.train=train.csv fisher.support=60 output.file=run.h5
    [ $code -eq 0 ] || fail "a run"
    grep -q 'fisher: uses labels of 142 rows in 3 classes, by a support of 60 rows with own weights left out; 47 rows have no label' err.txt ||
        fail "the labels that are used are not told"
    grep -q '100.0 % of the lists are proved' err.txt || fail "the lists are not said to be complete"
    grep -q 'held-out rows (whose labels were not used, 141 of 141): error of the likeliest class' err.txt || fail "no honest figures"
    grep -q 'rows of the support (whose labels WERE used, 60 of 60)' err.txt || fail "figures of the support are not named so"
    "$IKT_PROGRAM" info run.h5 >out.txt 2>err.txt
    for fact in 'labels_used  *labels of 60 rows' 'fisher_sigma  *[0-9]' 'fisher_held_out_map_1nn_error  *0\.[0-9]' 'fisher_used_posterior_error'; do
        grep -q "$fact" out.txt || fail "the result does not have $fact"
    done
    for array in posterior:330,\ 3 support:60 classes:3 held_out:141; do
        h5ls run.h5/fisher/"${array%%:*}" | grep -q "{${array#*:}}" || fail "the result has no fisher/$array"
    done
    embed 1 "${usual[@]}" layout.init=kda fisher.support=60 output.file=run.h5 # which has labels of its own
    [ $code -eq 0 ] || fail "a start from the classes: $(cat err.txt)"
    "$IKT_PROGRAM" info run.h5 >out.txt 2>err.txt
    grep -q 'kernel_labels_used  *283 of 3 classes' out.txt && grep -q ' labels_used  *labels of 60 rows' out.txt ||
        fail "the labels of the affinity and of the start are not told apart: $(grep labels_used out.txt)"
    embed 1 "${usual[@]}" fisher.permute=yes fisher.own=kept fisher.support=283 fisher.sigma=0.05 output.file=run.h5
    grep -q 'uses PERMUTED labels' err.txt || fail "permuted labels are not told"
    grep -q 'permuted labels have an error of .* on rows of the support, where chance gives 6' err.txt || fail "no warning of a leak"
    grep -q 'every label was used' err.txt || fail "figures without held-out rows"
    grep -q 'one class has p > 0.999' err.txt || fail "no warning of a small sigma"
    embed 1 "${usual[@]}" fisher.sigma=1e7 output.file=run.h5
    [ $code -eq 0 ] && grep -q 'the probabilities are the same everywhere' err.txt || fail "no warning of a large sigma"
    embed 2 "${usual[@]}" fisher.candidates=near fisher.among=100 output.file=run.h5
    grep -q 'neighbours among 100 rows of near cells' err.txt || fail "near cells are not told"
    grep -q 'the search found .* of the true neighbours, .* (on 330 rows)' err.txt || fail "no recall of near cells"
    "$IKT_PROGRAM" plan "${usual[@]}" fisher.candidates=near output.file=run.h5 >out.txt 2>err.txt || fail "no plan of near cells"
    "$IKT_PROGRAM" plan "${usual[@]}" output.file=run.h5 >out.txt 2>err.txt
    grep -q 'neighbours  *[0-9.]' out.txt || fail "no plan"
}

# placed FILE HOW...: the hash of rows that a model places on three ranks, which must be that on one.
placed() {
    local file=$1 hash
    shift
    "$IKT_PROGRAM" transform model.h5 "$file" placed.h5 --overwrite --quiet "$@" >out.txt 2>err.txt || fail "transform $file: $(cat err.txt)"
    hash=$(awk '/embedding hash/ { print $3 }' out.txt)
    # shellcheck disable=SC2086
    OMP_NUM_THREADS=2 $IKT_MPIRUN 3 "$IKT_PROGRAM" transform model.h5 "$file" three.h5 --overwrite --quiet "$@" >out.txt 2>err.txt ||
        fail "transform $file on three ranks: $(cat err.txt)"
    [ "$(awk '/embedding hash/ { print $3 }' out.txt)" = "$hash" ] || fail "$file is placed otherwise on three ranks"
    echo "$hash"
}

# New rows: without labels, where old rows of similar probabilities lie; the same in any batch, on any ranks.
models() {
    local how hash
    rows 400 | sed -n '1p;332,$p' >new.csv
    sed 's/[a-z]*$/one/;1s/one$/class/' new.csv >other-labels.csv
    sed -n '1p;21,40p' new.csv >part.csv
    (sed -n 1p few.csv && awk -F, 'NR > 1 && (NR - 2) % 7 == 5' few.csv) >again.csv # rows 5, 12, ... without a label
    for how in fisher.support=60 "fisher.support=60 fisher.own=kept fisher.euclidean=0.4" "fisher.train=train.csv fisher.rule=outer fisher.support=40"; do
        # shellcheck disable=SC2086
        embed 1 "${usual[@]}" $how output.file=run.h5 output.model=model.h5
        [ $code -eq 0 ] || fail "a model, $how"
        cp model.h5 first.h5
        # shellcheck disable=SC2086
        OMP_NUM_THREADS=2 embed 3 "${usual[@]}" $how output.file=run.h5 output.model=model.h5
        same_result first.h5 model.h5
        hash=$(placed new.csv)
        [ "$(placed other-labels.csv)" = "$hash" ] || fail "labels of new rows change their places, $how"
        placed new.csv >/dev/null
        cp placed.h5 all.h5
        placed part.csv >/dev/null
        h5dump -y -w 0 -d /embedding -s 19,0 -c 20,2 all.h5 | sed -n '/DATA {/,$p' >of-all.txt
        h5dump -y -w 0 -d /embedding placed.h5 | sed -n '/DATA {/,$p' >of-part.txt
        grep -q '[0-9]' of-part.txt || fail "no places, $how"
        cmp -s of-all.txt of-part.txt || [ "$(tr -d ' \n' <of-all.txt | cut -c-200)" = "$(tr -d ' \n' <of-part.txt | cut -c-200)" ] ||
            fail "rows are placed otherwise in another batch, $how"
    done
    # Old rows without a label that come again are at no distance of themselves.
    embed 1 "${usual[@]}" fisher.support=60 output.file=run.h5 output.model=model.h5
    placed again.csv >/dev/null
    h5dump -y -w 0 -d /diagnostics/nearest placed.h5 | awk '/DATA {/ { d = 1; next } d && /[0-9]/ { gsub(/,/, ""); for (i = 1; i <= NF; i++) print $i }' >nearest.txt
    [ -s nearest.txt ] || fail "no nearest rows"
    [ "$(awk '$1 == 5 + 7 * (NR - 1)' nearest.txt | wc -l)" -eq "$(wc -l <nearest.txt)" ] || fail "old rows are not nearest to themselves"
    h5dump -y -w 0 -d /diagnostics/similarity placed.h5 | awk '/DATA {/ { d = 1; next } d' >similarity.txt
    grep -q 1 similarity.txt && ! grep -q '0\.' similarity.txt || fail "old rows are not as similar to themselves as can be"
    "$IKT_PROGRAM" transform model.h5 train.csv no.h5 >out.txt 2>err.txt
    [ $? -eq 3 ] && grep -q 'new rows must have the same' err.txt || fail "rows of other columns are placed"
}

# What looks like bad input and is none, and columns and rows that tell nothing.
oddities() {
    local hash
    # In a table labels are names, also where these are numbers with fractions.
    awk -F, -v OFS=, 'NR > 1 { $6 = NR % 2 ? "0.5" : "1" } { print }' few.csv >fractions.csv
    embed 2 "${usual[@]}" input.file=fractions.csv output.file=a.h5
    [ $code -eq 0 ] && grep -q 'uses labels of 330 rows in 2 classes' err.txt || fail "fractions are no names of classes"
    awk -F, -v OFS=, 'NR > 1 { $6 = NR / 3 } { print }' few.csv >targets.csv
    refused 3 'has one train row' input.file=targets.csv
    # A constant column changes nothing, however large it is and however columns are scaled.
    awk -F, -v OFS=, '{ $5 = $5 (NR > 1 ? ",1e18" : ",constant") } { print }' few.csv >constant.csv
    for scale in none zscore minmax; do
        embed 1 "${usual[@]}" preprocess.normalise=$scale output.file=a.h5
        hash=$(hash_of)
        embed 2 "${usual[@]}" preprocess.normalise=$scale input.file=constant.csv output.file=b.h5
        [ $code -eq 0 ] && [ "$(hash_of)" = "$hash" ] || fail "a constant column changes the map, $scale"
    done
    # Equal rows have no bandwidth. Where one is given, and own weights are kept, labels part none of
    # them: the map is that of a kernel which knows no labels.
    awk -F, -v OFS=, 'NR > 1 { for (c = 1; c < NF; c++) $c = c } { print }' few.csv >same.csv
    refused 3 'no bandwidth suits the support of affinity.kind=fisher: its rows are equal' input.file=same.csv
    refused 3 'adds plain distances, but most rows are equal' input.file=same.csv fisher.sigma=1 fisher.euclidean=0.3
    embed 1 "${usual[@]}" input.file=same.csv affinity.kind=gaussian output.file=a.h5
    hash=$(hash_of)
    embed 3 "${usual[@]}" input.file=same.csv fisher.sigma=1 fisher.own=kept output.file=b.h5
    [ $code -eq 0 ] && [ "$(hash_of)" = "$hash" ] || fail "labels part rows that are equal"
    grep -q 'the probabilities are the same everywhere' err.txt || fail "no word about rows that are equal"
    # Two rows of each class are the least support; of such a pair the other one is left.
    embed 1 "${usual[@]}" fisher.support=6 fisher.sigma=1 output.file=a.h5
    [ $code -eq 0 ] && grep -q 'by a support of 6 rows with own weights left out' err.txt || fail "a support of two rows a class"
}

refused() { # CODE WORDS ARGUMENTS...
    local wanted=$1 words=$2
    shift 2
    embed 1 "${usual[@]}" output.file=no.h5 "$@"
    [ $code -eq "$wanted" ] || fail "$* ends with $code"
    grep -q -- "$words" err.txt || fail "$*: no '$words'"
    [ "$(grep -c 'error' err.txt)" -eq 1 ] || fail "$*: more than one sentence"
    [ ! -e no.h5 ] || fail "$* writes"
}

sentences() {
    local usage=2 data=3
    (echo train; echo 330) >beyond.csv
    (echo train; echo 4; echo 8; echo 4) >twice.csv
    (echo train; echo 5; echo 12) >unlabelled.csv
    (echo train; echo 1.5) >halves.csv
    (echo train,other; echo 1,2) >wide.csv
    (echo train; seq 0 3 60) >alike.csv
    sed 's/,[a-z]*$//' few.csv >plain.csv
    echo train >empty.csv
    refused $data 'entry 0: 330 is not a row of the data, which are 0 to 329' fisher.train=beyond.csv
    refused $data 'names row 4 twice' fisher.train=twice.csv
    refused $data 'no row that fisher.train names has a label' fisher.train=unlabelled.csv
    refused $data '1.5 is not a row' fisher.train=halves.csv
    refused 3 'empty.csv .* has no rows of numbers' fisher.train=empty.csv
    refused $data 'has the same label\|have the same label' fisher.train=alike.csv
    refused $data 'needs labels, and the input has none' input.file=plain.csv input.labels=labels
    refused $data 'needs labels, and the input has none' input.file=plain.csv input.labels=labels fisher.permute=yes
    refused $usage 'fisher.sigma = 0 is neither' fisher.sigma=0
    refused $usage 'fisher.sigma = nan is neither' fisher.sigma=nan
    refused $usage 'fisher.points = 4' fisher.rule=outer fisher.points=4
    refused $usage 'fisher.points' fisher.points=-1
    refused $data 'fisher.support = 300, but only 283 rows' fisher.support=300
    refused $data '3 classes need two rows each: at least 6' fisher.support=5
    refused $usage 'leave affinity.support at sparse' affinity.support=dense
    refused $usage 'kernel.kind = isolation does not go with it' output.model=model.h5 kernel.kind=isolation isolation.psi=8
    refused $usage 'output.model does not go with layout.objective = sne' output.model=model.h5 layout.objective=sne
    refused $usage 'needs inner products' preprocess.metric=manhattan
    refused $usage 'layout.init=landmark does not go' layout.init=landmark
    refused $usage 'compares rows by itself' layout.objective=trimap
    refused $usage 'needs affinity.kind=fisher\|affinity.kind=fisher' affinity.kind=gaussian fisher.points=3
    refused $usage 'fisher.candidates' affinity.search=exact
    refused $usage 'fisher.candidates is all' fisher.candidates=all fisher.among=50
    embed 1 "${usual[@]}" fisher.train=nowhere.csv output.file=no.h5
    [ $code -ne 0 ] && grep -q 'nowhere.csv (fisher.train) cannot be read' err.txt || fail "a list that is not there"
    embed 1 "${usual[@]}" fisher.train=wide.csv output.file=no.h5
    [ $code -ne 0 ] || fail "a list of two columns"
}

try bits "the same map on any ranks, by any rule, candidates and labels"
try pieces "the same map in pieces"
try labels "labels that may be used count, and no others"
try says "log and result tell which labels were used, and honest figures"
try models "a model places new rows, without their labels"
try oddities "names that are numbers, constant columns, equal rows"
try sentences "bad input is refused in one sentence"
exit $failed
