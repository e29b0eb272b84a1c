#!/usr/bin/env bash
# Pictures as SVG and PDF: well formed, text as text, the points as the same pixels as in the PNG file,
# equal files on any number of ranks and at any time. $1: the program that writes the example run.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/python.sh"

# shellcheck disable=SC2086
$IKT_MPIRUN 1 "$1" run.h5 host || exit 1
python=$(find_python xml.etree.ElementTree) || {
    echo "there is no python3: not tested"
    exit 77
}

draw() {
    local ranks=$1
    shift
    # shellcheck disable=SC2086
    $IKT_MPIRUN "$ranks" "$IKT_PROGRAM" plot run.h5 "$@" --title 'A "title" & <more>, Grüße' --quiet \
        2>err.txt
}
draw 1 1.pdf || fail "PDF"
for ranks in 1 2 3 4; do
    draw $ranks $ranks.svg || fail "SVG on $ranks ranks"
    cmp 1.svg $ranks.svg || fail "SVG differs on $ranks ranks"
done
draw 1 1.png || fail "PNG"
"$IKT_PROGRAM" plot run.h5 value.svg --colour-by marked 2>/dev/null && fail "a column of 2 rows was taken"
"$IKT_PROGRAM" plot run.h5 small.svg --dpi 100 --width 600 --quiet || fail "SVG of another size"

"$python" - <<'PYTHON' || fail "the SVG file"
import base64
import struct
import xml.etree.ElementTree as tree
import zlib


