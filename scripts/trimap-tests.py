"""The tests of global structure of the paper of TriMap (Amid & Warmuth, section 2), as numbers.

    trimap-tests.py DATA FOLDER [--sets digits,segment,usps] [--tests outlier,...] [--seeds 1,2,3]
                    [--methods pca,tsne,...] [--with NAME="a=1 b=2"] [--rows 2000]

Of each set DATA/NAME.h5 (`X`, `labels`; at most --rows rows of it, drawn at random), `iktsne generate`
makes the sets of the tests; surfaces need no file. FOLDER keeps data, maps and a line of JSON for each
run in runs.jsonl; what stands there is not repeated. The table of medians over seeds is printed.
IKT_PROGRAM names the program, IKT_PROGRAM_BEFORE one of an older version for the methods `log`, TRIMAP_PYTHON a Python that has the package `trimap` (else it is left out).

outlier     one row is shifted by ten root mean square lengths. `away` is its distance from the centre of
            the others in medians of theirs, `near` that from its nearest row in medians of what others
            have, `rank` how many rows lie farther out. Each seed is a mean over --outliers data sets.
partial     half of the rows, and half of the classes: the correlation of the distances between class
            centres with those in the whole map.
scales      every row again, shifted by ten lengths: `apart` is the distance of both centres over the median
            distance of a row from its copy's, `split` the share of rows nearer to their own centre,
            `same` the correlation of class centres' distances between the copies, and of both.
surfaces    S-curve, Swiss roll: rank correlation of distances in the map with those in space.
plain       the set as it is. 10-NN accuracy in the map and TriMap's global score go with every test.
"""
import argparse
import json
import os
import subprocess
import sys

import h5py
import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist, pdist
from scipy.stats import rankdata

PROGRAM = os.environ.get("IKT_PROGRAM", "build/release/iktsne")
BEFORE = os.environ.get("IKT_PROGRAM_BEFORE", PROGRAM)
PACKAGE = os.environ.get("TRIMAP_PYTHON", "")
TRIMAP = ["layout.objective=trimap"]
LOG = TRIMAP + ["trimap.weights=log"]
METHODS = {"pca": None, "tsne": [], "log": LOG, "near": TRIMAP,
           "log distances": LOG + ["affinity.kind=knn"],
           "near distances": TRIMAP + ["affinity.kind=knn"],
           "near pool": TRIMAP + ["affinity.kind=knn", "trimap.triplets=pool"],
           "paper": ["run.preset=trimap-paper"], "package": None}
FROM_PACKAGE = """
import sys, numpy as np, trimap
np.random.seed(int(sys.argv[3]))
np.save(sys.argv[2], trimap.TRIMAP(verbose=False).fit_transform(np.load(sys.argv[1])))
"""


def call(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip().splitlines()[-1:]}")


def rows_of(path):
    with h5py.File(path) as f:
        x = f["X"][...].astype(np.float64)
        return x, f["labels"][...] if "labels" in f else np.zeros(len(x), int)


def generate(kind, out, *options):
    if not os.path.exists(out):
        call(PROGRAM, "generate", kind, out, *options)
    return out


def map_of(method, settings, data, seed, folder):
    """The map [n, 2] of one run."""
    stem = os.path.join(folder, os.path.basename(data)[:-3] + f"-{method.replace(' ', '_')}-{seed}")
    if method == "pca":
        x = rows_of(data)[0]
        return (x - x.mean(0)) @ np.linalg.svd(x - x.mean(0), full_matrices=False)[2][:2].T
    if settings is None:
        np.save(stem + "-x.npy", rows_of(data)[0].astype(np.float32))
        call(PACKAGE, "-c", FROM_PACKAGE, stem + "-x.npy", stem + ".npy", str(seed))
        os.remove(stem + "-x.npy")
        return np.load(stem + ".npy").astype(float)
    call(BEFORE if method.startswith("log") else PROGRAM, "embed", f"input.file={data}", f"output.file={stem}.h5", "output.overwrite=yes",
         "output.picture=none", "output.measures=none", f"run.seed={seed}", *settings)
    with h5py.File(stem + ".h5") as f:
        return f["embedding"][...].astype(float)


# --- numbers of a map ---------------------------------------------------------------------------

def accuracy(y, labels, k=10):
    near = labels[cKDTree(y).query(y, k + 1)[1][:, 1:]]
    votes = np.stack([(near == c).sum(1) for c in np.unique(labels)])
    return float((np.unique(labels)[votes.argmax(0)] == labels).mean())


def global_score(x, y):
    """TriMap's: how well the rows follow linearly from the map, compared with principal components."""
    x = x - x.mean(0)
    y = y - y.mean(0)
    left = ((x - y @ np.linalg.lstsq(y, x, rcond=None)[0]) ** 2).sum()
    least = (np.linalg.svd(x, compute_uv=False)[y.shape[1]:] ** 2).sum()
    return float(np.exp(-(left - least) / least)) if least > 0 else float("nan")


def of_outlier(y, o):
    others = np.delete(y, o, 0)
    away = np.linalg.norm(y - others.mean(0), axis=1)
    nearest = cKDTree(y).query(y, 2)[0][:, 1]
    return {"away": away[o] / np.median(np.delete(away, o)),
            "near": nearest[o] / np.median(np.delete(nearest, o)),
            "rank": int((np.delete(away, o) > away[o]).sum())}


def centres(y, labels):
    return np.stack([y[labels == c].mean(0) for c in np.unique(labels)])


def agreement(a, b):
    return float(np.corrcoef(pdist(a), pdist(b))[0, 1]) if len(a) > 2 else float("nan")


