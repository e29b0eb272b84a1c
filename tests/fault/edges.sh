#!/usr/bin/env bash
# Data at the edges of what can be embedded (edges.c), on 1, 2, 3, 4 and 7 ranks: each case ends in a
# clear error or in finite positions, and in the same line on any number of ranks.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
tried=0
held=0
for ranks in 1 2 3 4 7; do
    case $ranks in # processors are few: everything on one rank, a part on others
    2) part=(2 1) ;;
    3) part=(2 0) ;;
    4) part=(3 1) ;;
    7) part=(3 2) ;;
    *) part=(1 0) ;;
    esac
    read -ra launch <<<"$IKT_MPIRUN $ranks"
    command timeout -k 5 $((200 * slower)) "${launch[@]}" "$(dirname "$IKT_PROGRAM")/tests/edges" "${part[@]}" >out.txt 2>err.txt </dev/null
    code=$?
    if [ "$code" -eq 124 ] || [ "$code" -eq 137 ]; then
        fail "hang on $ranks ranks, after: $(tail -1 out.txt)"
        continue
    fi
    read -r now good < <(sed -n 's/^cases tried \([0-9]*\), held \([0-9]*\)$/\1 \2/p' out.txt)
    [ -n "${now:-}" ] || { fail "exit code $code on $ranks ranks, after: $(tail -1 out.txt)"; break; }
    grep ' / ' out.txt >lines-"$ranks".txt
    [ "$ranks" -eq 1 ] || while read -r line; do
        grep -qxF -- "$line" lines-1.txt && continue
        fail "another outcome on $ranks ranks than on one: $line"
        good=$((good - 1))
    done <lines-"$ranks".txt
    [ "$code" -eq 0 ] || fail "exit code $code on $ranks ranks"
    grep -qE 'Segmentation|Signal: |leak: |Sanitizer' err.txt && fail "words of a crash on $ranks ranks"
    tried=$((tried + now))
    held=$((held + good))
done
echo "cases tried $tried, held $held"
[ "$failed" -eq 0 ] && [ "$tried" -eq "$held" ]
