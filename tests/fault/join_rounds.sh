#!/usr/bin/env bash
# A search of wide rows that is stopped within each of its rounds of joins, every start on another number of ranks,
# finds the lists of one that was never stopped: the embedding has the same bits.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checkpoints.sh"
command -v h5dump >/dev/null || { echo "h5dump is not there: not tested"; exit 77; }

rows=5000
"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points $rows --dimensions 300 --clusters 8 --seed 2 --quiet || exit 1
search=(data.h5 run.h5 affinity.kind=knn affinity.search=approximate isolation.psi=auto affinity.neighbours=15 layout.iterations=3
    layout.report_every=2 output.measures=none output.picture=none output.overwrite=yes --quiet)
lists=run.h5.checkpoint/neighbours.h5
embed 2 "${search[@]}" run.checkpoint=none
[ $code -eq 0 ] || fail "exit code $code"
whole=$(hash_of)
cp run.h5 whole.h5

# Which rows a checkpoint of a join says are through its round, by their number: neither none nor all.
done_rows() { h5dump -d /done -w 1 -y $lists 2>/dev/null | grep -cE '^ *1,?$'; }
ranks=(3 2 4)
code=75 start=0
declare -A within=()
while [ $code -eq 75 ] && [ $start -lt 60 ]; do
    embed "${ranks[start % 3]}" "${search[@]}" run.max_time=0
    start=$((start + 1))
    h5ls $lists 2>/dev/null | grep -q '^nearest ' || continue # set aside while rows are joined
    through=$(done_rows)
    round=$(h5dump -d /numbers $lists | sed -n 's/.*(0): \([0-9]*\),.*/\1/p')
    [ "$through" -le 0 ] || [ "$through" -ge $rows ] || within[$round]=$((${within[$round]:-0} + 1))
done
[ $code -eq 0 ] || fail "exit code $code after $start starts"
[ "$(hash_of)" = "$whole" ] || fail "hash $(hash_of) in $start starts, $whole in one"
[ ${#within[@]} -ge 2 ] || fail "stopped within the rounds '${!within[*]}' alone"
for round in "${!within[@]}"; do
    [ "${within[$round]}" -ge 2 ] || fail "stopped within round $round ${within[$round]} times alone"
done
same_result whole.h5 run.h5
echo "$start starts, stops within rounds ${!within[*]}: ${within[*]}; hash $whole"
exit $failed
