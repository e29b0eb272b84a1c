#!/usr/bin/env bash
# Writes the tables of docs/methods.md and docs/notebook/methods-tables.md from the results of
# config/studies/methods.yaml: for each measure the median over the seeds of every data set and method, the
# best of a row in bold, and the mean rank of each method over all rows. The page has the mean ranks and the
# measures of ON_PAGE; the notebook has all. The texts stay as they are.
#   scripts/methods-page.sh RESULTS.csv
set -euo pipefail
results=$(realpath "${1:?name the file results.csv of the study methods.yaml}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec python3 - "$results" docs/methods.md docs/notebook/methods-tables.md <<'PYTHON'
import csv
import statistics
import sys

# Measure, title, format, and which way is better: -1 smaller, 1 larger, 0 neither.
MEASURES = (
    ("10-NN accuracy", "Accuracy of the 10 nearest rows", "share", 1),
    ("trustworthiness (k 12)", "Trustworthiness of 12 neighbours", "share", 1),
    ("Davies-Bouldin", "Davies-Bouldin index of the classes (0 is best)", "%.2f", -1),
    ("Calinski-Harabasz", "Calinski-Harabasz index of the classes (large is best)", "%.0f", 1),
    ("triplet accuracy", "Triplet accuracy (0.5 is random)", "share", 1),
    ("global score", "Global score (principal components have 1)", "share", 1),
    ("outlier ratio", "Outlier ratio (that of the data is in the last column)", "%.2f", 0),
    ("seconds", "Seconds", "seconds", 0))
ON_PAGE = ("10-NN accuracy", "trustworthiness (k 12)")
BEGIN, END = "<!-- tables: begin -->\n", "<!-- tables: end -->\n"


def shown(value, how):
    """A value as text; "-" where there is none."""
    if value is None:
        return "-"
    if how == "share":
        return ("%.3f" % value).replace("0.", ".", 1) if value < 0.9995 else "1.000"
    if how == "seconds":
        return "%.2f" % value if value < 1 else "%.1f" % value if value < 10 else "%.0f" % value
    return how % value


def number(text):
    return float(text) if text and text != "nan" else None


def ranks(values, way):
    """The mean rank of each value, 1 the best; equal values share theirs."""
    return [1 + sum(way * (other - value) > 0 for other in values) +
            (sum(other == value for other in values) - 1) / 2 for value in values]


def put(page, lines):
    """Replaces what stands between the markers of a page."""
    text = open(page).read()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    open(page, "w").write(before + BEGIN + "\n".join(lines).lstrip("\n") + "\n\n" + END + after)


def main(results, page, notebook):
    runs, sets, methods = {}, {}, []
    for row in csv.DictReader(open(results)):
        if row["outcome"] != "ok":
            continue
        runs.setdefault((row["data"], row["method"]), []).append(row)
        sets[row["data"]] = (int(float(row["rows"])), int(float(row["columns"])))
    for _, method in runs:
        if method not in methods:
            methods.append(method)
    usual = ["t-SNE", "IK t-SNE", "UMAP", "LargeVis", "TriMap", "IK TriMap", "PCA"]
    methods.sort(key=lambda m: usual.index(m) if m in usual else len(usual))
    names = sorted(sets, key=lambda s: sets[s])
    columns = "| " + " | ".join(methods)
    ranked = ["### Mean ranks, 1 the best", "", "| measure, sets " + columns + " |", "|---|" + "--:|" * len(methods)]
    shown_there, shown_here = [], []
    for measure, title, how, way in MEASURES:
        lines = []
        def median(name, method, column=measure):
            values = [number(r[column]) for r in runs.get((name, method), [])]
            values = [v for v in values if v is not None]
            return statistics.median(values) if values else None
        last = measure == "outlier ratio"
        lines += ["", "### " + title, "",
                  "| data, rows x columns " + columns + (" | data |" if last else " |"),
                  "|---|" + "--:|" * (len(methods) + last)]
        total, count = [0.0] * len(methods), 0
        for name in names:
            values = [median(name, m) for m in methods]
            if all(v is None for v in values):
                continue
            texts = [shown(v, how) for v in values]
            if way and None not in values:
                best = texts[values.index(max(values) if way > 0 else min(values))]
                texts = ["**%s**" % t if t == best else t for t in texts]
                total = [a + b for a, b in zip(total, ranks(values, way))]
                count += 1
            if last:
                texts.append(shown(median(name, methods[0], "outlier ratio of the data"), how))
            lines.append("| %s, %s x %d | %s |" % (name, format(sets[name][0], ","), sets[name][1], " | ".join(texts)))
        if count:
            mean = " | ".join("%.1f" % (t / count) for t in total)
            lines.append("| mean rank over %d sets | %s |" % (count, mean))
            ranked.append("| %s, %d | %s |" % (measure, count, mean))
        shown_there += lines
        shown_here += lines if measure in ON_PAGE else []
    put(page, ranked + shown_here)
    put(notebook, shown_there)


main(*sys.argv[1:])
PYTHON
