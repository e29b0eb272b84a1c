#!/usr/bin/env bash
# No two objects of the library and of the program define a global function or variable of one name: of
# two in an archive the linker silently takes whichever it meets first. Static ones may repeat. And no
# object of the library reads or writes numbers by the process's locale: src/base/c_locale.h does it for all.
#   symbols.sh LIBRARY FOLDER    the archive, and the folder of the program's objects
set -uo pipefail
command -v nm >/dev/null || { echo "skipped: needs nm"; exit 77; }
# A build that is not fresh has objects of sources that are gone, which nothing is linked from.
mapfile -t objects < <(find "$2" -name '*.o' | while read -r object; do
    source=${object#"$2"/}
    if [ "${source#src/}" = "$source" ] || [ -e "$IKT_SOURCE/${source%.o}" ]; then echo "$object"; fi
done)
[ -e "$1" ] && [ ${#objects[@]} -gt 0 ] || { echo "$1 or the objects in $2 are missing"; exit 1; }
defined=$(nm -A -g --defined-only "$1" "${objects[@]}" | awk 'NF > 2 && $(NF-1) ~ /^[TDBRSG]$/ { print $NF, $1 }' |
    grep -vE '^(__odr_asan|__asan|__sanitizer)')
[ "$(echo "$defined" | wc -l)" -gt 1000 ] || { echo "nm names too few functions"; exit 1; }
numbers='^_*(isoc[0-9]+_)?(strto(d|f|ld)|v?(s|sn|f|as|d)?printf|strcasecmp|ato(f|l?d))(_chk)?(@.*)?$'
foreign=$(nm -A -u "$1" | awk -v names="$numbers" '$NF ~ names && !/[:\/]c_locale\.c\.o:/ { print $1, $NF }')
[ -z "$foreign" ] || { echo "numbers by the process's locale, for want of base/c_locale.h: $foreign"; exit 1; }
twice=$(echo "$defined" | cut -d' ' -f1 | sort | uniq -d)
[ -z "$twice" ] && exit 0
for name in $twice; do
    echo "$name is defined in$(echo "$defined" | awk -v n="$name" '$1 == n { sub(/:[0-9a-f]*$/, "", $2); printf " %s", $2 }')"
done
exit 1
