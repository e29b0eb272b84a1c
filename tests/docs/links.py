"""Every link of README.md and docs/*.md leads to a file, and docs/README.md leads to every page."""

import os
import re
import sys
from pathlib import Path

source = Path(os.environ["IKT_SOURCE"])
pages = [source / "README.md", *sorted((source / "docs").glob("*.md"))]
faults, listed = [], set()
for page in pages:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if "://" in target:
            continue
        path = (page.parent / target).resolve()
        if not path.exists():
            faults.append(f"{page.relative_to(source)} links to {target}, which is not there")
        if page.parent.name == "docs" and page.name == "README.md":
            listed.add(path)
faults += [f"docs/README.md does not list {p.name}" for p in pages[1:] if p.name != "README.md" and p.resolve() not in listed]
print("\n".join(faults) or f"{len(pages)} pages")
sys.exit(1 if faults else 0)
