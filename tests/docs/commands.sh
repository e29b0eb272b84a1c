#!/usr/bin/env bash
# Every command of README.md and docs/ is run: commands.py.
/usr/bin/python3 -c "import h5py, numpy, scipy.io" 2>/dev/null || { echo "no python3 with h5py and scipy: skipped" && exit 77; }
exec /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/commands.py" "$@"
