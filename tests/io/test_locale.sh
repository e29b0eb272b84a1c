#!/usr/bin/env bash
# A host with a decimal comma gets what one without gets, bit for bit: settings, decimals of any length,
# result, pictures, page and measures. The locale is made here where the system has none.
#   test_locale.sh HOST    the program locale_host
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
host=$1
name=de_DE.UTF-8
export OMP_NUM_THREADS=2
if ! locale -a 2>/dev/null | grep -qx de_DE.utf8; then
    mkdir locales
    localedef -i de_DE -f UTF-8 "$PWD/locales/$name" >out.txt 2>err.txt
    export LOCPATH=$PWD/locales
fi
# Fewer digits are read without the C library; the last column has long ones and words for numbers.
awk 'BEGIN { print "a,b,c,class"; srand(1); for (i = 0; i < 200; i++) {
    printf "%.6f,%.3e,%.3f%018d,c%d\n", rand() + i % 3, rand() * 1e-7, rand(), i * 7919, i % 3 } }' >data.csv
for where in C $name; do
    mkdir "$where"
    cat >"$where/run.yaml" <<'Y'
input: {file: ../data.csv, labels: class}
isolation: {psi: 8}
layout: {iterations: 40, exaggeration_iterations: 10, final_momentum: 0.75, exaggeration: 3.5}
output: {measures: all}
Y
    "$host" $where "$where" >out.txt 2>err.txt
    code=$?
    [ $code -ne 2 ] || { echo "skipped: no locale $where, and localedef makes none (package locales)"; exit 77; }
    [ $code -eq 0 ] || fail "a host in the locale $where: exit code $code"
    (cd "$where" && "$IKT_PROGRAM" info map.h5 >info.txt && "$IKT_PROGRAM" info map.h5 --config >config.yaml) \
        >out.txt 2>err.txt || fail "the result of the locale $where"
done
grep -q 'final_momentum: 0.75' $name/facts.txt && grep -qx '0.75' $name/facts.txt || fail "the facts have no 0.75"
sed -i -E '/[Ss]econds|start|time|host|directory|command|memory|bytes/d' */info.txt
sed -i '/^#/d' */config.yaml
for file in facts.txt map.svg map.html info.txt config.yaml; do
    cmp C/$file $name/$file || fail "$file depends on the locale: $(diff C/$file $name/$file | cut -c1-200 | head -4)"
done
cmp <(grep -av CreationDate C/map.pdf) <(grep -av CreationDate $name/map.pdf) || fail "map.pdf depends on the locale"
exit $failed
