"""What labels add to a map, on rows whose labels were not used: the table of docs/fisher.md.

    held-out.py DATA FOLDER [--sets wdbc,pima] [--splits 5] [--launch "mpirun -n 2"]

Of each set, DATA/NAME.h5 with `X` and `labels`, half of the rows (drawn anew in each split) keep
their labels. FOLDER gets a line of JSON for each run in runs.jsonl, and runs that stand there are not
repeated; the table of all lines is printed. IKT_PROGRAM names the program. Errors are in percent,
by the nearest train row and by most of the ten nearest ones, in the space and in the map. Those of
plain t-SNE are computed here, on all held-out rows; those of maps by labels are what the run itself
tells, on at most 5,000 held-out rows.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys

import h5py
import numpy as np
from scipy.spatial import cKDTree

COMMON = ["output.overwrite=yes", "output.picture=none", "output.measures=none",
          "gaussian.perplexity=30", "run.checkpoint_every=0"]
FISHER = ["affinity.kind=fisher"]
METHODS = {
    "plain": ["affinity.kind=gaussian"],
    "fisher": FISHER + ["fisher.euclidean=0"],
    "share": FISHER + ["fisher.euclidean=0.3"],
    "permuted": FISHER + ["fisher.euclidean=0", "fisher.permute=yes"],
}
# Columns of other sets are brought to a deviation of 1.
AS_THEY_ARE = {"usps", "mnist10k", "mnist70k"}
ROWS = {"mnist10k": 10000}


def votes(labels):
    """The most frequent label of each row of labels, the smallest of several."""
    kinds, number = np.unique(labels, return_inverse=True)
    number = number.reshape(labels.shape)
    count = np.stack([(number == c).sum(axis=1) for c in range(len(kinds))])
    return kinds[np.argmax(count, axis=0)]


def nearest(x, train, held, k):
    """The k nearest train rows of each held-out row."""
    if x.shape[1] <= 3:
        return train[cKDTree(x[train]).query(x[held], k)[1]]
    square = (x[train] ** 2).sum(axis=1)
    found = []
    for first in range(0, len(held), 2000):
        some = held[first:first + 2000]
        away = square - 2 * (x[some] @ x[train].T)
        part = np.argpartition(away, k, axis=1)[:, :k]
        order = np.argsort(np.take_along_axis(away, part, axis=1), axis=1, kind="stable")
        found.append(train[np.take_along_axis(part, order, axis=1)])
    return np.concatenate(found)


def errors(x, labels, train, held):
    near = labels[nearest(x, train, held, 10)]
    true = labels[held]
    return float(np.mean(near[:, 0] != true)), float(np.mean(votes(near) != true))


def read(path, rows):
    with h5py.File(path, "r") as file:
        x = np.asarray(file["X"][:rows], dtype=np.float32)
        return x, np.asarray(file["labels"][:rows], dtype=np.int64)


def scaled(x):
    deviation = x.std(axis=0)
    return (x - x.mean(axis=0)) / np.where(deviation > 0, deviation, 1)


def run(options, folder, path, name, split, method):
    """One run, and its line of the table."""
    out = os.path.join(folder, "run.h5")
    listed = os.path.join(folder, "train.h5")
    rows = ROWS.get(name)
    x, labels = read(path, rows)
    if name not in AS_THEY_ARE:
        x = scaled(x.astype(np.float64)).astype(np.float32)
    chosen = np.sort(np.random.default_rng(split).permutation(len(x))[:len(x) // 2])
    held = np.setdiff1d(np.arange(len(x)), chosen)
    with h5py.File(listed, "w") as file:
        file["train"] = chosen[:, None]
    settings = COMMON + METHODS[method] + [f"run.seed={split}"]
    settings += ["preprocess.normalise=" + ("none" if name in AS_THEY_ARE else "zscore")]
    if rows:
        settings.append(f"input.rows={rows}")
    if method != "plain":
        settings.append("fisher.train=" + listed)
    program = os.environ.get("IKT_PROGRAM", "build/release/iktsne")
    command = shlex.split(options.launch) + [program, "embed", path, out] + settings
    done = subprocess.run(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    if done.returncode:
        sys.exit(f"{name}, {method}: {done.stderr}")
    line = {"set": name, "split": split, "method": method}
    with h5py.File(out, "r") as file:
        if method == "plain":
            line["space"] = errors(x, labels, chosen, held)
            line["map"] = errors(file["embedding"][:], labels, chosen, held)
            return line
        fact = {key: float(file["provenance"].attrs["fisher_held_out_" + key])
                for key in ["posterior_error", "space_1nn_error", "space_vote_error",
                            "map_1nn_error", "map_vote_error"]}
    line["space"] = fact["space_1nn_error"], fact["space_vote_error"]
    line["map"] = fact["map_1nn_error"], fact["map_vote_error"]
    line["posterior"] = fact["posterior_error"]
    return line


def cell(lines):
    if not lines:
        return "-"
    values = [100 * np.mean([line[of][e] for line in lines]) for of in ("space", "map") for e in (0, 1)]
    return " / ".join(f"{value:.1f}" for value in values)


def table(lines, names):
    print("| set | splits | plain t-SNE | Fisher | with `fisher.euclidean=0.3` | likeliest class | permuted labels |")
    print("|---|--:|---|---|---|--:|---|")
    for name in names:
        of = {m: [ln for ln in lines if ln["set"] == name and ln["method"] == m] for m in METHODS}
        if not of["fisher"]:
            continue
        best = 100 * np.mean([line["posterior"] for line in of["fisher"]])
        print(f"| {name} | {len(of['fisher'])} | {cell(of['plain'])} | {cell(of['fisher'])} | "
              f"{cell(of['share'])} | {best:.1f} | {cell(of['permuted'])} |")


def main():
    sets = "wdbc,pima,messidor,biodeg,segment,digits,spam,waveform,usps,letter,mnist10k,mnist70k"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("folder")
    parser.add_argument("--sets", default=sets)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--launch", default="", help="what stands before the program")
    parser.add_argument("--mnist", help="70,000 digits in 50 principal components, as a file of X and labels")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    log = os.path.join(options.folder, "runs.jsonl")
    lines = [json.loads(text) for text in open(log)] if os.path.exists(log) else []
    there = {(line["set"], line["split"], line["method"]) for line in lines}
    names = options.sets.split(",")
    for name in names:
        path = os.path.join(options.data, name + ".h5")
        if name.startswith("mnist") and options.mnist:
            path = options.mnist
        for split in range(1, options.splits + 1):
            for method in options.methods.split(","):
                if (name, split, method) in there:
                    continue
                lines.append(run(options, options.folder, path, name, split, method))
                with open(log, "a") as file:
                    file.write(json.dumps(lines[-1]) + "\n")
    table(lines, names)


main()
