"""Tables of scripts/growth.sh: growth.py DATA FOLDER RUN.json ... (named AFFINITY-ROWS.json)."""
import json
import math
import os
import sys

SHORT = 0.02  # seconds: below, a stage is not fitted


def read_runs(names):
    """{affinity: [run, ...]} by ascending rows."""
    runs = {}
    for name in names:
        with open(name) as file:
            run = json.load(file)
        runs.setdefault(os.path.basename(name).split("-")[0], []).append(run)
    return {kind: sorted(of, key=lambda run: run["rows"]) for kind, of in runs.items()}


def exponent(points):
    """b of the least-squares fit of log(seconds) = log(a) + b log(n); None for fewer than two."""
    logs = [(math.log(n), math.log(s)) for n, s in points if s >= SHORT]
    if len(logs) < 2:
        return None
    mean_x, mean_y = (sum(of) / len(logs) for of in zip(*logs))
    spread = sum((x - mean_x) ** 2 for x, _ in logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / spread


def normalised(points):
    """Seconds over n log n, beside those of the first size that is long enough to be timed."""
    over = [(s, s / (n * math.log(n))) for n, s in points]
    first = next((rate for s, rate in over if s >= SHORT), None)
    return [rate / first if first and s >= SHORT else None for s, rate in over]


def stages_of(runs):
    """What grew, stage by stage in the program's order; stages that take no time are left out."""
    names = dict.fromkeys(name for run in reversed(runs) for name in run["seconds"])
    stages = []
    for name in names:
        points = [(run["rows"], run["seconds"].get(name, 0)) for run in runs]
        stages.append({"stage": name, "rows": [n for n, _ in points],
                       "seconds": [s for _, s in points], "over_n_log_n": normalised(points),
                       "exponent": exponent(points)})
    return [stage for stage in stages if max(stage["seconds"]) >= SHORT]


def n_log_n_exponent(rows):
    """The exponent that n log n itself would get between these sizes."""
    return exponent([(n, n * math.log(n)) for n in rows])


def table(kind, data, runs, stages):
    rows = [run["rows"] for run in runs]
    lines = [f"{data}, {runs[0]['columns']} columns, {kind}; {runs[0]['ranks']} x "
             f"{runs[0]['threads']} threads. Seconds, in brackets over n log n, beside the first "
             "size.", "",
             "| stage | " + " | ".join(f"{n:,}" for n in rows) + " | exponent |",
             "|---|" + "--:|" * (len(rows) + 1)]
    for stage in stages:
        cells = [f"{s:.2f}" + (f" ({r:.2f})" if r is not None else "")
                 for s, r in zip(stage["seconds"], stage["over_n_log_n"])]
        fitted = "" if stage["exponent"] is None else f"{stage['exponent']:.2f}"
        lines.append(f"| {stage['stage']} | " + " | ".join(cells) + f" | {fitted} |")
    peaks = [f"{run['peak_bytes'] / 1e6:,.0f}" for run in runs]
    fitted = exponent([(run["rows"], run["peak_bytes"]) for run in runs])
    lines.append("| peak memory, MB | " + " | ".join(peaks)
                 + f" | {'' if fitted is None else f'{fitted:.2f}'} |")
    if len(rows) > 1:
        lines += ["", f"n log n between these sizes has the exponent {n_log_n_exponent(rows):.2f}."]
    return "\n".join(lines) + "\n"


def main(data, folder, names):
    runs = read_runs(names)
    stages = {kind: stages_of(of) for kind, of in runs.items()}
    with open(os.path.join(folder, "growth.json"), "w") as file:
        json.dump([{"data": data, "affinity": kind, "columns": of[0]["columns"],
                    "ranks": of[0]["ranks"], "threads": of[0]["threads"],
                    "peak_bytes": [run["peak_bytes"] for run in of], "stages": stages[kind]}
                   for kind, of in runs.items()], file, indent=1)
        file.write("\n")
    with open(os.path.join(folder, "growth.md"), "w") as file:
        file.write("<!-- Made by scripts/growth.sh; do not edit. -->\n\n")
        file.write("\n".join(table(kind, data, of, stages[kind]) for kind, of in runs.items()))


main(sys.argv[1], sys.argv[2], sys.argv[3:])
