#!/usr/bin/env bash
# The page of iktsne view in a browser: Chromium without a screen, driven by chromedriver.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

browser=
for candidate in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v $candidate || true)
done
if [ -z "$browser" ] || ! command -v chromedriver >/dev/null || ! command -v python3 >/dev/null; then
    echo "chromium, chromedriver or python3 is not there: not tested"
    exit 77
fi
"$IKT_PROGRAM" generate glyphs digits.h5 --points 800 --quiet &&
    "$IKT_PROGRAM" embed input.file=digits.h5 output.file=run.h5 output.measures=none \
        layout.learning_rate=200 layout.iterations=120 layout.exaggeration_iterations=60 --quiet >out.txt || exit 1
# Every row has a text of 300 characters; one word is in every 37th.
python3 - <<'END' || exit 1
import csv
with open("notes.csv", "w", newline="") as f:
    table = csv.writer(f)
    table.writerow(["note", "hand"])
    for i in range(800):
        text = f"Sheet {i}, \"{'rare' if i % 37 == 5 else 'common'}\" hand; " + "the ink has run where strokes meet, " * 9
        table.writerow([text[:300], ["left", "right"][i % 2]])
END
"$IKT_PROGRAM" view run.h5 page.html --images digits.h5:X --image-shape 28x28 --images-most 200 \
    --title "Digits & <marks>" --mark 5 --hover labels,notes.csv:note \
    --colour-by labels,notes.csv:hand --quiet || exit 1
"$IKT_PROGRAM" embed input.file=digits.h5 output.file=solid.h5 output.measures=none \
    layout.dimensions=3 layout.iterations=30 layout.exaggeration_iterations=20 --quiet >out.txt &&
    "$IKT_PROGRAM" view solid.h5 solid.html --quiet &&
    "$IKT_PROGRAM" view run.h5 white.html --background white --quiet &&
    "$IKT_PROGRAM" view run.h5 beside.html --beside solid.h5 --quiet || exit 1
python3 "$IKT_SOURCE/tests/io/view_browser.py" "$browser" "$work"
status=$?
[ $status -eq 0 ] && echo "the page works in a browser"
exit $status
