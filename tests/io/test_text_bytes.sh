#!/usr/bin/env bash
# Names may be any bytes: those of classes in a Latin-1 table, those of files with control characters.
# Every text that is written is well-formed all the same: SVG, PDF, HTML, Markdown and JSON, of embed, plot,
# view, info and study. Names of classes that are not UTF-8 are read as Latin-1; in names of files, bytes that
# are no UTF-8 are shown as U+FFFD. Control characters are left out.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/python.sh"

python=$(find_python xml.etree.ElementTree json html.parser) || {
    echo "there is no python3: not tested"
    exit 77
}
run() { "$IKT_PROGRAM" "$@" >out.txt 2>err.txt || fail "exit code $?: $*"; }

# Classes: Latin-1, marks of XML, UTF-8 cut short, a surrogate, a noncharacter, and one that is in order.
"$python" - <<'PYTHON'
names = [b"K\xe4se", b"a<b>&'c", b"half \xc3", b"\xed\xa0\x80\xf5\x80", b"no \xef\xbf\xbe", b"Gr\xc3\xbc\xc3\x9fe \x7f"]
with open("table.csv", "wb") as table:
    table.write(b"x,y,z,kind\n")
    for i in range(60):
        k = i % len(names)
        table.write(b"%d.%d,%d,%d," % (k, i, i % 7, k * k) + names[k] + b"\n")
PYTHON
run convert table.csv data.h5 --label-column kind
odd=$(printf 'r\351\001<&q')
for kind in svg pdf png; do
    run embed input.file=data.h5 "output.file=$kind.h5" output.picture=picture.$kind isolation.psi=4 \
        layout.iterations=4 layout.exaggeration_iterations=2 output.overwrite=yes --quiet
done
cp svg.h5 "$odd.h5"
for kind in svg pdf png; do run plot "$odd.h5" "$odd.$kind" --quiet; done
mv "$odd.svg" title.svg
mv "$odd.pdf" title.pdf
run view "$odd.h5" title.html --quiet
run info "$odd.h5" --json
mv out.txt info.json
run evaluate "$odd.h5" --json
mv out.txt evaluate.json
"$IKT_PROGRAM" plot "$odd.h5" none/x.svg --log json 2>log.json && fail "a folder that is not there"
# With fonts or without, Latin, Greek and Cyrillic letters are the same picture; a name in another script is drawn
# in the fonts of the machine, and one warning tells of characters that none has.
"$python" - <<'PYTHON'
for table, names in ("scripts", ["Zürich", "naïve T", "α-cell", "Łódź", "Жук"]), ("odd", ["a\ue000b", "c\ue000d"]):
    with open(table + ".csv", "w", encoding="utf-8") as f:
        f.write("x,y,kind\n" + "".join(f"{i % 5},{i},{names[i % len(names)]}\n" for i in range(60)))
PYTHON
echo '<fontconfig><dir>none</dir></fontconfig>' >fonts.conf
mkdir ascii
echo "<fontconfig><dir>$PWD/ascii</dir><cachedir>$PWD/ascii</cachedir></fontconfig>" >ascii.conf
"$python" "$IKT_SOURCE/tests/io/ascii_font.py" ascii/ascii.ttf
for kind in png pdf; do
    run plot scripts.csv:x,y with.$kind --colour-by scripts.csv:kind --names
    [ ! -s err.txt ] || fail "a warning of letters that are there"
    FONTCONFIG_FILE=$PWD/fonts.conf run plot scripts.csv:x,y without.$kind --colour-by scripts.csv:kind --names
    grep -q 'no font' err.txt && fail "letters of our own are told as missing"
    FONTCONFIG_FILE=$PWD/ascii.conf run plot scripts.csv:x,y few.$kind --colour-by scripts.csv:kind --names
    grep -q 'no font' err.txt && fail "letters of our own are told as missing where a font has some others"
    run plot odd.csv:x,y odd.$kind --colour-by odd.csv:kind --names # U+E000 is nobody's
    [ "$(grep -c 'no font of this machine has these characters, .*: . (U+E000); ' err.txt)" -eq 1 ] ||
        fail "not one warning of a character that no font has"
done
cmp -s with.png without.png || fail "letters of our own depend on the fonts"
cat >study.yaml <<'Y'
title: "bytes <&> and Grüße"
data: [{name: latin, file: data.h5}]
settings: {layout.iterations: 300}
measures: [10-NN accuracy]
methods: [{name: Isolation, vary: {isolation.psi: [4, 8]}}]
Y
run study study.yaml --output study --quiet

"$python" - <<'PYTHON' >out.txt 2>err.txt || fail "a text is not well-formed"
import glob
import html.parser
import json
import re
import xml.etree.ElementTree as tree

svg = "{http://www.w3.org/2000/svg}"
for name in ["picture.svg", "title.svg"] + glob.glob("study/report/figure-*.svg"):
    texts = [t.text for t in tree.parse(name).getroot().iter(svg + "text")]
    if name.startswith("study"):
        continue
    assert {"K\u00e4se", "a<b>&'c", "half \u00c3", "no ", "Gr\u00fc\u00dfe \x7f"} <= set(texts), texts
    assert "\u00ed\u00a0\u0080\u00f5\u0080" in texts, texts
assert tree.parse("title.svg").getroot().find(svg + "title").text.startswith("r\ufffd<&q")
for name in ["title.html", "study/report/report.html", "study/report/report.md", "log.json"]:
    text = open(name, encoding="utf-8").read()  # fails where it is no UTF-8
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", text), name
    if name.endswith(".html"):
        html.parser.HTMLParser().feed(text)
    if name == "title.html":
        assert "<title>r\ufffd&lt;&amp;q" in text
        about = re.search(r'<script type="application/json" id="about">(.*?)</script>', text, re.S)[1]
        assert "K\u00e4se" in json.dumps(json.loads(about), ensure_ascii=False)
    if name == "log.json":
        for line in text.splitlines():
            json.loads(line)
for name in ["info.json", "evaluate.json"]:
    json.load(open(name, encoding="utf-8"))
PYTHON

for file in picture.pdf title.pdf; do
    head -c 5 $file | grep -q '%PDF-' || fail "$file is no PDF"
    if command -v pdfinfo >/dev/null; then
        pdfinfo -enc UTF-8 $file >out.txt 2>err.txt || fail "pdfinfo $file"
    fi
done
if command -v pdftotext >/dev/null && [ "$(pdffonts title.pdf | wc -l)" -gt 2 ]; then
    grep -q "^Title: *r$(printf '\357\277\275')<&q" out.txt || fail "the title of the PDF"
fi
if command -v xmllint >/dev/null; then
    xmllint --noout picture.svg title.svg study/report/figure-*.svg 2>err.txt || fail "xmllint"
fi
[ "$failed" -eq 0 ] && echo "texts are well-formed whatever bytes the names have"
exit "$failed"
