"""What can be checked of README.md, ARCHITECTURE.md, CHANGELOG.md and docs/ without running a command.

Every link leads to a file, and to a heading of it where it names one; no page has two headings of one
text; docs/README.md leads to every page, and docs/notebook/README.md to every page of the notebook. Every
file of the sources and every function or type of the program (ikt_...) that a page names exists. Pages of
the notebook are of the day on which they were written: what they name may be gone.
"""

import os
import re
import sys
from pathlib import Path

SOURCE = Path(os.environ["IKT_SOURCE"])
FOLDERS = ("src", "include", "tests", "scripts", "jobs", "config", "python", "examples", "cmake", "packaging")
PATH = re.compile(r"(?<![\w/.$-])((?:%s)/[\w./-]*\w)" % "|".join(FOLDERS))
FILE = re.compile(r"`([a-z0-9_/]+\.[ch])`")  # without src/, in backticks
SYMBOL = re.compile(r"\bikt_[a-z0-9_]*[a-z0-9]\b|\bIKT_[A-Z0-9_]*[A-Z0-9]\b")


def text_of(page, code=True):
    """A page; without its blocks of code where these are not wanted."""
    text = page.read_text()
    return text if code else re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)


def headings_of(page):
    return re.findall(r"^#{1,6} +(.+?) *$", text_of(page, code=False), re.MULTILINE)


def anchor_of(heading):
    """The name that a heading has in a link, as GitHub makes it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def links_of(page):
    """Pairs of a path ("" for the page itself) and an anchor ("" for none)."""
    return re.findall(r"\]\((?![a-z]+:)([^)#\s]*)#?([^)\s]*)\)", text_of(page))


def check_links(page):
    for target, anchor in links_of(page):
        path = (page.parent / target).resolve() if target else page
        if not path.exists():
            yield f"links to {target}, which is not there"
        elif anchor and anchor not in map(anchor_of, headings_of(path)):
            yield f"links to {target}#{anchor}, and there is no such heading"


def check_headings(page):
    found = headings_of(page)
    return [f"has two headings '{h}'" for h in sorted(set(found)) if found.count(h) > 1]


def check_reach(index):
    """Every page beside an index of pages is linked from it."""
    linked = {(index.parent / target).resolve() for target, _ in links_of(index) if target}
    return [f"does not list {p.name}" for p in sorted(index.parent.glob("*.md")) if p != index and p.resolve() not in linked]


def names_of_sources():
    """Everything that looks like a name in a file of the sources, tests or scripts."""
    found = set()
    for folder in FOLDERS + ("CMakeLists.txt",):
        for path in [SOURCE / folder] if (SOURCE / folder).is_file() else (SOURCE / folder).rglob("*"):
            if path.suffix in {".c", ".h", ".in", ".sh", ".py", ".cmake", ".txt"} and path != Path(__file__).resolve():
                found.update(SYMBOL.findall(path.read_text(errors="replace")))
    return found


def check_names(page, known):
    """Files and names of the program that are not there. What has capitals is for the reader to fill in."""
    text = text_of(page)
    for name in sorted({*PATH.findall(text), *(n for n in FILE.findall(text) if "/" in n)}):
        is_pattern = re.search(r"[A-Z]", Path(name).name.split(".")[0])
        if not is_pattern and not any((SOURCE / root / name).exists() for root in ("", "src", "include")):
            yield f"names {name}, which is not there"
    for name in sorted(set(SYMBOL.findall(text)) - known):
        yield f"names {name}, which is not in the sources"


def main():
    pages = [SOURCE / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md")] + sorted((SOURCE / "docs").glob("*.md"))
    notebook = sorted((SOURCE / "docs" / "notebook").glob("*.md"))
    known = names_of_sources()
    faults = []
    for page in pages + notebook:
        found = [*check_links(page), *check_headings(page)]
        found += check_names(page, known) if page in pages else []
        found += check_reach(page) if page.name == "README.md" and page.parent != SOURCE else []
        faults += [f"{page.relative_to(SOURCE)} {fault}" for fault in found]
    print("\n".join(faults) or f"{len(pages)} pages and {len(notebook)} of the notebook")
    return 1 if faults else 0


sys.exit(main())
