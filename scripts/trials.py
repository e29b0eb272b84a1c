#!/usr/bin/env python3
"""Trials in places where the tests do not go, drawn from their number, so that each can be repeated.

    scripts/trials.py [--program PATH] [--data FOLDER] [--group NAME ...] [--trials N] [--first I] [--seed S]

What must hold: the program ends with exit code 0 and no error, or with a documented one and one sentence;
no signal ends it, it does not hang, and nothing unfinished is left behind. A run that was killed goes on
by the same command, to the bits of the run that nobody disturbed. Groups:

    settings  odd values of one to three settings of embed, or fitting ones of up to six; dry and at work
    options   every other verb, with random values of its options, and files in wrong places
    files     files of all forms with wrong bytes, in verbs that tests/fault/corruption.sh does not try
    limits    ulimit -v, a control group's memory, no /tmp, no /dev/shm; one and two ranks
    kills     SIGKILL or SIGTERM at any time in the whole kernel, LaptSNE and Fisher; --rows (50000), --rounds

A line for each group says how many trials there were and how they ended; each that does not hold is
printed with what repeats it. Exit code 1 where there was one. Python's own library only.
"""
import argparse
import collections
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SIZES = "data.h5 run.h5 model.h5 graph.h5 data.csv data.npy map.csv page.html study.yaml".split()
FEW = ["isolation.psi=8", "layout.iterations=5", "layout.exaggeration_iterations=2", "output.measures=none"]
ODD = ["", " ", "-1", "0", "1", "2", "1e308", "-1e308", "1e-320", "nan", "inf", "-inf", "0x10", "1e400", "1,5",
       "9223372036854775807", "9223372036854775808", "-9223372036854775808", "4294967296", "2147483648", "auto",
       "yes", "no", "none", "default", "~", "[1, 2]", "{a: b}", "'", '"', "*a", "&a", "!!int 3", "%", "\\", "\t",
       "\n", "x\ny: 3", "=", "a=b", "--", "-", "--help", "#", ":", "data.h5:labels", "data.h5:nothing", "run.h5",
       "model.h5", "nothing.h5", "ä", "数", "\x7f", "\x1b[31m", "%s%n%d", "$HOME", "0.5", "1.0000001", "7", "59",
       "60", "61", "1e5", "3 4", "1:2", ",", ",,,", "a,b", "1,2,3"]
CRASH = re.compile(rb"Segmentation|Signal: |core dumped|Sanitizer|internal error|defect of this program")


