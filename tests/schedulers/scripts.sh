#!/usr/bin/env bash
# All job scripts: the shell and shellcheck accept them, every scheduler has the same tasks, and the heads stay
# heads, which hold no more than directives, how they are used and one call.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
cd "$IKT_SOURCE" || exit 1
scripts=(jobs/*.sbatch jobs/*.pbs jobs/*.lsf jobs/*.sge jobs/*.flux)
for scheduler in sbatch pbs lsf sge flux; do
    for task in several-nodes requeue array scaling; do
        [ -x "jobs/$task.$scheduler" ] || fail "jobs/$task.$scheduler is not there, or cannot be run"
        grep -q "jobs/$task\.$scheduler" "jobs/$task.$scheduler" || fail "jobs/$task.$scheduler does not say how it is submitted"
    done
done
for script in "${scripts[@]}" jobs/lib/*.sh jobs/local.sh; do
    bash -n "$script" || fail "syntax of $script"
done
for script in "${scripts[@]}"; do
    [ "$(grep -vc '^#' "$script")" -le 6 ] || fail "$script holds what belongs into jobs/lib"
done
if command -v shellcheck >/dev/null; then
    shellcheck -x "${scripts[@]}" jobs/lib/*.sh >"$work/out.txt" || fail "shellcheck"
else
    echo "shellcheck is not installed: the scripts were not checked by it"
fi
exit "$failed"
