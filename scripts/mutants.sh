#!/usr/bin/env bash
# Changes one line of the numerical core at a time and looks which test notices: tests/mutants/mutants.txt
# says which lines, and which tests should. Prints a table; exit code 1 where a change is noticed by no
# test, or no longer fits the sources.
#   scripts/mutants.sh [BUILD]                all of them; BUILD: a build with tests, build/release
#   scripts/mutants.sh [BUILD] --only REGEX   those whose names match
#   scripts/mutants.sh [BUILD] --sample K     K of them, others for every commit (--seed N: those of number N)
#   scripts/mutants.sh [BUILD] --list         their names, files and tests; whether each fits the sources
#   scripts/mutants.sh [BUILD] --unchanged    the same without any change: no test may notice anything
# Nothing is changed in place: the changed file is compiled into a folder of its own, and linked before the
# library, with the program and with the tests in question. Needs the Makefiles of CMake (exit code 77).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
command -v python3 >/dev/null || { echo "skipped: needs python3"; exit 77; }
exec python3 - "$root" "$@" <<'PYTHON'
import argparse
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

ROOT = sys.argv[1]
FIELDS = ("mutant", "file", "old", "new", "tests", "survives")
SECONDS = 180  # after which a test counts as hanging, which is noticed


def read_mutants(path):
    """Blocks of lines `field value`; `old` and `new` are fragments of one line, taken as they are."""
    mutants = []
    for number, line in enumerate(open(path), 1):
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            continue
        field, _, value = line.partition(" ")
        value = value.strip()
        if field not in FIELDS:
            sys.exit(f"{path}:{number}: unknown field '{field}'")
        if field == "mutant":
            mutants.append({"mutant": value})
        else:
            mutants[-1][field] = value
    return mutants


class Misfit(Exception):
    """A mutant that does not fit the sources."""


def find_source(name):
    """The only file of this name below src, so that files may move; `folder/name` where there are more."""
    found = [os.path.join(folder, file) for folder, _, files in os.walk(os.path.join(ROOT, "src"))
             for file in files if os.path.join(folder, file).endswith("/" + name)]
    if len(found) != 1:
        raise Misfit(f"{len(found)} files are named {name}")
    return found[0]


def mutated(mutant):
    """Path of the file and its changed text."""
    path = find_source(mutant["file"])
    text = open(path).read()
    if text.count(mutant["old"]) != 1:
        raise Misfit(f"'{mutant['old']}' stands {text.count(mutant['old'])} times in {path}")
    return path, text.replace(mutant["old"], mutant["new"])


def seed_of_sources():
    """A number, and of what: the commit, or the contents of the sources where there is none. Whoever
    tests the same sources again draws the same changes, on whichever day and machine."""
    if os.path.exists(os.path.join(ROOT, ".git")):
        try:
            git = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True)
            if git.returncode == 0:
                return int(git.stdout[:8], 16), "commit " + git.stdout[:12]
        except FileNotFoundError:
            pass
    sums = hashlib.sha256(open(os.path.join(ROOT, "tests", "mutants", "mutants.txt"), "rb").read())
    for path in sorted(os.path.join(folder, file)
                       for folder, _, files in os.walk(os.path.join(ROOT, "src")) for file in files):
        sums.update(open(path, "rb").read())
    return int(sums.hexdigest()[:8], 16), "the checksum of the sources"


UNCHANGED = False  # compile and test as for the mutants, but change nothing


