#!/usr/bin/env bash
# Writes docs/combinations.md from what the program says goes together (a test compares):
#   scripts/combinations-page.sh [iktsne]
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-build/release/iktsne}
page=$(mktemp)
trap 'rm -f "$page"' EXIT
{
    cat <<'HEAD'
<!-- Written by scripts/combinations-page.sh from what the program itself decides: change that, not this page. -->
# What goes together

A run is an objective (`layout.objective`) on what it takes: the affinities P of a kernel (`affinity.kind`) in one of three forms
(`affinity.support`), lists of neighbours, or the rows themselves; it begins at a start (`layout.init`). The tables say which of these go
together. They are printed by `iktsne embed --list-methods`, which asks the function that decides whether a run is possible, so that they
cannot disagree with the program. What is not possible is refused in one sentence that says why and what to take instead, before anything
is computed: `iktsne embed --dry-run` asks the same for your data, and `iktsne plan --steps` prints the steps of a run.

HEAD
    "$program" embed --list-methods
} >"$page"
cp "$page" docs/combinations.md
