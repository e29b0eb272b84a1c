#!/usr/bin/env bash
# Damaged files of every format, hundreds of cases each: one clear sentence and the documented exit
# code, or a run on the numbers that the file then holds; no crash, no hang. Files that iktsne has sealed
# are never taken for whole. corruption.sh PROGRAM PART [CASES], with the program of corruption.c and
# `tables`, `hdf5`, `models` or `ranks`. IKT_CORRUPTIONS, or CASES (200): how many of each.
corruption=$1 part=$2 cases=${IKT_CORRUPTIONS:-${3:-200}}
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

# damaged FILE VERB ARGUMENTS...
first=0
damaged() {
    local file=$1
    shift
    "$corruption" "$file" "$cases" $first -- "$@" || fail "$file: $*"
}

# A table of 60 rows of 4 numbers and a class, as text with the given separators and prefixes of cells.
rows_of_text() {
    awk -v mode="$1" 'BEGIN {
        if (mode == "csv") print "a,b,c,d,kind"
        for (i = 0; i < 60; i++) {
            label = i % 3
            if (mode == "csv") printf "%d,%.3f,%.2e,%d,%s\n", i, i / 7, i * 31.7, -i, "kind" label
            else printf "%d 1:%d 2:%.3f %s4:%.2e\n", label, i, i / 7, i % 2 ? "3:1 " : "", i * 31.7
        }
    }'
}

make_tables() {
    printf '\x00\x00\x08\x03\x00\x00\x00\x28\x00\x00\x00\x05\x00\x00\x00\x04' >x.idx # 40 x (5 x 4)
    for ((i = 0; i < 800; i++)); do printf "\\x$(printf %02x $((i * 7 % 256)))"; done >>x.idx
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (40, 5), }" >x.npy
    for ((i = 0; i < 200; i++)); do printf "\\x00\\x00\\x$(printf %02x $((i % 100)))\\x40"; done >>x.npy
    sed 's/False/True /' x.npy >fortran.npy
    rows_of_text csv >x.csv
    rows_of_text libsvm >x.libsvm
    gzip -nk x.idx x.csv x.libsvm
    head -c 800 /dev/zero | tr '\0' '\7' >x.raw
    # Of other programs, where these are there.
    for python in python3 /usr/bin/python3; do
        $python "$IKT_SOURCE/tests/io/convert_check.py" make . 2>/dev/null && break
    done
}

# damaged, for a file that may not have been made, or that this build does not read
perhaps() {
    [ -e "$1" ] && "$IKT_PROGRAM" convert "$1" probe.h5 --overwrite "${@:2}" >/dev/null 2>&1 || return 0
    damaged "$1" convert @ % --overwrite "${@:2}"
}

make_hdf5() {
    "$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 60 --dimensions 3 --clusters 2 --quiet &&
        "$IKT_PROGRAM" embed input.file=data.h5 output.file=run.h5 output.model=model.h5 \
            output.graph=graph.h5 affinity.search=approximate affinity.neighbours=7 $tiny --quiet >/dev/null &&
        "$(dirname "$IKT_PROGRAM")/tests/write_h5" plain.h5 finite &&
        "$(dirname "$IKT_PROGRAM")/tests/write_h5ad" annotated.h5ad || exit 1
}

# damaged_model NAME SETTINGS...: a model of the run with these settings, and the same rows placed by it.
damaged_model() {
    local model=$1-model.h5 rows=${2#*=}
    "$IKT_PROGRAM" embed "${@:2}" output.file=run.h5 output.model="$model" output.overwrite=yes output.measures=none \
        --quiet >/dev/null 2>err.txt || fail "no model $1: $(cat err.txt)"
    damaged "$model" transform @ "$rows" % --overwrite
    first=$((first + cases)) # small samples of many kinds: others of each
}

damaged_models() {
    local few=layout.iterations=5 cells=isolation.psi=8 name
    local short="$few layout.exaggeration_iterations=2"
    "$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 60 --dimensions 3 --clusters 2 --quiet || exit 1
    for ((i = 0; i < 180; i++)); do printf "\\x$(printf %02x $((i * 7 % 256)))"; done >bytes.raw
    awk 'BEGIN { for (i = 0; i < 60; i++) for (j = 0; j < 60; j++)
        printf "%.6f%s", exp(-(i - j) * (i - j) / 50), j < 59 ? "," : "\n" }' >alike.csv
    "$IKT_PROGRAM" convert bytes.raw bytes.h5 --raw uint8 --columns 3 >/dev/null &&
        "$IKT_PROGRAM" convert alike.csv alike.h5 >/dev/null || exit 1
    damaged_model isolation input.file=data.h5 $cells $short
    damaged_model bytes input.file=bytes.h5 $cells $short
    damaged_model landmarks input.file=data.h5 $cells $short layout.init=landmark layout.landmarks=30
    damaged_model reduced input.file=data.h5 $cells $short preprocess.pca=2 preprocess.normalise=minmax
    damaged_model unit input.file=data.h5 $cells $short preprocess.normalise=unit
    damaged_model manhattan input.file=data.h5 $cells $short preprocess.metric=manhattan
    damaged_model filled input.file=data.h5 $cells $short preprocess.missing=mean
    damaged_model trimap input.file=data.h5 $cells $few layout.objective=trimap
    damaged_model distances input.file=data.h5 $few layout.objective=trimap affinity.kind=gaussian
    damaged_model fisher input.file=data.h5 $short affinity.kind=fisher
    damaged_model both input.file=data.h5 $short affinity.kind=fisher fisher.euclidean=0.5
    for name in linear gaussian isolation; do
        damaged_model "kpca-$name" input.file=data.h5 layout.objective=kpca kernel.kind=$name
    done
    damaged_model kda input.file=data.h5 layout.objective=kda kernel.kind=gaussian
    damaged_model given input.similarities=alike.h5 layout.objective=kpca
    damaged_model classes input.similarities=alike.h5 input.labels=data.h5:labels affinity.kind=fisher $short
}

