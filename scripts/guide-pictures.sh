#!/usr/bin/env bash
# The pictures of docs/guide.md, and the numbers beside them: 5,000 drawn digits under other values of psi, k and
# t. Some minutes on a laptop; the same pictures on any number of ranks.
#   scripts/guide-pictures.sh [iktsne] [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-build/release/iktsne}")
folder=$(realpath "${2:-docs/pictures/guide}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# picture NAME TITLE SETTINGS...: a small picture, and a line of a table.
picture() {
    local name=$1 title=$2
    shift 2
    "$program" embed digits.h5 run.h5 preprocess.normalise=none output.overwrite=yes output.picture= \
        output.measures=none "$@" --quiet >/dev/null
    "$program" plot run.h5 "$folder/$name.png" --title "$title" --width 420 --point-radius 1.2 --no-legend --overwrite --quiet
    "$program" evaluate run.h5 --input digits.h5 --measures clusters,labels,ranks --quiet >measures.txt
    echo "| $title | $(value '10-NN accuracy') | $(value 'trustworthiness (k 12)') | $(value AUC_RNX) | $(value Davies-Bouldin) |"
}

# value MEASURE: in three digits.
value() { awk -v name="$1" 'index($0, name "  ") == 1 { printf "%.3f", substr($0, length(name) + 1) + 0 }' measures.txt; }

"$program" generate glyphs digits.h5 --points 5000 --seed 1 --quiet
echo "| | 10-NN accuracy | trustworthiness | AUC_RNX | Davies-Bouldin |"
echo "|---|--:|--:|--:|--:|"
for psi in 4 32 2048; do picture "psi-$psi" "psi $psi" isolation.psi=$psi; done
picture default "psi 256, k 30, t 200" isolation.psi=256
for k in 5 200; do picture "neighbours-$k" "k $k" affinity.neighbours=$k; done
for t in 5 30; do picture "partitionings-$t" "t $t" isolation.partitionings=$t; done
picture seed-2 "seed 2" run.seed=2
