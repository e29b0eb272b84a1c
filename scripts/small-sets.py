"""Small sets by both kernels, by uniform weights and by other programs: docs/notebook/2026-11-27-small-sets.md
and 2026-11-29-uniform-weights.md.

    small-sets.py DATA FOLDER [--sets wine,wdbc] [--methods isolation,gaussian] [--seeds 3] [--former PROGRAM]

Of each set, DATA/NAME.h5 with `X` and `labels`, each method makes a map for every seed, everything else
at its default; other programs get the rows as the program scales them. `iktsne evaluate` measures all
maps alike: 10-NN accuracy, Davies-Bouldin, Calinski-Harabasz, trustworthiness of 12 neighbours, and Q(10),
the share of the 10 nearest rows in the data that are among the 10 nearest in the map; seconds of the
whole command, and the run's own peak of memory. FOLDER gets
a line of JSON for each map in runs.jsonl, and maps that stand there are not made again; the table of
all lines is printed, medians over the seeds. IKT_PROGRAM names the program, --former an earlier version, whose
isolation kernel is the method `former`. `sklearn` and `opentsne` need these packages.
"""
import argparse
import csv
import json
import os
import re
import subprocess
import sys
import time

import h5py
import numpy as np

SETS = ("wine,penguins,dermatology,osuleaf,forest,wdbc,control,pbmc,pima,vehicle,vowel,biodeg,messidor,digits,"
        "basehock,segment,spam,waveform,usps,letter")
METHODS = {"former": "isolation, former", "isolation": "isolation", "gaussian": "Gaussian", "uniform": "uniform",
           "sklearn": "scikit-learn", "opentsne": "openTSNE"}
SETTINGS = {"gaussian": ["affinity.kind=gaussian"], "uniform": ["run.preset=uniform"]}
MEASURES = {  # of evaluate: heading, digits, the larger the better, what counts as level
    "10-NN accuracy": ("10-NN accuracy", 3, True, .01), "Davies-Bouldin": ("Davies-Bouldin", 2, False, 0),
    "Calinski-Harabasz": ("Calinski-Harabasz", 0, True, 0), "trustworthiness (k 12)": ("Trustworthiness", 3, True, .01),
    "kept": ("Neighbours kept", 3, True, .03), "seconds": ("Seconds", 1, False, 0), "MB": ("MB at the peak", 0, False, 0)}
QUERIES = ["--exact-limit", "5000", "--sample", "2000"]  # rows that ranks are measured of