class Trials:
    def __init__(self, asked):
        self.asked = asked
        self.program = os.path.abspath(asked.program)
        self.ends = collections.Counter()
        self.broken = 0
        self.rows = {}

    def random_of(self, group, number):
        return random.Random(f"{self.asked.seed}/{group}/{number}")

    def run(self, words, around=(), patience=None, **more):
        """Exit code (negative: a signal; None: it hangs), standard output, standard error."""
        command = [*around, self.program, *words]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True, **more)
        try:
            out, error = process.communicate(timeout=patience or self.asked.patience)
            return process.returncode, out, error
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, error = process.communicate()
            return None, out, error

    def report(self, group, number, why, words, error=b""):
        self.broken += 1
        self.ends["broken"] += 1
        last = error.decode("utf-8", "replace").strip().splitlines()[-3:]
        print(f"BROKEN {group} --first {number} --trials 1: {why}: {words!r} {last!r}", flush=True)

    def judge(self, group, number, words, outcome, may=()):
        """Whether the outcome is one that is promised."""
        code, _, error = outcome
        sentences = len(re.findall(rb'^iktsne: error: |"level": "error"', error, re.M))
        why = None
        if code == 127 and b"error while loading shared libraries" in error:
            self.ends["not begun by the system"] += 1
            return True
        if code in may:
            self.ends["killed by a limit"] += 1
            return True
        if code is None:
            why = "hangs"
        elif code < 0 or code > 128:
            why = f"ended by signal {-code if code < 0 else code - 128}"
        elif CRASH.search(error):
            why = "words of a crash"
        elif code not in (0, 2, 3, 4, 5, 75):
            why = f"exit code {code}"
        elif sentences != (code != 0 and code != 75):
            why = f"exit code {code}, {sentences} sentences"
        parts = [name for name in os.listdir(".") if ".part-" in name]
        if not why and parts:
            why = f"left {parts}"
        for name in parts:
            os.unlink(name)
        if why:
            self.report(group, number, why, words, error)
        else:
            self.ends["went on" if code == 0 else f"exit code {code}"] += 1
        return why is None

    # --- the folder of a trial

    def make_files(self):
        def made(*words):
            code, _, error = self.run(words)
            if code != 0:
                sys.exit(f"{words}: {error.decode('utf-8', 'replace')}")
        made("generate", "gaussian-mixture", "data.h5", "--points", "60", "--dimensions", "3", "--clusters", "2")
        made("embed", "data.h5", "run.h5", *FEW, "output.model=model.h5", "output.graph=graph.h5")
        with open("data.csv", "w") as file:
            file.write("a,b,kind\n" + "".join(f"{i},{i * i / 7},{'uv'[i % 2]}\n" for i in range(60)))
        with open("data.npy", "wb") as file:
            head = "{'descr': '<f4', 'fortran_order': False, 'shape': (40, 5), }"
            file.write(b"\x93NUMPY\x01\x00\x76\x00" + f"{head:<117}\n".encode() + bytes(800))
        made("export", "run.h5", "map.csv")
        made("view", "run.h5", "page.html")
        with open("study.yaml", "w") as file:
            file.write("study:\n  name: some\nruns:\n  - input.file: data.h5\n")
        self.whole = {name: open(name, "rb").read() for name in os.listdir(".") if os.path.isfile(name)}
        _, text, _ = self.run(["embed", "--print-defaults"])
        self.keys, section, kind = {}, None, ""  # of each its type in words
        for line in text.decode().splitlines():
            if line[:1].isalpha():
                section = line.rstrip(":")
            elif line.startswith("  # "):
                kind = line[4:]
            elif section and ":" in line:
                self.keys[section + "." + line.split(":")[0].strip()] = kind
        self.verbs = re.findall(r"^  ([a-z]+) +[A-Z]", self.run(["--help"])[1].decode(), re.M)
        self.options = {verb: re.findall(r"^  --([a-z-]+)", self.run([verb, "--help"])[1].decode(), re.M)
                        for verb in self.verbs}

    def clean(self):
        for name in os.listdir("."):
            if name not in self.whole:
                shutil.rmtree(name) if os.path.isdir(name) else os.unlink(name)
        for name, bytes_ in self.whole.items():
            if not os.path.isfile(name) or open(name, "rb").read() != bytes_:
                with open(name, "wb") as file:
                    file.write(bytes_)

    @staticmethod
    def value(r):
        kind = r.random()
        if kind < 0.6:
            return r.choice(ODD)
        if kind < 0.7:
            return "a" * r.choice([100, 255, 4095, 4096, 70000])
        if kind < 0.85:
            return repr(r.choice([1, -1]) * r.random() * 10 ** r.randint(-5, 12))
        # Bytes of all kinds, but none that leads out of the folder, and no end of a word.
        return bytes(r.choice([c for c in range(1, 256) if c != 47]) for _ in range(r.randint(1, 12)))

    def fitting(self, r, key):
        """A value that the setting may have: combinations of these get farther than odd ones."""
        kind = self.keys[key]
        choices = re.search(r"one of ([^);]*)", kind)
        if choices:
            return r.choice(choices.group(1).split(", "))
        if "yes or no" in kind:
            return r.choice(["yes", "no"])
        if "integer" in kind:
            return str(r.choice([0, 1, 2, 3, 5, 8, 16, 30, 59, 60, 61, 255, 256, 1000]))
        if "number" in kind:
            return r.choice(["0", "0.001", "0.1", "0.5", "0.999", "1", "1.5", "2", "10", "200", "auto"])
        return r.choice(["auto", "none", "data.h5", "run.h5", "model.h5", "graph.h5", "data.h5:labels", "labels"])

    @staticmethod
    def joined(name, value):
        return name.encode() + b"=" + (value if isinstance(value, bytes) else value.encode())

    # --- groups

    def settings(self, r, number):
        keys = [k for k in self.keys if k not in ("layout.iterations", "run.max_time", "run.threads")]
        odd = r.random() < 0.5
        drawn = r.sample(keys, r.randint(1, 3 if odd else 6))
        words = [self.joined(key, self.value(r) if odd else self.fitting(r, key)) for key in drawn
                 if odd or not key.startswith("output.")]
        given = {w.split(b"=")[0] for w in words}
        base = [s for s in ["input.file=data.h5", "output.file=new.h5", "run.max_time=60", *FEW]
                if s.split("=")[0].encode() not in given]
        words = ["embed", *base, *words] + (["--dry-run"] if r.random() < 0.5 else [])
        self.judge("settings", number, words, self.run(words))

    def options_(self, r, number):
        verb = r.choice([v for v in self.verbs if v != "embed"])
        words = [verb] + [r.choice([*SIZES, "new.h5", "new.csv", "new.png", "data.h5:labels"])
                          for _ in range(r.randint(0, 3))]
        if verb == "generate":
            words = [verb, r.choice(["gaussian-mixture", "five-subspace", "glyphs", "nothing"]), "new.h5", "--points=70"]
        for _ in range(r.randint(0, 3)):
            name = r.choice(self.options[verb] or ["json"])
            words.append(r.choice([self.joined("--" + name, self.value(r)), "--" + name, "--no-" + name]))
        self.judge("options", number, words, self.run(words))

    def files(self, r, number):
        name, words = r.choice([
            ("run.h5", ["export", "run.h5", "new.csv"]), ("run.h5", ["export", "run.h5", "new.npy"]),
            ("run.h5", ["view", "run.h5", "new.html"]), ("run.h5", ["align", "run.h5", "run.h5", "new.h5"]),
            ("run.h5", ["plot", "run.h5", "new.svg"]), ("run.h5", ["info", "run.h5", "--json"]),
            ("graph.h5", ["info", "graph.h5"]), ("model.h5", ["info", "model.h5"]),
            ("data.h5", ["landmarks", "data.h5", "new.h5"]), ("data.h5", ["evaluate", "run.h5", "--input", "data.h5"]),
            ("model.h5", ["transform", "model.h5", "data.csv", "new.h5"]),
            ("data.npy", ["transform", "model.h5", "data.npy", "new.h5"]),
            ("map.csv", ["plot", "map.csv", "new.png"]), ("map.csv", ["view", "map.csv", "new.html"]),
            ("map.csv", ["evaluate", "map.csv", "--input", "data.h5"]), ("data.csv", ["embed", "data.csv", "new.h5", *FEW]),
            ("page.html", ["info", "page.html"]), ("study.yaml", ["study", "study.yaml", "--dry-run"]),
            ("graph.h5", ["embed", "input.graph=graph.h5", "output.file=new.h5", *FEW[1:]])])
        bytes_ = bytearray(self.whole[name])
        if r.random() < 0.2:
            del bytes_[r.randrange(len(bytes_)):]
        for _ in range(r.choice([1, 1, 3, 20])):
            if bytes_:
                bytes_[r.randrange(len(bytes_) if r.random() < 0.5 else min(len(bytes_), 2048))] = r.randrange(256)
        with open(name, "wb") as file:
            file.write(bytes_)
        self.judge("files", number, words, self.run(words))

    def limits(self, r, number):
        kind = r.choice(["address", "group", "no /tmp", "no /dev/shm", "neither"])
        ranks = r.choice([1, 2])
        around, may = [], ()
        mpirun = [] if ranks == 1 else [*os.environ.get("IKT_MPIRUN", "mpirun -n").split(), "2"]
        if kind == "address":
            around = ["bash", "-c", f'ulimit -v {int(10 ** r.uniform(4.9, 6.3))}; exec "$0" "$@"']
            mpirun = []
        elif kind == "group":
            group = f"/sys/fs/cgroup/memory/iktsne-trials-{os.getpid()}"
            try:
                os.makedirs(group, exist_ok=True)
                with open(group + "/memory.limit_in_bytes", "w") as file:
                    file.write(str(int(10 ** r.uniform(6.7, 9))))
            except OSError:
                self.ends["no control group can be made"] += 1
                return
            around = ["bash", "-c", f'echo $$ >{group}/tasks; exec "$0" "$@"']
            may = (-9, 137)  # the kernel's own end
        else:
            places = {"no /tmp": ["/tmp"], "no /dev/shm": ["/dev/shm"], "neither": ["/tmp", "/dev/shm"]}[kind]
            here = os.getcwd()
            # The folder of the trial may be below /tmp: it is kept where a run still finds it.
            keep = f"mkdir -p /mnt && mount --bind '{here}' /mnt && mount --bind '{os.path.dirname(self.program)}' /srv && "
            cover = " && ".join(f"mount -t tmpfs -o ro none {place}" for place in places)
            around = ["unshare", "-m", "bash", "-c", keep + cover + ' && cd /mnt && exec "$@"', "bash"]
            mpirun = mpirun and ["env", "TMPDIR=/mnt", *mpirun]
        program = self.program
        if kind not in ("address", "group"):
            self.program = "/srv/" + os.path.basename(program)
        points = r.choice([60, 60, 3000])
        words = ["embed", "data.h5", "new.h5", *FEW] if points == 60 else ["embed", "more.h5", "new.h5", *FEW]
        outcome = self.run(words, [*around, *mpirun])
        self.program = program
        shutil.rmtree("new.h5.checkpoint", ignore_errors=True)
        if outcome[0] in may:
            for name in [n for n in os.listdir(".") if ".part-" in n]:
                os.unlink(name)
            if os.path.exists("new.h5"):
                self.report("limits", number, "killed, and a result is there", [kind, *words])
                return
        self.judge("limits", number, [kind, ranks, around[-1] if around else "", *words], outcome, may)

    def kills(self, r, number):
        """One trial is one kill; a run is killed until it is complete."""
        data = r.choice(["mnist70k.h5", "shuttle.h5"])
        name, more = r.choice([
            ("whole", ["affinity.support=whole", "whole.partitionings=2", "isolation.psi=64"]),
            ("laptsne", ["layout.regulariser=laplacian", "layout.regulariser_rank=10"]),
            ("fisher", ["affinity.kind=fisher", "fisher.support=100", "gaussian.perplexity=10"])])
        if data == "mnist70k.h5":
            more = [*more, "preprocess.pca=20"]
        words = ["embed", os.path.join(self.asked.data, data), "new.h5", f"input.rows={self.asked.rows}", *more,
                 "layout.iterations=12", "layout.exaggeration_iterations=6", "output.measures=none",
                 "output.overwrite=yes"]
        key = (data, name)
        if key not in self.rows:
            begun = time.monotonic()
            code, out, error = self.run(words, patience=1800)
            if code != 0:
                self.report("kills", number, f"exit code {code} of a run that nobody disturbs", words, error)
                return
            self.rows[key] = hash_of(out), time.monotonic() - begun
            os.unlink("new.h5")
            print(f"{data} {name}: {self.asked.rows} rows, {self.rows[key][1]:.0f} s undisturbed", flush=True)
        whole, seconds = self.rows[key]
        for _ in range(self.asked.rounds):
            how = r.choice([signal.SIGKILL, signal.SIGTERM])
            around = [] if r.random() < 0.7 else [*os.environ.get("IKT_MPIRUN", "mpirun -n").split(), "2"]
            process = subprocess.Popen([*around, self.program, *words, "run.checkpoint_every=0.001"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(r.uniform(0.05, 1.1) * seconds)
            except subprocess.TimeoutExpired:
                for pid in ranks_of(process.pid):
                    os.kill(pid, how)
                process.wait(300)
            self.ends[f"{name}: {'not killed in time' if process.returncode == 0 else how.name}"] += 1
        code, out, error = self.run(words, patience=1800)
        if code != 0 or hash_of(out) != whole:
            self.report("kills", number, f"exit code {code}, hash {hash_of(out)} in place of {whole}", words, error)
        else:
            self.ends[f"{name}: the same bits"] += 1

    def all_of(self, group):
        self.ends.clear()
        begun = time.monotonic()
        trial = {"options": self.options_}.get(group) or getattr(self, group)
        if group == "limits":
            self.run(["generate", "gaussian-mixture", "more.h5", "--points", "3000", "--dimensions", "50"])
            self.whole["more.h5"] = open("more.h5", "rb").read()
        count = 0
        for number in range(self.asked.first, self.asked.first + self.asked.trials):
            if time.monotonic() - begun > self.asked.seconds:
                break
            self.clean()
            trial(self.random_of(group, number), number)
            count += 1
        self.clean()
        print(f"{group}: {count} trials of seed {self.asked.seed}, {self.ends['broken']} broken; "
              + ", ".join(f"{v} {k}" for k, v in sorted(self.ends.items())), flush=True)


def hash_of(out):
    found = re.search(rb"^embedding hash *(\S+)", out, re.M)
    return found and found.group(1).decode()


def ranks_of(pid):
    """The processes of the program below this one: one of several, or itself."""
    found, todo = [], [pid]
    while todo:
        at = todo.pop()
        try:
            comm = open(f"/proc/{at}/comm").read().strip()
            todo += [int(c) for c in open(f"/proc/{at}/task/{at}/children").read().split()]
        except OSError:
            continue
        if comm == "iktsne":
            found.append(at)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/release/iktsne")
    parser.add_argument("--data", default="../shared/data", help="with mnist70k.h5 and shuttle.h5, for kills")
    parser.add_argument("--group", nargs="*", default=["settings", "options", "files", "limits"])
    parser.add_argument("--trials", type=int, default=300, help="of each group")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="of each group, at most")
    parser.add_argument("--patience", type=float, default=120, help="seconds after which a run hangs")
    parser.add_argument("--rows", type=int, default=50000, help="of kills")
    parser.add_argument("--rounds", type=int, default=3, help="kills before a run is left alone")
    asked = parser.parse_args()
    asked.data = os.path.abspath(asked.data)
    trials = Trials(asked)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["XDG_CONFIG_HOME"] = folder  # plan --calibrate writes there, not the user's file
        trials.make_files()
        for group in asked.group:
            trials.all_of(group)
        os.chdir("/")
    sys.exit(trials.broken > 0)


if __name__ == "__main__":
    main()
