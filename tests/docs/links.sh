#!/usr/bin/env bash
# Every link of README.md and docs/*.md leads somewhere, and every page is listed.
command -v python3 >/dev/null || { echo "no python3: skipped" && exit 77; }
exec python3 "$(dirname "${BASH_SOURCE[0]}")/links.py"
