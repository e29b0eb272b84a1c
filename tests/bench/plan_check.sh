#!/usr/bin/env bash
# Predictions beside what was measured: calibrates, embeds some generated and given data sets, and
# prints a line for each stage of more than a tenth of a second, with predicted / measured; memory
# the same way. Goal: memory within 25 %, time within a factor 1.5.
#   IKT_PROGRAM=build/release/iktsne IKT_MPIRUN="mpirun -n" tests/bench/plan_check.sh [RANKS [THREADS]]
# Further files to embed in IKT_PLAN_DATA ("a.h5 b.h5"); a machine file in IKT_PLAN_MACHINE.
set -euo pipefail
ranks=${1:-2} threads=${2:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
launch=()
[ "$ranks" -eq 1 ] || read -ra launch <<<"${IKT_MPIRUN:-mpirun -n} $ranks"
run() { OMP_NUM_THREADS=$threads "${launch[@]}" "$IKT_PROGRAM" "$@"; }

machine=${IKT_PLAN_MACHINE:-$work/machine.yaml}
[ -e "$machine" ] || run plan --calibrate --machine "$machine" --quiet >/dev/null
"$IKT_PROGRAM" generate gaussian-mixture "$work/small.h5" --points 10000 --dimensions 50 --quiet
"$IKT_PROGRAM" generate gaussian-mixture "$work/large.h5" --points 100000 --dimensions 50 --quiet
"$IKT_PROGRAM" generate glyphs "$work/images.h5" --points 30000 --quiet

# compare NAME SETTINGS...
compare() {
    local name=$1
    shift
    run embed output.file="$work/out.h5" output.overwrite=yes --quiet --json "$@" \
        >"$work/run.json" 2>/dev/null
    run plan --machine "$machine" --json "$@" >"$work/plan.json" 2>/dev/null
    echo "$name, $ranks ranks x $threads threads"
    python3 - "$work/plan.json" "$work/run.json" <<'PY'
import json, sys
plan, run = (json.load(open(name)) for name in sys.argv[1:])
def line(name, predicted, measured, unit, goal):
    ratio = predicted / measured
    print(f"  {name:12} {predicted:10.3f} {measured:10.3f} {unit:3} {ratio:6.2f}"
          f"{'' if 1 / goal <= ratio <= goal else '  beyond the goal'}")
print("               predicted   measured      ratio")
for stage, measured in run["seconds"].items():
    predicted = plan["stages"].get(stage, {"seconds": 0})["seconds"]
    if max(measured, predicted) > 0.1:
        line(stage, predicted, measured, "s", 1.5)
line("memory", plan["bytes_per_rank"]["peak"] / 1e6, run["peak_bytes_per_rank"] / 1e6, "MB", 1.25)
loop = run["traffic"]["per_iteration"]
for kind in "bytes_sent", "messages_sent", "collective_calls":
    if loop[kind]["mean"] > 0:
        line(kind[:12], plan["per_iteration"][kind], loop[kind]["mean"], "", 1.5)
PY
}

compare "isolation, 10,000 x 50" input.file="$work/small.h5"
compare "isolation, 100,000 x 50, psi 512" input.file="$work/large.h5" isolation.psi=512
compare "gaussian, 100,000 x 50" input.file="$work/large.h5" affinity.kind=gaussian
compare "isolation, 30,000 x 784 bytes" input.file="$work/images.h5" preprocess.normalise=none \
    isolation.psi=512
for file in ${IKT_PLAN_DATA:-}; do
    compare "isolation, $(basename "$file"), 50 components" input.file="$file" preprocess.pca=50 \
        isolation.psi=512
    compare "gaussian, $(basename "$file"), 50 components" input.file="$file" preprocess.pca=50 \
        affinity.kind=gaussian
done
