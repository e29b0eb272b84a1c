#!/usr/bin/env bash
# Scaling tables of docs/scaling.md, predicted by `iktsne plan` for a number of ranks after another.
#   scripts/scaling.sh strong|weak POINTS COLUMNS TYPE [plan's options and settings ...]
# strong: POINTS rows in all; weak: POINTS rows on every rank. RANKS="1 16 256" changes the series.
#   scripts/scaling.sh strong 8100000 784 uint8 --threads 16 preprocess.normalise=none
set -euo pipefail
[ $# -ge 4 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
kind=$1 points=$2 columns=$3 type=$4
shift 4
program=${IKT_PROGRAM:-iktsne}
echo "| ranks | rows | total s | before the loop s | s/iteration | efficiency | KB sent | messages | memory MB |"
echo "|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
first=
for ranks in ${RANKS:-1 2 16 64 256 1024 4096}; do
    rows=$points
    [ "$kind" = strong ] || rows=$((points * ranks))
    plan=$("$program" plan --points "$rows" --columns "$columns" --type "$type" --ranks "$ranks" \
        --json --quiet output.measures=none "$@")
    first=$(PLAN=$plan python3 - "$kind" "$ranks" "${first:-0}" <<'PY'
import json, os, sys
kind, ranks, first = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
plan = json.loads(os.environ["PLAN"])
total, loop = plan["stages"]["total"]["seconds"], plan["stages"]["layout"]["seconds"]
first = first or total * (ranks if kind == "strong" else 1)
efficiency = first / total / (ranks if kind == "strong" else 1)
each = plan["per_iteration"]
print(f"| {ranks} | {plan['rows']:,} | {total:,.0f} | {total - loop:,.0f} | {each['seconds']:.4f} "
      f"| {efficiency:.2f} | {each['bytes_sent'] / 1e3:,.0f} | {each['messages_sent']:,.0f} "
      f"| {plan['bytes_per_rank']['peak'] / 1e6:,.0f} |", file=sys.stderr)
print(first)
PY
    )
done
