#!/usr/bin/env bash
# Runs a fuzzer on what is committed and on what it makes of that: run.sh FOLDER PARSER, with the folder
# of build.sh. IKT_FUZZ_SECONDS (60): how long. The input of a finding is left in FOLDER/findings.
set -euo pipefail
folder=$1 parser=$2 seconds=${IKT_FUZZ_SECONDS:-60}
here=$(cd "$(dirname "$0")" && pwd)
program=$folder/tests/fuzz/fuzz_$parser
if [ ! -x "$program" ]; then
    echo "skipped: the fuzzers are not built (see the test fuzz_build)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work # Open MPI's files, of each its own
mkdir -p "$folder/findings" "$work/corpus"
words=()
[ ! -e "$here/$parser.dict" ] || words=(-dict="$here/$parser.dict")
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
"$program" "$work/corpus" "$here/corpus/$parser" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -max_len=8192 "${words[@]}" -artifact_prefix="$folder/findings/$parser-" -print_final_stats=1 \
    -verbosity=1 >"$work/log" 2>&1 || {
    grep -vE '^#[0-9]+|# Uses:' "$work/log" | tail -60
    echo "FAILED: fuzz_$parser found something; its input is in $folder/findings"
    exit 1
}
grep -E '^#[0-9]+.DONE|^Done|peak_rss' "$work/log"
