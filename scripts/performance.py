"""Puts the tables that bench.sh made into a text: performance.py TEXT.md FOLDER.

Between `<!-- bench: PATH ... -->` and `<!-- end -->` go the lines of FOLDER/bench.md about these paths.
"""
import os
import re
import sys


def body(name):
    """Lines of a generated file without its first line; none where there is no such file yet."""
    if not os.path.exists(name):
        return []
    with open(name) as file:
        return file.read().strip().split("\n")[1:]


def lines_of(bench, paths):
    """Head of the table, and the lines of the paths with those that continue them."""
    kept, taken = [], False
    head = [line for line in bench if line.startswith(("| path |", "|---|"))][:2]
    for line in bench:
        if not line.startswith("| | "):
            taken = line.startswith("| ") and line.split("|")[1].strip() in paths
        if taken:
            kept.append(line)
    return head + kept


def filled(match, bench):
    lines = lines_of(bench, match.group(2).split())
    if not lines:
        return match.group(0)
    return "\n".join([match.group(1), "", *"\n".join(lines).strip().split("\n"), "", "<!-- end -->"])


def main(name, folder):
    bench = body(os.path.join(folder, "bench.md"))
    with open(name) as file:
        text = file.read()
    markers = re.compile(r"(<!-- bench: ([a-z0-9 -]*?) ?-->).*?<!-- end -->", re.DOTALL)
    text = markers.sub(lambda match: filled(match, bench), text)
    with open(name, "w") as file:
        file.write(text)


main(sys.argv[1], sys.argv[2])
