#!/usr/bin/env bash
# A map of the packages that this machine could install, by what they say of themselves: map.sh [FOLDER].
# Writes packages.csv, packages.npy, packages.h5, packages.png and packages.html into FOLDER (here by default).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3} iktsne=${IKTSNE:-iktsne}
for tool in apt-cache "$iktsne" "$python"; do
    command -v "$tool" >/dev/null || {
        echo "map.sh: there is no $tool: this needs Debian or Ubuntu, iktsne (or IKTSNE=PATH) and Python" >&2
        exit 1
    }
done
# Names with a folder are meant from here; links stay, since a virtual environment is known by its own.
[[ $python != [!/]*/* ]] || python=$PWD/$python
[[ $iktsne != [!/]*/* ]] || iktsne=$PWD/$iktsne
mkdir -p "${1:-.}"
cd "${1:-.}"
[ -e packages.npy ] || "$python" "$here/describe.py" packages.csv packages.npy
"$iktsne" embed packages.npy packages.h5 --preset uniform input.labels=packages.csv:section output.overwrite=yes
"$iktsne" plot packages.h5 packages.png --names --title "Debian's packages" --overwrite
"$iktsne" view packages.h5 packages.html --hover packages.csv:name,packages.csv:description --overwrite
