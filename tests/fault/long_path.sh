#!/usr/bin/env bash
# Paths of more than 300 characters, which end a program in Open MPI's component for shared file pointers:
# every input and every output of a run, named by a long path or from within a deep folder.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checkpoints.sh"

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 300 --dimensions 4 --clusters 3 --quiet || exit 1
part=$(printf 'f%.0s' {1..100})
deep=$work/$part/$part/$part
mkdir -p "$deep" && cp data.h5 "$deep/in.h5"
settings=(isolation.psi=16 affinity.neighbours=20 layout.iterations=3 output.measures=none --quiet)

for ranks in 1 2; do
    rm -f "$deep"/out.*
    outputs=(output.file="$deep/out.h5" output.model="$deep/out.model.h5" output.graph="$deep/out.graph.h5"
        output.picture="$deep/out.png")
    code=75
    for ((start = 0; code == 75 && start < 20; start++)); do
        embed $ranks input.file="$deep/in.h5" "${settings[@]}" "${outputs[@]}" run.max_time=0
    done
    [ $code -eq 0 ] && [ $start -gt 3 ] || fail "$ranks ranks: exit code $code after $start starts"
    [ "$(cd "$deep" && ls out.* | tr '\n' ' ')" = "out.graph.h5 out.h5 out.model.h5 out.png " ] || fail "files: $(ls "$deep")"
    "$IKT_PROGRAM" transform "$deep/out.model.h5" "$deep/in.h5" "$deep/out.new.h5" --quiet >out.txt 2>err.txt || fail "transform"
    "$IKT_PROGRAM" export "$deep/out.h5" "$deep/out.csv" --quiet >out.txt 2>err.txt || fail "export"
    embed $ranks input.graph="$deep/out.graph.h5" layout.iterations=3 output.measures=none output.file="$deep/out.again.h5" --quiet
    [ $code -eq 0 ] || fail "a graph as input on $ranks ranks: exit code $code"
done
# Names as long as the file system allows, which leave no room for what is appended to them; two of one beginning.
name=$(printf 'ä%.0s' {1..125})
for ranks in 1 2; do
    embed $ranks input.file="$deep/in.h5" "${settings[@]}" output.overwrite=yes run.checkpoint=kept output.file="$name.h5"
    [ $code -eq 0 ] && [ -s "$name.h5" ] || fail "a name of 253 bytes on $ranks ranks: exit code $code"
done
"$IKT_PROGRAM" convert data.h5 "${name}1.h5" --quiet >out.txt 2>err.txt &&
    "$IKT_PROGRAM" convert data.h5 "${name}2.h5" --quiet >out.txt 2>err.txt && cmp "${name}1.h5" "${name}2.h5" ||
    fail "two names of 254 bytes"
[ -z "$(ls -- *.part-* 2>/dev/null)" ] || fail "unfinished files are left: $(ls -- *.part-*)"
# Short names in a deep folder: the component takes the whole path.
cd "$deep" && embed 2 in.h5 "${settings[@]}" output.overwrite=yes output.file=out.h5 && [ $code -eq 0 ] || fail "exit code $code in a deep folder"
exit $failed
