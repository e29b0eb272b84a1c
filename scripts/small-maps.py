"""All objectives on tables of few rows, with the settings that they have by default: the tables of
docs/notebook/2026-11-27-small-maps.md.

    small-maps.py DATA FOLDER [--sets wine,osuleaf] [--methods "tsne;nerv"] [--rows all,30,60,120] [--seeds 3]
                  [--peers]

Of each set, DATA/NAME.h5 with `X` and `labels`, as many rows are drawn as --rows says, the same for all methods and
seeds; figures are medians of the seeds. FOLDER gets a line of JSON for each run in runs.jsonl, and runs that stand there are not repeated; the tables of all lines are printed.
--peers compares the KL divergence of t-SNE with Gaussian affinities with that of scikit-learn and openTSNE, as
far as they are installed. IKT_PROGRAM names the program.
"""
import argparse
import itertools
import json
import os
import subprocess

import h5py
import numpy as np

GAUSSIAN = ["affinity.kind=gaussian"]
METHODS = {
    "tsne": [],
    "tsne, Gaussian": GAUSSIAN,
    "sne": ["layout.objective=sne"],
    "nerv": ["layout.objective=nerv"],
    "jse": ["layout.objective=jse"],
    "laptsne": ["layout.regulariser=laplacian"],
    "umap": ["layout.objective=umap"],
    "largevis": ["layout.objective=largevis"],
}
SETS = "wine wdbc dermatology forest control pima vowel osuleaf vehicle penguins pbmc digits segment"
PEERS = "wine,dermatology,osuleaf,control,vehicle,penguins,pbmc,digits:500,digits:1000,mnist70k:500,mnist70k:1000"
ALLOWED = 0.03  # of 10-NN accuracy below that of t-SNE


def draw(data, name, rows, path):
    """Some rows of a set, drawn with the same seed for all methods; "all": the whole set."""
    with h5py.File(os.path.join(data, name + ".h5")) as file:
        count = len(file["labels"])
        chosen = np.arange(count)
        if rows != "all":
            chosen = np.sort(np.random.default_rng(1).permutation(count)[:int(rows)])
        x, labels = file["X"][:][chosen], file["labels"][:][chosen]
    with h5py.File(path, "w") as file:
        file["X"], file["labels"] = x, labels
    return x, labels


def embed(path, settings, folder):
    """What a run says of itself in JSON, or the last line of its errors; and the words of its log."""
    program = os.environ.get("IKT_PROGRAM", "build/release/iktsne")
    command = [program, "embed", path, os.path.join(folder, "map.h5"), "output.overwrite=yes",
               "output.picture=none", "run.checkpoint=none", "--json"] + settings
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"error": done.stderr.strip().split("\n")[-1]}
    said = json.loads(done.stdout)
    line = {name: said["measures"][key]["value"] for name, key in
            [("accuracy", "10-NN accuracy"), ("db", "Davies-Bouldin"), ("ch", "Calinski-Harabasz")]}
    last = said["trace"][-1]
    line["value"] = last.get("kl", last.get("cost"))
    line["halved"] = done.stderr.count("steps are halved")
    return line


def peers(path, seed):
    """KL divergences of other programs, of the same rows."""
    with h5py.File(path) as file:
        x = file["X"][:]
    found = {}
    try:
        from sklearn.manifold import TSNE
        found["scikit-learn"] = float(TSNE(init="pca", random_state=seed, n_jobs=1).fit(x).kl_divergence_)
    except ImportError:
        pass
    try:
        import openTSNE
        found["openTSNE"] = float(openTSNE.TSNE(random_state=seed, n_jobs=1).fit(x).kl_divergence)
    except ImportError:
        pass
    return found