def call(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def dataset_of(path):
    """The name of the rows: X, or the file itself where that is a sparse matrix."""
    with h5py.File(path, "r") as file:
        return "X" if "X" in file else "/"


def read_rows(path):
    with h5py.File(path, "r") as file:
        x = file[dataset_of(path)]
        if isinstance(x, h5py.Dataset):
            return np.asarray(x, dtype=np.float64)
        rows = np.zeros(tuple(x.attrs["shape"]))
        row = np.repeat(np.arange(len(rows)), np.diff(x["indptr"][:]))
        np.add.at(rows, (row, x["indices"][:]), x["data"][:])
        return rows


def scaled(x, how):
    """Rows as preprocess.normalise: HOW makes them."""
    if how == "minmax":
        width = x.max(axis=0) - x.min(axis=0)
        x = (x - x.min(axis=0)) / np.where(width > 0, width, 1)
    elif how == "zscore":
        width = x.std(axis=0)
        x = (x - x.mean(axis=0)) / np.where(width > 0, width, 1)
    elif how == "unit":
        length = np.sqrt((x * x).sum(axis=1, keepdims=True))
        x = x / np.where(length > 0, length, 1)
    return x.astype(np.float32)


def map_of_other(method, x, seed):
    if method == "sklearn":
        from sklearn.manifold import TSNE
        return TSNE(random_state=seed).fit_transform(x)
    from openTSNE import TSNE
    return np.asarray(TSNE(random_state=seed).fit(x))


def embed(program, path, out, settings, seed):
    """How rows were scaled, and what the run took."""
    begun = time.monotonic()
    call([program, "embed", path, out, "input.dataset=" + dataset_of(path), f"run.seed={seed}", "run.checkpoint=none",
          "output.overwrite=yes", "output.picture=none", "output.measures=none", "--quiet"] + settings)
    seconds = time.monotonic() - begun
    with h5py.File(out, "r") as file:
        used = file["provenance"].attrs["configuration"]
        peak = float(file["provenance/run"].attrs["peak_bytes_per_rank"])
    used = used.decode() if isinstance(used, bytes) else used
    how = re.search(r"^ *normalise: *(\w+)", used, re.MULTILINE).group(1)
    return how, {"seconds": seconds, "MB": peak / 1e6}


def evaluate(program, path, out, curve, how):
    """Measures by name, with Q(10) as `kept`."""
    told = json.loads(call([program, "evaluate", out, "--input", path, "input.dataset=" + dataset_of(path),
                            f"preprocess.normalise={how}", "--measures", "clusters,labels,ranks",
                            "--curve", curve, "--overwrite", "--json"] + QUERIES))
    found = {of: value["value"] for of, value in told["measures"].items() if of in MEASURES}
    with open(curve) as file:
        found["kept"] = next(float(at["Q"]) for at in csv.DictReader(file) if int(at["k"]) == 10)
    return {"rows": told["rows"], **found}


def run(options, name, method, seed):
    """One map, and its line of the table."""
    path = os.path.join(options.data, name + ".h5")
    program = os.environ.get("IKT_PROGRAM", "build/release/iktsne")
    out, curve = (os.path.join(options.folder, f"{os.getpid()}{end}") for end in (".h5", ".csv"))
    how, took = embed(options.former if method == "former" else program, path, out, SETTINGS.get(method, []), seed)
    if method in ("sklearn", "opentsne"):
        took = {}
        out = os.path.join(options.folder, f"{os.getpid()}.npy")
        np.save(out, map_of_other(method, scaled(read_rows(path), how), seed).astype(np.float32))
    return {"set": name, "method": method, "seed": seed, **took, **evaluate(program, path, out, curve, how)}


def medians(lines, name, method):
    """{measure: median over the seeds}, and how many seeds."""
    of = [line for line in lines if line["set"] == name and line["method"] == method]
    return {m: float(np.median([line.get(m, np.nan) for line in of])) for m in MEASURES} if of else {}, len(of)


def cell(value, m):
    return f"{value[m]:,.{MEASURES[m][1]}f}".replace("0.", ".", value[m] < 1) if value and value[m] == value[m] else "-"


def table(lines, names, methods):
    rows = {line["set"]: line["rows"] for line in lines}
    at = {(name, method): medians(lines, name, method) for name in names for method in methods}
    for m, (title, _, more, level) in MEASURES.items():
        print(f"\n{title}:\n\n| set (rows) | " + " | ".join(METHODS[method] for method in methods) + " |")
        print("|---|" + "--:|" * len(methods))
        for name in names:
            if name in rows:
                print(f"| {name} ({rows[name]:,}) | " +
                      " | ".join(cell(at[name, method][0], m) for method in methods) + " |")
        counts = []
        for method in methods:
            both = [(at[name, method][0][m], at[name, "gaussian"][0][m]) for name in names
                    if at[name, method][0] and at[name, "gaussian"][0]]
            level_with = sum(a >= b - level if more else a <= b + level for a, b in both)
            counts.append(f"{level_with} of {len(both)}")
        print("| at least as good as the Gaussian" + (f", within {level:g}".replace("0.", ".") if level else "") +
              " | " + " | ".join(counts) + " |")
    few = {f"{METHODS[method]} on {name} ({seeds})" for (name, method), (_, seeds) in at.items()
           if 0 < seeds < 3}
    print("\nMedians of three seeds" + ("; of fewer: " + ", ".join(sorted(few)) if few else "") + ".")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("folder")
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--former", help="the program of an earlier version")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    log = os.path.join(options.folder, "runs.jsonl")
    lines = [json.loads(text) for text in open(log)] if os.path.exists(log) else []
    there = {(line["set"], line["method"], line["seed"]) for line in lines}
    names, methods = options.sets.split(","), options.methods.split(",")
    for name in names:
        for method in methods:
            if method == "former" and not options.former:
                continue
            for seed in range(1, options.seeds + 1):
                if (name, method, seed) not in there:
                    lines.append(run(options, name, method, seed))
                    with open(log, "a") as file:
                        file.write(json.dumps(lines[-1]) + "\n")
    table(lines, names, [method for method in methods if any(line["method"] == method for line in lines)])


main()
