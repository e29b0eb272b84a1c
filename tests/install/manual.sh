#!/usr/bin/env bash
# The manual pages: one for the program, one for each verb, clean to mandoc and readable by man; they hold
# what --help has: every option, every key. Where --help=FORM is wrong, a sentence says so.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
"$IKT_PROGRAM" --help=man >iktsne.1 2>err.txt || fail "no page of the program"
mapfile -t verbs < <("$IKT_PROGRAM" --help | sed -n '/^usage:/,/^options/s/^  \([a-z][a-z]*\) .*/\1/p')
[ ${#verbs[@]} -ge 9 ] || fail "--help lists ${#verbs[@]} verbs"

for verb in "${verbs[@]}"; do
    "$IKT_PROGRAM" "$verb" --help=man >"iktsne-$verb.1" 2>err.txt || fail "no page of $verb"
    grep -q "^\.BR iktsne..$verb (1)" iktsne.1 || fail "iktsne(1) does not name iktsne-$verb(1)"
    for part in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" "SEE ALSO"; do
        grep -qx "\.SH $part" "iktsne-$verb.1" || fail "iktsne-$verb.1 has no $part"
    done
    "$IKT_PROGRAM" "$verb" --help=text >help.txt
    sed -n '/^options/,$s/^  \(--[a-z-]*\)\( .*\)*$/\1/p' help.txt >out.txt
    while read -r option; do
        grep -qF -- "\\fB${option//-/\\-}\\fR" "iktsne-$verb.1" || fail "iktsne-$verb.1 has no $option"
    done <out.txt
done
sed -n 's/^  \([a-z]*\.[a-z_]*\) = .*/\1/p' <("$IKT_PROGRAM" embed --help=text) >out.txt
[ "$(wc -l <out.txt)" -gt 50 ] || fail "few keys in the help of embed"
while read -r key; do
    grep -qxF "\\fB$key\\fR" iktsne-embed.1 || fail "iktsne-embed.1 has no $key"
done <out.txt

"$IKT_PROGRAM" --help=paper >out.txt 2>err.txt
[ $? -eq 2 ] && grep -q 'the forms are text, man, bash, zsh and fish' err.txt || fail "--help=paper"
"$IKT_PROGRAM" plot --help=man >/dev/full 2>err.txt
[ $? -eq 4 ] && grep -q 'cannot be written' err.txt || fail "a page to a full disk"
[ "$("$IKT_PROGRAM" plot --help=text)" = "$("$IKT_PROGRAM" plot --help)" ] || fail "--help=text is not --help"

if command -v mandoc >/dev/null; then
    mandoc -Tlint -Wwarning iktsne*.1 >out.txt 2>&1 || fail "mandoc complains"
    mandoc -Tutf8 iktsne-embed.1 >out.txt || fail "mandoc cannot read it"
    grep -q 'isolation' out.txt || fail "an empty page"
    echo "pages clean to mandoc: $(ls iktsne*.1 | wc -l)"
else
    echo "mandoc is not installed: pages were not checked by it"
fi
if command -v man >/dev/null && man -l iktsne-embed.1 >out.txt 2>err.txt; then
    [ ! -s err.txt ] && [ "$(wc -l <out.txt)" -gt 100 ] || fail "man warns, or shows little"
fi
exit "$failed"