# Files of other programs that are read directly: an AnnData with labels of all kinds, a matrix of MATLAB's.
damaged_annotated() {
    cases=$(((cases + 3) / 4))
    for labels in kind old text; do
        damaged annotated.h5ad embed input.file=@ output.file=% input.labels=$labels $tiny
    done
    damaged annotated.h5ad embed input.file=@ output.file=% input.dataset=M input.labels=flag $tiny
}

tiny="isolation.psi=8 layout.iterations=5 layout.exaggeration_iterations=2 output.overwrite=yes output.measures=none"
case $part in
tables)
    make_tables
    for file in x.idx x.idx.gz x.npy fortran.npy x.libsvm x.libsvm.gz; do damaged $file convert @ % --overwrite; done
    for file in x.csv x.csv.gz; do damaged $file convert @ % --overwrite --label-column kind; done
    damaged x.raw convert @ % --overwrite --raw uint8 --columns 10
    cases=$((cases / 4))
    for file in big.npz csr.npz csr_plain.npz coo.npz packed.mat sparse.mat; do perhaps $file; done
    perhaps full.mat --label-array Y
    cases=$((cases * 4))
    damaged "$IKT_SOURCE/config/five-subspace.yaml" embed @ --print-config
    cases=$(((cases + 3) / 4)) # the headers are read by the same code
    for file in x.idx x.npy fortran.npy; do damaged $file embed input.file=@ output.file=% $tiny; done
    ;;
hdf5)
    make_hdf5
    for file in data.h5 plain.h5; do damaged $file embed input.file=@ output.file=% $tiny; done
    damaged graph.h5 embed input.graph=@ output.file=% $tiny
    damaged data.h5 convert @ % --overwrite
    damaged run.h5 info @
    damaged run.h5 evaluate @ --input data.h5
    damaged run.h5 plot @ % --overwrite
    damaged run.h5 embed input.file=data.h5 layout.init_file=@ output.file=% $tiny
    damaged model.h5 transform @ data.h5 % --overwrite
    damaged_annotated
    damaged graph.h5 convert @ % --overwrite --dataset graph
    ;;
models) damaged_models ;;
ranks) # few, as each starts a launcher: no rank waits for one that has given up
    make_hdf5
    refused=0 ran=0
    for ((i = 0; i < ${IKT_CORRUPTIONS_RANKS:-8}; i++)); do
        for try in "run.h5 info damaged.bin" "model.h5 transform damaged.bin data.h5 damaged.out --overwrite" \
            "data.h5 embed input.file=damaged.bin output.file=damaged.out $tiny --quiet"; do
            read -ra words <<<"$try"
            how=$("$corruption" "${words[0]}" "$i") || exit 1
            timeout 60 $IKT_MPIRUN 3 "$IKT_PROGRAM" "${words[@]:1}" >out.txt 2>err.txt
            code=$? errors=$(grep -c '^iktsne: error: ' err.txt)
            if [ $code -eq 0 ] && [ "$errors" -eq 0 ]; then ran=$((ran + 1)); else
                refused=$((refused + 1))
                [ $code -ge 2 ] && [ $code -le 5 ] && [ "$errors" -eq 1 ] ||
                    fail "case $i of ${words[0]} ($how), three ranks: exit code $code, $errors messages"
            fi
        done
    done
    echo "three ranks: $((refused + ran)) cases, $refused refused, $ran ran"
    ;;
*) exit 2 ;;
esac
exit $failed