def compare(options, lines, note):
    """Gaussian t-SNE beside other programs; columns are brought to [0, 1] for all, images as a whole."""
    there = {line["peers"] for line in lines if "peers" in line}
    for name in options.peer_sets.split(","):
        if name in there:
            continue
        path = os.path.join(options.folder, "peers.h5")
        base, _, rows = name.partition(":")
        x, labels = draw(options.data, base, rows or "all", path)
        x = x.astype(np.float32)
        low, wide = x.min(axis=0), np.ptp(x, axis=0)
        if base in ("digits", "mnist70k"):
            low, wide = 0, np.full(x.shape[1], x.max())
        with h5py.File(path, "w") as file:
            file["X"], file["labels"] = (x - low) / np.where(wide > 0, wide, 1).astype(np.float32), labels
        found = []
        for seed in range(1, options.seeds + 1):
            own = embed(path, GAUSSIAN + ["preprocess.normalise=none", f"run.seed={seed}"], options.folder)
            found.append({"iktsne": own["value"], **peers(path, seed)})
        note({"peers": name, "n": len(x),
              **{who: [one[who] for one in found] for who in found[0]}})
    print("\nKL divergence, medians (and ranges) of", options.seeds, "seeds\n")
    print("| set | rows | iktsne | scikit-learn | openTSNE |\n|---|--:|--:|--:|--:|")
    for line in lines:
        if "peers" in line:
            values = [line.get(key) for key in ("iktsne", "scikit-learn", "openTSNE")]
            print(f"| {line['peers']} | {line['n']} | " +
                  " | ".join(f"{np.median(v):.4f} ({min(v):.3f} to {max(v):.3f})" if v else "-" for v in values) +
                  " |")


def median(lines):
    """Of all seeds: accuracy, DB, and how many had their steps halved; None: one of them failed."""
    if any("error" in line for line in lines):
        return None
    return [float(np.median([line[key] for line in lines])) for key in ("accuracy", "db")] + [
        sum(line["halved"] > 0 for line in lines)]


def cell(lines, usual, count):
    if not lines:
        return "-"
    found = median(lines)
    if not found:
        return "error"
    text = f"{found[0]:.3f} / {found[1]:.2f}" + (f" ({found[2]} halved)" if found[2] else "")
    is_low = usual and found[0] < usual[0] - max(ALLOWED, 1.5 / count)
    return f"**{text}**" if is_low else text


def table(lines, names, methods, sizes):
    print(f"10-NN accuracy / Davies-Bouldin; in bold where the accuracy is more than {ALLOWED}, and more than one "
          "row, below that of `tsne`\n")
    print("| set | rows | " + " | ".join(methods) + " |\n|---|--:|" + "---|" * len(methods))
    for name in names:
        for rows in sizes:
            of = {m: [line for line in lines if line.get("set") == name and line["rows"] == rows
                      and line["method"] == m] for m in methods}
            if of.get("tsne"):
                count, usual = of["tsne"][0]["n"], median(of["tsne"])
                print(f"| {name} | {count} | " + " | ".join(cell(of[m], usual, count) for m in methods) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("folder")
    parser.add_argument("--sets", default=SETS.replace(" ", ","))
    parser.add_argument("--methods", default=";".join(METHODS), help="divided by semicolons")
    parser.add_argument("--rows", default="all,30,60,120")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--peer-sets", default=PEERS)
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    log = os.path.join(options.folder, "runs.jsonl")
    lines = [json.loads(text) for text in open(log)] if os.path.exists(log) else []

    def note(line):
        lines.append(line)
        with open(log, "a") as file:
            file.write(json.dumps(line) + "\n")

    names, sizes, methods = options.sets.split(","), options.rows.split(","), options.methods.split(";")
    there = {(line["set"], line["rows"], line["method"], line["seed"]) for line in lines if "set" in line}
    for name in names:
        for rows in sizes:
            path = os.path.join(options.folder, "some.h5")
            x, _ = draw(options.data, name, rows, path)
            for method, seed in itertools.product(methods, range(1, options.seeds + 1)):
                if (name, rows, method, seed) not in there:
                    note({"set": name, "rows": rows, "n": len(x), "method": method, "seed": seed,
                          **embed(path, METHODS[method] + [f"run.seed={seed}"], options.folder)})
    table(lines, names, methods, sizes)
    if options.peers:
        compare(options, lines, note)


main()
