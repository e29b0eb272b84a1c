#!/usr/bin/env bash
# Scaling tables of docs/scaling.md, predicted by `iktsne plan` for one number of ranks after another.
#   scripts/scaling.sh strong|weak POINTS COLUMNS TYPE [settings and options of plan ...]
# strong: POINTS rows in all; weak: POINTS rows on every rank. RANKS="1 16 256" changes the series.
#   scripts/scaling.sh strong 8100000 784 uint8 run.threads=16 preprocess.normalise=none
set -euo pipefail
[ $# -ge 4 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
kind=$1 points=$2 columns=$3 type=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
plans=()
for ranks in ${RANKS:-1 2 16 64 256 1024 4096}; do
    rows=$points
    [ "$kind" = strong ] || rows=$((points * ranks))
    "${IKT_PROGRAM:-iktsne}" plan --points "$rows" --columns "$columns" --type "$type" \
        --ranks "$ranks" --json output.measures=none "$@" >"$work/$ranks.json"
    plans+=("$work/$ranks.json")
done
python3 - "$kind" "${plans[@]}" <<'PY'
import json, sys
strong = sys.argv[1] == "strong"
plans = [json.load(open(name)) for name in sys.argv[2:]]
work = lambda plan: plan["stages"]["total"]["seconds"] * (plan["ranks"] if strong else 1)
print("| ranks | rows | total s | before the loop s | s/iteration | efficiency | KB sent | messages "
      "| memory MB |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
for plan in plans:
    total, loop = (plan["stages"][stage]["seconds"] for stage in ("total", "layout"))
    each = plan["per_iteration"]
    print(f"| {plan['ranks']:,} | {plan['rows']:,} | {total:,.0f} | {total - loop:,.0f} "
          f"| {each['seconds']:.4f} | {work(plans[0]) / work(plan):.2f} "
          f"| {each['bytes_sent'] / 1e3:,.0f} | {each['messages_sent']:,.0f} "
          f"| {plan['bytes_per_rank']['peak'] / 1e6:,.0f} |")
PY
