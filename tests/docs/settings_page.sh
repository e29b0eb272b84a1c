#!/usr/bin/env bash
# docs/settings.md is what the program's tables say now.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
mkdir -p copy/docs copy/scripts
cp "$IKT_SOURCE/scripts/settings-page.sh" copy/scripts/
copy/scripts/settings-page.sh "$IKT_PROGRAM" >out.txt 2>err.txt || fail "the page cannot be written"
diff -u "$IKT_SOURCE/docs/settings.md" copy/docs/settings.md >out.txt ||
    fail "docs/settings.md is not what the key tables say (- the page, + the program): run scripts/settings-page.sh"
exit "$failed"
