#!/usr/bin/env bash
# What a run of a study is known by: the contents of all that it reads, wherever it lies, and the build of
# the program. Results of other contents are made anew; those of another build, too, or reported as such.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
export OMP_NUM_THREADS=1

study() { timeout 120 "$IKT_PROGRAM" study study.yaml --output out "$@" >out.txt 2>err.txt; }
lines() { tail -n +2 out/results.csv | wc -l; }
make() { "$IKT_PROGRAM" generate gaussian-mixture "$@" --dimensions 4 --clusters 3 --quiet; }
make rows.h5 --points 80
make other.h5 --points 80 --seed 2
cp rows.h5 data.h5
cp rows.h5 from.h5
cp rows.h5 labels.h5
"$IKT_PROGRAM" embed rows.h5 start.h5 layout.iterations=20 isolation.psi=16 output.picture=none >/dev/null 2>&1
cp start.h5 given.h5
cat >study.yaml <<'Y'
title: contents
settings: {layout.iterations: 20, isolation.psi: 8, isolation.partitionings: 20}
methods:
  - {name: plain}
  - {name: from, settings: {isolation.model_from: from.h5}}
  - {name: start, settings: {layout.init_file: start.h5}}
  - {name: labels, settings: {input.labels: "labels.h5:labels"}}
  - {name: map, given: {digits: given.h5}}
measures: [Davies-Bouldin]
data: [{name: digits, file: data.h5}]
Y
study || fail "a study"
[ "$(lines)" -eq 5 ] || fail "$(lines) results in place of 5"
study || fail "again"
[ "$(lines)" -eq 5 ] || fail "runs are made twice: $(lines) results"
[ "$(wc -l <out/checksums)" -eq 5 ] || fail "checksums: $(cat out/checksums)"
first=$(cat out/checksums)

# changed FILE CONTENTS RUNS: so many runs are made anew where the file has other contents.
changed() {
    local before
    before=$(lines)
    cp "$2" "$1"
    study || fail "$1: the study"
    [ $(($(lines) - before)) -eq "$3" ] || fail "$1: $(($(lines) - before)) runs in place of $3 are made anew"
    study || fail "$1: the study again"
    [ $(($(lines) - before)) -eq "$3" ] || fail "$1: runs are made twice"
}
changed from.h5 other.h5 1
changed labels.h5 other.h5 1
"$IKT_PROGRAM" embed rows.h5 start.h5 run.seed=3 layout.iterations=20 isolation.psi=16 output.picture=none output.overwrite=yes >/dev/null 2>&1
cp start.h5 start-2.h5
changed start.h5 start-2.h5 1
changed given.h5 start.h5 1
changed data.h5 other.h5 5 # the same shape and name
# What was there before is known again, and a file that is copied to another folder, too.
before=$(lines)
cp rows.h5 data.h5
mkdir elsewhere && mv data.h5 elsewhere
study --data elsewhere || fail "data in another folder"
[ "$(lines)" -eq "$before" ] || fail "equal contents are not known again: $(($(lines) - before)) runs"
mv elsewhere/data.h5 . # for those who look for it here

# A set that is generated from a file is made anew where that has changed.
printf 'title: t\nsettings: {layout.iterations: 20, isolation.psi: 8}\nmethods: [{name: plain}]\nmeasures: [Davies-Bouldin]\ndata: [{name: d, generate: deform, options: {source: glyphs.h5, points: 40}, seed: 1}]\n' >made.yaml
"$IKT_PROGRAM" generate glyphs glyphs.h5 --points 40 --quiet || fail "images"
made() { timeout 60 "$IKT_PROGRAM" study made.yaml --output made >out.txt 2>err.txt; }
made || fail "a study of images"
"$IKT_PROGRAM" generate glyphs glyphs.h5 --points 40 --seed 2 --overwrite --quiet
made && [ "$(tail -n +2 made/results.csv | wc -l)" -eq 2 ] || fail "images of another source are not made anew"
made && [ "$(tail -n +2 made/results.csv | wc -l)" -eq 2 ] || fail "images are made twice"

# Another build: its results, under its identities, as a program with another tag would have written them.
rm -rf out
study || fail "a study anew"
own=$(tail -1 out/results.csv | awk -F, '{ print $(NF - 1) }')
grep -q '^[0-9a-f]\{8\}$' <<<"${own##*-}" || fail "no build in results.csv: $own"
other="0.0.9 abcdef0-12345678"
while IFS=, read -r id rest; do
    new=$(printf '%016x' $((0x$id ^ 0x${own##*-} ^ 0x12345678)))
    mv "out/best/$id.h5" "out/best/$new.h5" 2>/dev/null
    echo "$new,${rest//$own/$other}"
done < <(tail -n +2 out/results.csv) >lines.csv
{ head -1 out/results.csv; cat lines.csv; } >renamed.csv
cp renamed.csv out/results.csv
study --report || fail "a report on results of another build"
grep -q "5 succeeded" out/report/report.md && grep -q "5 by 0.0.9 abcdef0-12345678" out/report/report.md ||
    fail "the report does not tell the build"
grep -q 'png' out/report/report.md || fail "no pictures of results of another build"
study --any-build || fail "--any-build"
[ "$(lines)" -eq 5 ] || fail "--any-build makes runs"
grep -q '5 results in results.csv were made by other builds .* they are taken as they are' err.txt || fail "no word on other builds"
study || fail "results of another build"
[ "$(lines)" -eq 10 ] || fail "results of another build are not made anew: $(lines)"
grep -q 'they are made anew' err.txt || fail "no word on other builds"
grep -qF '0.0.9' out/report/report.md && fail "the report tells of builds that are not in it"
[ "$(find out/best -name '*.h5' | wc -l)" -eq 5 ] || fail "maps of another build are left: $(ls out/best)"
study && [ "$(lines)" -eq 10 ] || fail "made twice"

# A study that would write over what it reads, or remove it.
mkdir -p inside/best && cp rows.h5 inside/best/data.h5
timeout 60 "$IKT_PROGRAM" study study.yaml --output inside --data inside/best >out.txt 2>err.txt
[ $? -eq 2 ] && grep -q 'input.file is inside/best/data.h5, and files in the folder of best are replaced' err.txt ||
    fail "data among the maps of the study"

exit $failed