class Build:
    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        commands = os.path.join(self.folder, "compile_commands.json")
        if not os.path.exists(commands) or not os.path.exists(self.link_file("iktsne_program")):
            print(f"skipped: {self.folder} is no build by Makefiles with compile_commands.json")
            sys.exit(77)
        self.compile = {}
        for entry in json.load(open(commands)):  # the library's own, not the tests' copies
            if re.search(r"/(iktsne|iktsne_program|ikt_kernels_\w+)\.dir/", entry["command"]):
                self.compile.setdefault(os.path.realpath(entry["file"]), []).append(entry)
        listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.folder, check=True,
                                capture_output=True, text=True).stdout
        self.tests = {t["name"]: t for t in json.loads(listed)["tests"]}

    def link_file(self, target):
        tests = "" if target == "iktsne_program" else "tests"
        return os.path.join(self.folder, tests, "CMakeFiles", target + ".dir", "link.txt")

    def sources_of(self, path):
        """The files that are compiled anew where this one changes."""
        if path.endswith(".c"):
            return [path]
        inner = os.path.relpath(path, os.path.join(ROOT, "src"))
        users, headers = set(), {inner}
        texts = {p: open(p).read() for folder, _, files in os.walk(os.path.join(ROOT, "src"))
                 for p in (os.path.join(folder, f) for f in files) if p.endswith((".c", ".h"))}
        grown = True
        while grown:  # headers that include it are as good as itself
            grown = False
            for p, text in texts.items():
                if p in users or not any(f'#include "{h}"' in text for h in headers):
                    continue
                users.add(p)
                grown = True
                if p.endswith(".h"):
                    headers.add(os.path.relpath(p, os.path.join(ROOT, "src")))
        return sorted(p for p in users if p.endswith(".c") and p in self.compile)

    def commands_of(self, path):
        """How these are compiled, kernels once for each instruction set."""
        sources = [os.path.realpath(s) for s in self.sources_of(path)]
        if not any(s in self.compile for s in sources):
            raise Misfit(f"{path} is not compiled in this build")
        return [(s, entry) for s in sources for entry in self.compile.get(s, [])]


def run(command, where, seconds=600, env=None, shell=False):
    """Exit code and output; None where it takes too long. Its whole group of processes is ended."""
    process = subprocess.Popen(command, cwd=where, env=env, shell=shell, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True, errors="replace")
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, ""


class Scratch:
    """The objects of one mutant, and what has been linked with them."""

    def __init__(self, build, mutant, folder):
        self.build, self.folder, self.linked, self.objects = build, folder, {}, {}
        path, text = mutated(mutant)
        if UNCHANGED:
            text = open(path).read()
        inner = os.path.relpath(path, os.path.join(ROOT, "src"))
        copy = os.path.join(folder, "src", inner)
        os.makedirs(os.path.dirname(copy))
        open(copy, "w").write(text)
        for source, entry in build.commands_of(path):
            # Optimising less gives the same bits and takes a fraction of the time.
            words = ["-O1" if w == "-O3" else w for w in shlex.split(entry["command"])]
            at = words.index("-o")
            original, where = words[at + 1], os.path.join(folder, f"{len(self.objects)}.o")
            words[at + 1] = where
            words[words.index("-c") + 1] = copy if source == path else source
            # Includes of the changed copy come before those of the sources.
            first = next(i for i, w in enumerate(words) if w.startswith("-I"))
            words.insert(first, "-I" + os.path.join(folder, "src"))
            code, output = run(words, entry["directory"])
            if code != 0:
                raise Misfit("it does not compile: " + output.strip()[:300])
            self.objects[original] = where

    def executable(self, target):
        if target in self.linked:
            return self.linked[target]
        link = self.build.link_file(target)
        where = os.path.dirname(os.path.dirname(os.path.dirname(link)))
        out = os.path.join(self.folder, "iktsne" if target == "iktsne_program" else target)
        words = shlex.split(open(link).read().splitlines()[0])
        words[words.index("-o") + 1] = out
        # The program's own take the place of its objects; with a test those of the library are linked.
        words = [self.objects.get(w, w) for w in words]
        library = next(i for i, w in enumerate(words) if w.endswith("libiktsne.a"))
        words[library:library] = [o for of, o in self.objects.items() if "iktsne_program.dir/" not in of]
        code, output = run(words, where)
        if code != 0:
            raise Misfit("it cannot be linked: " + output.strip()[:300])
        self.linked[target] = out
        return out


