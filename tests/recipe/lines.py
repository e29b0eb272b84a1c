#!/usr/bin/env python3
"""Random command lines of `embed`: plan, --dry-run and the run itself must say the same of each.

    lines.py PROGRAM [--draws N] [--seed S] [--only I] [--verbose]

Lines are drawn from the tables of settings that the program prints: an objective, an affinity, a support,
a metric, a start, inputs and outputs, and some further settings at the edges of their ranges, on small
data of eight kinds. Draw number I of a seed is the same whatever is drawn before it. For every line:
no process may end by a signal; `plan`, `embed --dry-run` and `embed` accept it, or refuse it with the same
sentence; a run that was accepted ends with finite positions and with its outputs written.
"""
import argparse
import math
import os
import random
import re
import subprocess
import sys
import tempfile

ROWS = 60
# Draws of a line pick these keys most often: the methods.
METHODS = ["layout.objective", "affinity.kind", "affinity.support", "preprocess.metric", "layout.init"]
# Texts name files, which are drawn apart; and what would make one draw slower than a hundred.
# What only the values of the data tell, in the course of a run: none of it is about settings alone.
OF_VALUES = re.compile(r"^at iteration|accuracy of the grid|the similarity is no finite number|"
                       r"positions stopped being finite|connected component|suggest no number of clusters|"
                       r"is no finite number|value is NaN|has no similarity|eigenvalues are positive|is equal to|there is one of label|"
                       r"classes need two rows each|rows have a label that may be used")
LEFT_OUT = re.compile(r"^(input\.|output\.(file|overwrite)|run\.(checkpoint$|log|threads|preset)|"
                      r"preprocess\.matrix)")


def write_npy(path, rows):
    """A float64 matrix as NPY, format 1.0."""
    import struct
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        for row in rows:
            f.write(struct.pack("<%dd" % len(row), *row))


def make_data(program):
    """The kinds of input, as lists of words of a command line."""
    def run(*words):
        done = subprocess.run([program, *words, "--quiet"], capture_output=True, text=True)
        if done.returncode:
            sys.exit("the data cannot be made: %s: %s" % (" ".join(words), done.stderr))
    n = str(ROWS)
    run("generate", "gaussian-mixture", "dense.h5", "--points", n, "--dimensions", "6", "--clusters", "3")
    run("generate", "gaussian-mixture", "other.h5", "--points", "40", "--dimensions", "6", "--clusters", "3")
    run("generate", "uniform-2d", "unlabelled.h5", "--points", n)
    run("generate", "glyphs", "bytes.h5", "--points", n)
    source = random.Random(7)
    with open("words.libsvm", "w") as f:
        for i in range(ROWS):
            columns = sorted(source.sample(range(1 + 10 * (i % 2), 31 + 10 * (i % 2)), 8))
            f.write(" ".join(["%d" % (i % 2)] + ["%d:%d" % (c, source.randint(1, 4)) for c in columns]) + "\n")
    run("convert", "words.libsvm", "sparse.h5")
    points = [[source.gauss(4 * (i % 3), 1) for _ in range(3)] for i in range(ROWS)]
    gaps = [[source.gauss(4 * (i % 3), 1) for _ in range(4)] for i in range(ROWS)]
    for i in range(0, ROWS, 12):
        gaps[i][source.randrange(4)] = math.nan
    write_npy("gaps.npy", gaps)
    write_npy("distances.npy", [[math.dist(a, b) for b in points] for a in points])
    write_npy("similarities.npy", [[sum(x * y for x, y in zip(a, b)) for b in points] for a in points])
    run("embed", "dense.h5", "map.h5", "output.picture=none")
    run("embed", "other.h5", "short.h5", "output.picture=none")
    run("embed", "dense.h5", "kept.h5", "output.picture=none", "output.graph=graph.h5")
    return {"dense": ["dense.h5"], "gaps": ["gaps.npy"], "unlabelled": ["unlabelled.h5"], "bytes": ["bytes.h5"],
            "sparse": ["sparse.h5"], "distances": ["distances.npy", "preprocess.metric=precomputed"],
            "similarities": ["input.similarities=similarities.npy"],
            "graph": ["input.graph=graph.h5"],
            "pairs": ["input.graph=distances.npy", "graph.values=distances"],
            "both": ["dense.h5", "input.graph=graph.h5"]}


