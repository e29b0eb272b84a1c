"""Files for input_files.sh: sound ones that are easily taken for damaged ones, and inconsistent ones."""
import socket
import zipfile

import h5py
import numpy as np

rng = np.random.default_rng(3)
x = rng.normal(size=(60, 4)).astype("f4")


def data(name, **sets):
    f = h5py.File(name, "w")
    f["X"] = x
    for key, values in sets.items():
        f[key] = values
    return f


data("good.h5", labels=np.arange(60) % 3).close()

# Chunks of 256 MiB, which are 1 MiB packed each: unpacking them takes longer than the check of a file may.
f = data("chunks.h5")
f.create_dataset("large0", (2048, 1 << 15), "f4", chunks=(2048, 1 << 15), compression=1, shuffle=True, fletcher32=True)
f["large0"][0:1, 0:1] = 1
for i in range(1, 16):
    f.copy("large0", "large%d" % i)
f.close()
f = data("dangling.h5")
f["labels"] = h5py.SoftLink("/nowhere/at/all")
f.close()
f = data("loop.h5")
f["labels"] = h5py.SoftLink("/again")
f["again"] = h5py.SoftLink("/labels")
f.close()
f = data("outside.h5")
f["labels"] = h5py.ExternalLink("gone.h5", "/labels")
f.close()
f = data("to-pipe.h5")
f["labels"] = h5py.ExternalLink("pipe", "/labels")
f.close()
f = data("through-pipe.h5")
f["out"] = h5py.ExternalLink("pipe", "/")
f["labels"] = h5py.SoftLink("/out/labels")
f.close()
f = data("elsewhere.h5")
f["labels"] = h5py.ExternalLink("good.h5", "/labels")
f.close()
f = data("soft.h5", numbers=np.arange(60) % 3)
f["labels"] = h5py.SoftLink("numbers")
f.close()
f = h5py.File("no-rows.h5", "w")
f["X"] = h5py.SoftLink("/nowhere")
f.close()

data("wide.h5", labels=np.uint64(2**63) + np.arange(60, dtype="u8") % 3).close()
data("nearly.h5", labels=np.uint64(2**63 - 5) + np.arange(60, dtype="u8") % 3).close()
data("marked.h5", marked=np.array([3, 60])).close()
data("marked-some.h5", marked=np.array([3, 59])).close()
for name, names in (("few", "a\nb\n"), ("enough", "a\nb\nc"), ("latin", "caf\xe9\nb\nc\n")):
    f = data(name + "-names.h5", labels=np.arange(60) % 3)
    f.attrs.create("label_names", np.bytes_(names.encode("latin-1")))
    f.close()
f = data("latin-texts.h5")
f.create_dataset("labels", data=np.array([b"caf\xe9", b"th\xc3\xa9", b"b"] * 20))
f.close()

f = h5py.File("enormous.h5", "w")
f.create_dataset("X", (1 << 31, 1 << 31), "f4", chunks=(64, 64))[0:1, 0:1] = 1
f.close()

np.savez("whole.npz", x=x)
np.savez_compressed("packed.npz", x=x)
for source, target in (("whole.npz", "crc.npz"), ("packed.npz", "crc-packed.npz")):
    with zipfile.ZipFile(source) as archive:
        info = archive.infolist()[0]
        crc = info.CRC.to_bytes(4, "little")
    raw = open(source, "rb").read()
    assert raw.count(crc) >= 2  # before the member, and in the directory
    open(target, "wb").write(raw.replace(crc, bytes(b ^ 255 for b in crc)))

with open("latin.csv", "wb") as out:
    for i in range(30):
        out.write(b"%d,%d,%s\n" % (i, i % 7, (b"caf\xe9", b"th\xc3\xa9")[i % 2]))

f = h5py.File("run.h5", "w")
f["embedding"] = -x[:, :2]
f["labels"] = np.arange(60) % 6
f.attrs["label_names"] = '=1+1\n+plus\n-minus\n@at, "there"\nplain\n\n'
f.close()

s = socket.socket(socket.AF_UNIX)
s.bind("socket")