def start(scratch, test):
    """Command and environment of a CTest test, on what has been linked."""
    properties = {p["name"]: p["value"] for p in test["properties"]}
    env = dict(os.environ, **dict(v.split("=", 1) for v in properties.get("ENVIRONMENT", [])))
    words, target = list(test["command"]), None
    for i, word in enumerate(words):
        if os.path.dirname(word) == os.path.join(scratch.build.folder, "tests"):
            target = os.path.basename(word)
            words[i] = scratch.executable(target)
    if target is None:
        env["IKT_PROGRAM"] = scratch.executable("iktsne_program")
    return words, env


def killer_of(build, scratch, wanted):
    """Name of the first of the wanted tests that fails; None where none does. `known_runs:REGEX` is
    known_runs on the runs of these names."""
    for word in wanted.split():
        name, _, only = word.partition(":")
        found = [t for t in build.tests.values() if re.fullmatch(name, t["name"])]
        if not found:
            raise Misfit(f"there is no test {name}")
        for test in found:
            words, env = start(scratch, test)
            code, output = run(words + (["--only", only] if only else []), build.folder, SECONDS, env)
            if code is None:
                return f"{word} (hangs)"
            if code not in (0, 77):
                failed = re.search(r"\[  FAILED  \] ([a-z]\w+)|FAILED: ([^:\n]+)", output)
                return test["name"] + (f" ({failed.group(1) or failed.group(2)})" if failed else "")
    return None


def main():
    global UNCHANGED
    parser = argparse.ArgumentParser(prog="mutants.sh")
    parser.add_argument("build", nargs="?", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--only", default="")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--unchanged", action="store_true")
    options = parser.parse_args(sys.argv[2:])
    UNCHANGED = options.unchanged
    every = read_mutants(os.path.join(ROOT, "tests", "mutants", "mutants.txt"))
    mutants = [m for m in every if re.search(options.only, m["mutant"])]
    if options.sample and not options.list:
        seed, source = (options.seed, "--seed") if options.seed is not None else seed_of_sources()
        print(f"a sample of {options.sample} by the seed {seed}, from {source}", flush=True)
        count = min(options.sample, len(mutants))  # from all parts of the file
        mutants = [mutants[(seed + i * len(mutants) // count) % len(mutants)]
                   for i in range(count)]
    killed = survived = misfits = 0
    if options.sample:  # that all fit is looked at in any case: it costs nothing
        for m in every:
            try:
                mutated(m)
            except Misfit as why:
                print(f"{m['mutant']:<34} ERROR: {why}")
                misfits += 1
    build = None if options.list else Build(options.build)
    for m in mutants:
        begun = time.time()
        try:
            if options.list:
                mutated(m)
                print(f"{m['mutant']:<34} {m['file']:<22} {m['tests']}")
                continue
            with tempfile.TemporaryDirectory() as folder:
                killer = killer_of(build, Scratch(build, m, folder), m["tests"])
            if UNCHANGED:
                survived += killer is not None
                print(f"{m['mutant']:<34} unchanged: {killer or 'nothing noticed'}", flush=True)
            elif killer:
                killed += 1
                print(f"{m['mutant']:<34} killed by {killer}, {time.time() - begun:.0f} s", flush=True)
            elif "survives" in m:
                print(f"{m['mutant']:<34} survives, as known: {m['survives']}", flush=True)
            else:
                survived += 1
                print(f"{m['mutant']:<34} SURVIVED {m['tests']}", flush=True)
        except Misfit as why:
            misfits += 1
            print(f"{m['mutant']:<34} ERROR: {why}", flush=True)
    if not options.list and not UNCHANGED:
        print(f"{len(mutants)} changes: {killed} noticed, {survived} not, {misfits} do not fit the sources")
    return 1 if survived or misfits else 0


sys.exit(main())
PYTHON
