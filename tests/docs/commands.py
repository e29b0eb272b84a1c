"""Runs every command that README.md and docs/*.md show.

    commands.py [--list] [PAGE...]      IKT_PROGRAM, IKT_MPIRUN and IKT_SOURCE in the environment

What is a command: a line of an indented block, or of a ``` block whose language is sh. A ```yaml
block is settings of `embed`, or a study: the program reads it. A ```python block is run behind
those before it on the page. Blocks of
other languages must say why they are not run; ```text and ```json are output or formulas and are
shown only. A comment before a block marks it:

    <!-- not run: needs a cluster -->          it is skipped, and counted with its reason
    <!-- dry run: 8 million rows -->           its `iktsne embed` get --dry-run

The commands themselves are run, in the order of the page, in a folder of their own with the files
of prepare.sh, and every one has to succeed. To run anywhere in little time (bin/):
  * data are the small ones of prepare.sh; --points, --rows and isolation.psi, .pool, layout.landmarks,
    input.rows above 1000 become 1000;
  * outputs may be replaced (output.overwrite=yes, --overwrite);
  * `mpirun` starts at most two ranks;
  * `study` gets --list, which reads the study and its data sets and makes no run;
  * what builds, installs or needs a cluster is looked at only (bin/only-checked): our own scripts
    have to be there and be bash, a preset of CMake has to exist, and files that are named.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
MARK = re.compile(r"\s*<!-- *(not run|dry run): *(.*?) *-->\s*")
SHOWN = {"text", "json"}
ONLY_CHECKED = ["cmake", "ctest", "sbatch", "srun", "scancel", "sudo", "apt-get", "pip", "spack", "apptainer", "module"]
SLOWER = 10 if os.environ.get("ASAN_OPTIONS") or os.environ.get("TSAN_OPTIONS") else 1
TIMEOUT = 300 * SLOWER  # seconds for a block, on a loaded machine


class Block:
    """Lines of code of a page: `language` "" for an indented block."""

    def __init__(self, page, line, language, mark):
        self.page, self.line, self.language, self.mark, self.lines = page, line, language, mark, []

    @property
    def where(self):
        return f"{self.page}:{self.line}"

    @property
    def is_marked(self):
        return self.mark is not None and self.mark[0] == "not run"

    def text(self):
        return "\n".join(self.lines).rstrip() + "\n"

    def commands(self):
        joined = self.text().replace("\\\n", " ")
        return [l for l in joined.splitlines() if l.strip() and not l.strip().startswith("#")]


def blocks_of(page, text):
    """The blocks of code of a page of Markdown."""
    found, block, mark, before = [], None, None, ""
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r" {0,3}```+(\w*)", line)
        if block is not None and block.language != "":  # within a fence
            if fence:
                block = None
            else:
                block.lines.append(line)
        elif fence:
            block = Block(page, number, fence.group(1) or "unnamed", mark)
            found.append(block)
            mark = None
        elif line.startswith("    ") and (block or not before.strip()) and line.strip():
            if block is None:
                block = Block(page, number, "", mark)
                found.append(block)
                mark = None
            block.lines.append(line[4:])
        elif not line.strip():
            if block is not None:
                block.lines.append("")
        else:
            block = None
            told = MARK.fullmatch(line)
            mark = told.groups() if told else None
        before = line
    return found


def script_of(block, earlier, folder):
    """What is run for a block, as an argument list."""
    name = folder / f".block-{block.line}"
    if block.language == "python":
        programs = [b.text() for b in earlier if b.language == "python" and not b.is_marked]
        name.write_text("".join(programs) + block.text())
        return ["/usr/bin/python3", name.name]
    if block.language == "yaml":
        name = name.with_suffix(".yaml")
        name.write_text(block.text())
        is_study = re.search(r"^(data|methods):", block.text(), re.M)
        return ["iktsne", "study", name.name] if is_study else ["iktsne", "embed", name.name, "--print-config"]
    name.write_text(block.text())
    prologue = "set -eEo pipefail; trap 'echo \"failed: $BASH_COMMAND\" >&2' ERR; "
    return ["bash", "-c", f"{prologue} . ./{name.name}"]


def problem_of(block):
    """Why a block can neither be run nor is marked; None where all is well."""
    if block.language in SHOWN or block.is_marked:
        return None
    if block.language not in {"", "sh", "bash", "yaml", "python"}:
        return f"a block of '{block.language}' is not run: name its language, or say why before it: <!-- not run: ... -->"
    return None


def environment(prepared, block):
    names = dict(os.environ, IKT_DOCS_PREPARED=str(prepared), OMP_NUM_THREADS="1")
    names["PATH"] = f"{HERE / 'bin'}:{prepared / 'only-checked'}:{names['PATH']}"
    names["IKT_DOCS_ONLY_CHECKED"] = str(prepared / "only-checked.txt")
    names["XDG_CONFIG_HOME"] = str(prepared / "home")
    if block.mark and block.mark[0] == "dry run":
        names["IKT_DOCS_DRY"] = "1"
    return names


def run_block(block, earlier, folder, prepared):
    """The output of a block that failed, or None."""
    done = subprocess.run(script_of(block, earlier, folder), cwd=folder, env=environment(prepared, block),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          timeout=TIMEOUT, text=True, errors="replace")
    return None if done.returncode == 0 else f"exit code {done.returncode}\n{done.stdout[-1500:]}"


def run_page(page, blocks, prepared, scratch):
    """Failures of a page, in order."""
    folder = scratch / page.replace("/", "-")
    shutil.copytree(prepared, folder, symlinks=True)
    for name in ("config", "jobs", "docs", "tests"):
        (folder / name).symlink_to(Path(os.environ["IKT_SOURCE"]) / name)
    failures = []
    for number, block in enumerate(blocks):
        told = problem_of(block)
        if told is None and block.language not in SHOWN and not block.is_marked:
            told = run_block(block, blocks[:number], folder, prepared)
        if told:
            failures.append(f"{block.where}: {told}\n{block.text()}")
    return failures


def look_only(source, prepared):
    """Names under which nothing is run: of programs, and of our own scripts."""
    for folder, names in (("only-checked", ONLY_CHECKED), ("scripts", [p.name for p in (source / "scripts").glob("*.sh")])):
        (prepared / folder).mkdir()
        for name in names:
            (prepared / folder / name).symlink_to(HERE / "bin" / "only-checked")


def pages_of(source, wanted):
    names = ["README.md"] + sorted(f"docs/{p.name}" for p in (source / "docs").glob("*.md"))
    return [n for n in names if not wanted or n in wanted]


def report(blocks, prepared):
    run = sum(len(b.commands()) for b in blocks if not b.is_marked and b.language in {"", "sh", "bash"})
    files = sum(not b.is_marked and b.language in {"yaml", "python"} for b in blocks)
    marked = [b for b in blocks if b.is_marked]
    seen = prepared / "only-checked.txt"
    checked = len(seen.read_text().splitlines()) if seen.exists() else 0
    print(f"{run} commands and {files} files were run, {checked} of them only checked (they build, install or need a "
          f"cluster); {sum(len(b.commands()) for b in marked)} lines in "
          f"{len(marked)} blocks are marked as not run:")
    for block in marked:
        print(f"  {block.where}: {block.mark[1]}")


def main():
    source = Path(os.environ["IKT_SOURCE"])
    wanted = [a for a in sys.argv[1:] if a != "--list"]
    pages = {n: blocks_of(n, (source / n).read_text()) for n in pages_of(source, wanted)}
    if "--list" in sys.argv:
        for block in (b for blocks in pages.values() for b in blocks):
            print(f"{block.where} [{block.language or 'indented'}] {block.mark or ''}\n{block.text()}")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        prepared = Path(scratch) / "prepared"
        prepared.mkdir()
        subprocess.run(["bash", HERE / "prepare.sh"], cwd=prepared, check=True)
        look_only(source, prepared)
        with ThreadPoolExecutor(2) as pool:
            runs = [pool.submit(run_page, n, b, prepared, Path(scratch)) for n, b in pages.items()]
            failures = [f for r in runs for f in r.result()]
        report([b for blocks in pages.values() for b in blocks], prepared)
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
