#!/usr/bin/env bash
# Writes docs/settings.md from the tables that the program checks settings against. Run it where a
# key, a default or a help text has changed (a test compares): scripts/settings-page.sh [iktsne]
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-build/release/iktsne}
page=$(mktemp)
trap 'rm -f "$page"' EXIT
{
    cat <<'HEAD'
<!-- Written by scripts/settings-page.sh from the program's own tables: change those, not this page. -->
# Settings

What `iktsne embed` can be told: in a YAML file as `section: {key: value}`, on the command line as `section.key=value`, which
wins. Unknown keys, wrong types and values out of range are errors that name the line and the nearest key. `iktsne embed
--print-defaults` prints all of this as a commented file to start from; `--print-config` what a command would use; `--dry-run`
also what every `auto` becomes for the data at hand. [guide.md](guide.md) tells which of them to turn first.

HEAD
    "$program" embed --print-reference
} >"$page"
cp "$page" docs/settings.md
