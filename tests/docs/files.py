"""docs/files.md names what is in files, and files hold what docs/files.md names.

    files.py FILES.MD KIND FILE... [-- KIND FILE...]

KIND is a heading of the page. Names are those in backticks in the first column of its table: "/X" a
data set or group, "/ @seed" an attribute of the root, "@seconds_*" any name that begins so.
"""

import fnmatch
import re
import sys

import h5py


def named(page, kind):
    """Names that the page has for a kind of file."""
    part = page.split(f"\n## {kind}\n", 1)[1].split("\n## ", 1)[0]
    names = []
    for line in part.splitlines():
        if line.startswith("| `/"):
            names += [n.replace(" ", "") for n in re.findall(r"`(/[^`]*)`", line.split(" | ")[0])]
    return names


def held(path):
    """Names of everything in a file."""
    names = set()

    def add(name, thing):
        where = "/" + name if name else "/"
        if name:
            names.add(where)
        names.update(f"{where}@{a}" for a in thing.attrs)

    with h5py.File(path) as f:
        add("", f)
        f.visititems(add)
    return names


def within(names):
    """What the page says once: /state is a checkpoint of the loop."""
    return {n for n in names if not re.match(r"/state(/|@)", n)}


def compare(kind, wanted, files):
    seen, faults = set(), []
    for path in files:
        names = within(held(path)) if kind == "Results" else held(path)
        for name in sorted(names):
            matching = [w for w in wanted if fnmatch.fnmatchcase(name, w)]
            seen.update(matching)
            if not matching:
                faults.append(f"{path} holds {name}, which the page does not name under '{kind}'")
    faults += [f"the page names {w} under '{kind}', which is in none of {' '.join(files)}" for w in wanted if w not in seen]
    return faults


def main():
    page = open(sys.argv[1]).read()
    faults = []
    for group in " ".join(sys.argv[2:]).split(" -- "):
        kind, *files = group.split()
        wanted = named(page, kind.replace("_", " "))
        faults += compare(kind.replace("_", " "), wanted, files)
        print(f"{kind}: {len(wanted)} names, {len(files)} files")
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())
