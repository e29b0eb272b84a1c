#!/usr/bin/env bash
# Some trials of scripts/trials.py, which says what must hold. IKT_TRIALS (25): how many of each group.
command -v python3 >/dev/null || { echo "skipped: needs python3"; exit 77; }
exec python3 "$IKT_SOURCE/scripts/trials.py" --program "$IKT_PROGRAM" --group settings options files --trials "${IKT_TRIALS:-25}"
