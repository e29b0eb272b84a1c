#!/usr/bin/env bash
# The benchmarks run, on tiny data, and what they write is complete: a record for every path of the
# table, valid JSON, finite numbers above zero, a line in the Markdown for each.
#   check_bench.sh BENCH
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
IKT_BENCH=$1 bash "$IKT_SOURCE/scripts/bench.sh" "$work" --quick >"$work/shown" 2>"$work/lines" ||
    { cat "$work/lines"; exit 1; }
"$1" --list | cut -d ' ' -f 1 >"$work/listed"
fail() { echo "$1"; exit 1; }
[ "$(wc -l <"$work/listed")" -gt 10 ] || fail "the list of paths is short"
while read -r path; do
    grep -q "^| $path |" "$work/bench.md" || fail "$path is missing in the table"
    grep -q "\"name\": \"$path\"" "$work/paths.json" "$work/ranks.json" ||
        fail "$path is missing in the JSON"
done <"$work/listed"
if "$1" no-such-path 2>"$work/message"; then fail "a wrong path is taken"; fi
grep -q usage: "$work/message" || fail "a wrong path is not answered with the usage"
command -v python3 >/dev/null || exit 0
python3 - "$work/paths.json" "$work/ranks.json" <<'PY'
import json, math, sys
for name in sys.argv[1:]:
    for record in json.load(open(name)):
        where = f"{name}: {record['name']}, {record['size']}"
        seconds = record["seconds"]
        assert 0 < seconds["least"] <= seconds["median"] < 60, where
        assert math.isfinite(record["rate"]) and record["rate"] > 0, where
        assert (len(record["limits"]) > 0) == (record["name"] != "machine"), where
        assert all(0 < limit["ratio"] < 1e6 and limit["rate"] > 0 for limit in record["limits"]), where
        assert record["repeats"] >= 3 and record["ranks"] * record["threads"] >= 1, where
        assert record["version"] and record["isa"], where
PY
