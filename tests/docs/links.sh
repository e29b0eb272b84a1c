#!/usr/bin/env bash
# Links, headings, and names of files and symbols in the pages: links.py.
command -v python3 >/dev/null || { echo "no python3: skipped" && exit 77; }
exec python3 "$(dirname "${BASH_SOURCE[0]}")/links.py"