def read_tables(program):
    """key -> (default, values) of every setting, from the program's own reference."""
    text = subprocess.run([program, "embed", "--print-reference"], capture_output=True, text=True).stdout
    rows = re.findall(r"^\| `(\w+\.\w+)` \| `([^`]*)` \| ([^|]*) \|", text, re.M)
    assert len(rows) > 80, "the reference of settings has another form"
    return {key: (default, values.strip()) for key, default, values in rows}


def draw_value(source, values):
    """A value that the table allows, at an edge or near the number of rows; None for texts."""
    if values.startswith("one of "):
        return source.choice(values[len("one of "):].split("; ")[0].split(", "))
    if values == "yes or no":
        return source.choice(["yes", "no"])
    found = re.match(r"an? (integer|number) from (\S+) to (\S+?)[,;]?( or auto)?([;,].*)?$", values)
    if not found:
        return None
    low, high = float(found.group(2)), float(found.group(3).rstrip(";,"))
    if found.group(1) == "integer":
        near = [low, low + 1, 3, 8, ROWS // 2, ROWS - 1, ROWS, ROWS + 1, min(high, 200)]
        edges = ["%d" % v for v in near if low <= v <= high]
    else:
        near = [low, low + 0.01, 0.5, 1, 2, 10, min(high, 100)]
        edges = ["%g" % v for v in near if low <= v <= high]
    return source.choice(edges + (["auto"] if "auto" in values else []))


def draw_line(seed, number, inputs, tables):
    """Words of line `number`, without verb."""
    source = random.Random("%d %d" % (seed, number))
    kind = source.choice(sorted(inputs))
    words = list(inputs[kind])
    if "=" not in words[0]:
        words.insert(1, "out.h5")
    else:
        words.append("output.file=out.h5")
    settings = {}
    for key in METHODS:
        if source.random() < 0.3:
            settings[key] = draw_value(source, tables[key][1])
    free = sorted(key for key in tables if not LEFT_OUT.match(key) and key not in METHODS)
    # Settings that go with what was drawn, and some that do not.
    own = [key for key in free if key.split(".")[0] in settings.values()]
    for _ in range(source.choice([0, 0, 0, 1, 1, 2])):
        key = source.choice(own if own and source.random() < 0.5 else free)
        value = draw_value(source, tables[key][1])
        if value is not None:
            settings[key] = value
    for key, values, chance in [("layout.init_file", ["map.h5", "short.h5", "absent.h5"], 0.06),
                                ("isolation.model_from", ["other.h5", "unlabelled.h5", "absent.h5"], 0.06),
                                ("input.labels", ["absent", "dense.h5:labels"], 0.05),
                                ("input.rows", ["2", "3", "31", "61"], 0.05),
                                ("output.model", ["model.h5"], 0.12), ("output.graph", ["kept-graph.h5"], 0.12),
                                ("output.picture", ["none", "map.png"], 0.2),
                                ("preprocess.matrix", ["distances", "similarities"], 0.05),
                                ("preprocess.missing", ["drop", "drop", "mean", "median"],
                                 0.9 if kind == "gaps" else 0.03),
                                ("run.checkpoint", ["none"], 0.1)]:
        if source.random() < chance:
            settings[key] = source.choice(values)
    return words + ["%s=%s" % item for item in sorted(settings.items())]


def sentence_of(done):
    """The sentence of a refusal; "" of none."""
    found = re.findall(r"^iktsne: error: (.*)", done.stderr, re.M)
    return found[-1] if found else ""


def study_says(program, words):
    """Exit code and sentence of a study that lists the run of a line, and nothing else."""
    settings = dict(w.split("=", 1) for w in words[1:] if "=" in w and not w.startswith("output."))
    seed = settings.pop("run.seed", "1") # a study gives it to its runs
    with open("study.yaml", "w") as f:
        f.write("title: one\nabout: one\nmethods:\n  - name: one\n    settings: {%s}\n"
                "seeds: [%s]\nmeasures: [10-NN accuracy]\ndata:\n  - {name: one, file: %s}\n" %
                (", ".join("%s: '%s'" % item for item in settings.items()), seed, words[0]))
    return subprocess.run([program, "study", "study.yaml", "--list", "--output", "study", "--quiet"],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)


def is_finite(program):
    done = subprocess.run([program, "export", "out.h5", "out.csv", "--overwrite", "--quiet"],
                          capture_output=True, text=True)
    if done.returncode:
        return "the result cannot be read: " + done.stderr
    with open("out.csv") as f:
        lines = f.read().split()
    for line in lines[1:] if re.match(r"[A-Za-z\"]", lines[0]) else lines:
        for word in line.split(","):
            try:
                if not math.isfinite(float(word)):
                    return "a position is %s" % word
            except ValueError:
                pass
    return "" if len(lines) > 1 else "the result has no rows"


def try_line(program, words):
    """What is wrong with a line: "" for nothing. Also whether it was accepted."""
    env = dict(os.environ, OMP_NUM_THREADS="1")
    for name in ("out.h5", "model.h5", "kept-graph.h5", "map.png", "out.png"):
        if os.path.exists(name):
            os.remove(name)
    done = {}
    for name, verb in (("plan", ["plan"]), ("dry-run", ["embed", "--dry-run"]), ("run", ["embed"])):
        try:
            done[name] = subprocess.run([program, *verb, *words, "run.threads=1", "--quiet"], env=env, timeout=300,
                                        capture_output=True, text=True, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return "%s takes more than 300 s" % name, True
        code = done[name].returncode
        if code < 0 or code > 128:
            return "%s ends by signal %d: %s" % (name, -code if code < 0 else code - 128, done[name].stderr[-300:]), True
    # A study names rows of a file, resets what a method does not use, and writes no models or graphs.
    if "=" not in words[0] and not any(w.startswith(("output.", "input.graph")) for w in words):
        done["study"] = study_says(program, words)
        if done["run"].returncode == 2 and "would have no effect" in sentence_of(done["run"]):
            del done["study"]
    said = {name: (d.returncode, sentence_of(d)) for name, d in done.items()}
    if "study" in said: # which names the run, and the data by the folder where they are
        said["study"] = (said["study"][0], re.sub(r"^study\.yaml: one, one, seed \d+: ", "",
                                                  said["study"][1]).replace("./", ""))
    if said["run"][0] == 3 and OF_VALUES.search(said["run"][1]): # a dry run may have looked at the values, too
        said = {name: (0, "") if what == said["run"] else what for name, what in said.items()}
        if set(said.values()) == {(0, "")}:
            return "", True
    if len(set(said.values())) > 1:
        return "\n".join("    %-8s %d %s" % (name, *said[name]) for name in said), True
    if said["run"][0] == 1:
        return "an internal error: " + said["run"][1], True
    if said["run"][0]:
        return "", False
    for word in words:
        if re.match(r"output\.(model|graph)=", word) and not os.path.exists(word.split("=")[1]):
            if "input.graph" in " ".join(words) and word.startswith("output.graph"):
                continue
            return "%s was not written" % word, True
    return is_finite(program), True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    program = os.path.abspath(given.program)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        inputs, tables = make_data(program), read_tables(program)
        numbers = [given.only] if given.only is not None else range(given.first, given.first + given.draws)
        failed = accepted = 0
        print("seed %d, draws %d to %d" % (given.seed, numbers[0], numbers[-1]))
        for number in numbers:
            words = draw_line(given.seed, number, inputs, tables)
            wrong, ran = try_line(program, words)
            accepted += ran and not wrong
            if wrong:
                failed += 1
                print("draw %d: embed %s\n%s" % (number, " ".join(words), wrong), flush=True)
            elif given.verbose:
                print("draw %d: %s: embed %s" % (number, "runs" if ran else "refused", " ".join(words)), flush=True)
        print("%d lines, of which %d ran; %d differ" % (len(numbers), accepted, failed))
        os.chdir("/")
    sys.exit(failed > 0)


main()