def of_copies(y, labels, whole):
    half = len(y) // 2
    first, second = y[:half], y[half:]
    middle = np.stack([first.mean(0), second.mean(0)])
    own = np.concatenate([np.linalg.norm(p - m, axis=1) for p, m in zip((first, second), middle)])
    side = cdist(y, middle).argmin(1) == np.repeat([0, 1], half)
    one, two = centres(first, labels[:half]), centres(second, labels[half:])
    return {"apart": np.linalg.norm(middle[0] - middle[1]) / np.median(own), "split": side.mean(),
            "same": agreement(one, two), "whole": agreement(one, centres(whole, labels[:half]))}


def spearman(x, y):
    some = np.random.default_rng(1).permutation(len(x))[:1000]
    return float(np.corrcoef(rankdata(pdist(x[some])), rankdata(pdist(y[some])))[0, 1])


# --- tests --------------------------------------------------------------------------------------

def measure(test, base, run, seed, args):
    """One line of numbers of one test; run(data) gives the map."""
    folder = os.path.dirname(base)
    name = os.path.basename(base)[:-3]
    if test == "surfaces":
        return {kind: spearman(x, run(data)) for kind in ("s-curve", "swiss-roll")
                for data in [generate(kind, f"{folder}/{kind}-{seed}.h5", "--seed", str(seed))]
                for x in [rows_of(data)[0]]}
    x, labels = rows_of(base)
    if test == "outlier":
        lines = []
        for k in range(args.outliers):
            draw = str(100 * seed + k)
            data = generate("outlier", f"{folder}/{name}-outlier-{draw}.h5", "--source", base, "--seed", draw)
            moved, _ = rows_of(data)
            y, o = run(data), int(np.abs(moved - x).sum(1).argmax())
            lines.append({**of_outlier(y, o), "10-NN": accuracy(y, labels),
                          "score": global_score(np.delete(x, o, 0), np.delete(y, o, 0))})
        return {key: float(np.mean([line[key] for line in lines])) for key in lines[0]} | {
            "least": min(line["away"] for line in lines), "worst": max(line["rank"] for line in lines)}
    whole = run(base)
    found = {"10-NN": accuracy(whole, labels), "score": global_score(x, whole)}
    if test == "partial":
        kinds = np.unique(labels)
        halves = generate("subset", f"{folder}/{name}-half-{seed}.h5", "--source", base, "--share", "0.5",
                          "--seed", str(seed))
        found["half"] = agreement(centres(run(halves), rows_of(halves)[1]), centres(whole, labels))
        if len(kinds) > 5:
            some = generate("subset", f"{folder}/{name}-even.h5", "--source", base, "--classes",
                            ",".join(str(c) for c in kinds[::2]))
            found["classes"] = agreement(centres(run(some), rows_of(some)[1]),
                                         centres(whole, labels)[::2])
    elif test == "scales":
        data = generate("copies", f"{folder}/{name}-copies-{seed}.h5", "--source", base, "--seed", str(seed))
        found |= of_copies(run(data), rows_of(data)[1], whole)
    return found


def subsample(path, rows, out):
    if os.path.exists(out):
        return out
    x, labels = rows_of(path)
    some = np.sort(np.random.default_rng(1).permutation(len(x))[:rows])
    with h5py.File(out, "w") as f:
        f["X"], f["labels"] = x[some].astype(np.float32), labels[some].astype(np.int32)
    return out


def table(lines):
    """Medians over seeds."""
    groups = {}
    for line in lines:
        groups.setdefault((line["test"], line["set"], line["method"]), []).append(line["found"])
    for test in dict.fromkeys(key[0] for key in groups):
        keys = list(dict.fromkeys(k for g, found in groups.items() if g[0] == test for k in found[0]))
        print(f"\n| {test}: set | method | {' | '.join(keys)} |\n|---|---|{'--:|' * len(keys)}")
        for (_, data, method), found in groups.items():
            if _ != test:
                continue
            cells = [f"{np.median([f[k] for f in found]):.3f}" if k in found[0] else "" for k in keys]
            print(f"| {data} | {method} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("folder")
    parser.add_argument("--sets", default="digits,segment,usps")
    parser.add_argument("--tests", default="outlier,partial,scales,surfaces")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--with", action="append", default=[], dest="more")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--outliers", type=int, default=3)
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    methods = dict(METHODS, **{m.split("=", 1)[0]: m.split("=", 1)[1].split() for m in args.more})
    wanted = [m for m in args.methods.split(",") if m] + [m.split("=", 1)[0] for m in args.more]
    path = os.path.join(args.folder, "runs.jsonl")
    lines = [json.loads(line) for line in open(path)] if os.path.exists(path) else []
    done = {(line["test"], line["set"], line["method"], line["seed"]) for line in lines}
    for test in args.tests.split(","):
        for data in ["space"] if test == "surfaces" else args.sets.split(","):
            base = os.path.join(args.folder, data + ".h5") if test == "surfaces" else subsample(
                os.path.join(args.data, data + ".h5"), args.rows, os.path.join(args.folder, data + ".h5"))
            for method in wanted:
                for seed in map(int, args.seeds.split(",")):
                    if (test, data, method, seed) in done or (method == "package" and not PACKAGE):
                        continue
                    try:
                        found = measure(test, base, lambda one: map_of(
                            method, methods[method], one, seed, args.folder), seed, args)
                    except RuntimeError as error:
                        print(error, file=sys.stderr)
                        continue
                    lines.append({"test": test, "set": data, "method": method, "seed": seed, "found": found})
                    with open(path, "a") as f:
                        f.write(json.dumps(lines[-1]) + "\n")
    table([line for line in lines if line["method"] in wanted and line["test"] in args.tests.split(",")])


if __name__ == "__main__":
    main()