def pixels(data):
    """Rows of bytes of an 8-bit RGB PNG file."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, body, width, height = 8, b"", 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        chunk = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", chunk[:10])
            assert (depth, colour) == (8, 2)
        if kind == b"IDAT":
            body += chunk
        at += 12 + length
    raw, rows, above = zlib.decompress(body), [], bytes(3 * width)
    for y in range(height):
        line = bytearray(raw[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
        kind = raw[y * (3 * width + 1)]
        for x in range(3 * width if kind else 0):  # each byte is a difference to a guess
            left, corner = (line[x - 3], above[x - 3]) if x >= 3 else (0, 0)
            if kind == 4:  # Paeth: the nearest of three to left + above - corner
                guess = min((left, above[x], corner), key=lambda v: abs(left + above[x] - corner - v))
            else:
                guess = (0, left, above[x], (left + above[x]) // 2)[kind]
            line[x] = (line[x] + guess) & 255
        above = bytes(line)
        rows.append(above)
    return width, height, rows


svg = "{http://www.w3.org/2000/svg}"
root = tree.parse("1.svg").getroot()
assert root.tag == svg + "svg" and root.get("width") == "432.00pt" and root.get("viewBox") == "0 0 1200 1000"
small = tree.parse("small.svg").getroot()
assert small.get("width") == "432.00pt" and small.get("height") == "360.00pt", small.attrib
assert root.find(svg + "title").text == 'A "title" & <more>, Grüße'
assert "seed: 7" in root.find(svg + "desc").text
texts = [t.text for t in root.iter(svg + "text")]
assert 'A "title" & <more>, Grüße' in texts and "1,000 points" in texts and "labels: 3 classes" in texts, texts
assert {"(missing)", "one", "two", "333", "334", "2 marked rows"} <= set(texts), texts
assert len(list(root.iter(svg + "path"))) == 2 * (2 + 1)  # marks with their halos, one in the legend
assert len(list(root.iter(svg + "circle"))) == 3
(image,) = root.iter(svg + "image")
data = base64.b64decode(image.get("{http://www.w3.org/1999/xlink}href").split(",")[1], validate=True)
width, height, rows = pixels(data)
left, top = int(image.get("x")), int(image.get("y"))
assert (width, height) == (int(image.get("width")), int(image.get("height")))
_, _, whole = pixels(open("1.png", "rb").read())
# The PNG has the crosses in its pixels: they lie over few of them.
differ = sum(rows[y] != whole[top + y][3 * left:3 * (left + width)] for y in range(height))
assert sum(set(row) != {255} for row in rows) > 100 and 0 < differ < 60, differ
PYTHON

if command -v rsvg-convert >/dev/null; then
    rsvg-convert -w 300 1.svg -o shown.png && [ -s shown.png ] || fail "rsvg-convert"
fi

for ranks in 2 3 4; do
    draw $ranks $ranks.pdf || fail "PDF on $ranks ranks"
    cmp 1.pdf $ranks.pdf || fail "PDF differs on $ranks ranks" # seconds later: it has no date
done
head -c 8 1.pdf | grep -q '%PDF-1.4' || fail "not a PDF of version 1.4"
grep -qa CreationDate 1.pdf && fail "the PDF has a date"
if command -v pdftotext >/dev/null && command -v pdffonts >/dev/null; then
    pdffonts 1.pdf >fonts.txt || fail "pdffonts"
    # Without any font on this machine letters are strokes.
    if [ "$(wc -l <fonts.txt)" -gt 2 ]; then
        pdftotext -layout 1.pdf text.txt || fail "pdftotext"
        for words in 'A "title" & <more>, Grüße' '1,000 points' 'labels: 3 classes' '2 marked rows'; do
            grep -qF "$words" text.txt || fail "'$words' is not text of the PDF"
        done
    fi
    pdftoppm -r 40 -png -singlefile 1.pdf shown && [ -s shown.png ] || fail "pdftoppm"
fi
"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 100 --dimensions 3 --clusters 2 --quiet
"$IKT_PROGRAM" embed input.file=data.h5 isolation.psi=8 layout.iterations=5 output.picture=run.pdf \
    layout.exaggeration_iterations=2 output.file=small.h5 output.measures=none --quiet >/dev/null
head -c 5 run.pdf | grep -q '%PDF-' || fail "embed wrote no PDF"

# Names of classes that stand at one place lie one below the other, and in the frame where that is at its edge.
"$python" - <<'PYTHON'
with open("near.csv", "w") as f:
    f.write("x,y,kind\n")
    f.write("0,5,a name that is long at the edge\n8,0,corner\n8,10,corner\n" * 9)
    f.writelines(f"4,5,{kind}\n" * count for kind, count in (("most", 200), ("more", 150), ("few", 50)))
PYTHON
for ranks in 1 3; do
    $IKT_MPIRUN $ranks "$IKT_PROGRAM" plot near.csv:x,y near.svg --colour-by near.csv:kind --names --no-legend --overwrite --quiet ||
        fail "names of near classes"
    "$python" - <<'PYTHON' || fail "the names of near classes on $ranks ranks"
import xml.etree.ElementTree as tree

svg = "{http://www.w3.org/2000/svg}"
root = tree.parse("near.svg").getroot()
place = {t.text: (float(t.get("x")), float(t.get("y")), float(t.get("font-size"))) for t in root.iter(svg + "text")}
left = min(float(r.get("x")) for r in root.iter(svg + "rect") if r.get("width") == "1")
downs = sorted((place[name][1] for name in ("most", "more", "few")))
line = place["most"][2]
assert all(line <= b - a <= 2 * line for a, b in zip(downs, downs[1:])), place
assert downs[1] == place["most"][1], place  # the largest class has its own place
assert place["a name that is long at the edge"][0] > left, (place, left)
PYTHON
done

expect 2 'for .svg and .pdf' plot run.h5 x.png --dpi 300
expect 4 'exists already' plot run.h5 1.svg
expect 4 'cannot be written' plot run.h5 no/folder.svg
leftover=$(find . -name 'x.*' -o -name '*.part-*')
[ -z "$leftover" ] || fail "left behind: $leftover"
[ "$failed" -eq 0 ] && echo "pictures as SVG and PDF"
exit "$failed"
