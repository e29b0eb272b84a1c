#!/usr/bin/env bash
# Inputs that are no regular files, that look damaged and are sound, or that contradict themselves: each
# is refused with one sentence that names the cause, or read.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/python.sh"
python=$(find_python h5py numpy) || {
    echo "there is no python3 with h5py: not tested"
    exit 77
}
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
mkfifo pipe pipe.yaml
"$python" "$here/input_files.py" || exit 1

short="isolation.psi=8 layout.iterations=5 layout.exaggeration_iterations=2 output.measures=none --quiet"
accept() { # 'words of the log' COMMAND...
    timeout 60 "$IKT_PROGRAM" "${@:2}" >out.txt 2>err.txt || fail "not accepted: ${*:2}"
    grep -q -- "$1" out.txt err.txt || fail "nothing of '$1': ${*:2}"
}
embeds() { # FILE OUT 'words of the log'
    accept "$3" embed input.file="$1" output.file="$2" ${short% --quiet}
}

# Whatever opens an input: what is no regular file is refused at once, and not waited for.
pipe="pipe[.yaml]* is a pipe and not a regular file; .*: write the data into a file first"
expect 4 "$pipe" embed input.file=pipe output.file=out.h5 $short
expect 4 "$pipe" embed input.file=good.h5 input.labels=pipe output.file=out.h5 $short
expect 4 "$pipe" embed input.file=pipe input.columns=3 input.type=float32 output.file=out.h5 $short
for verb in "convert pipe no.h5" "convert pipe no.h5 --raw float32 --columns 3" "info pipe" \
    "convert whole.npz no.h5 --labels pipe" "embed pipe" "plan pipe" "study pipe" "plan --machine pipe good.h5" \
    "embed pipe good.h5" "embed input.graph=pipe output.file=out.h5" "embed pipe.yaml" "transform pipe good.h5 no.h5" \
    "align pipe pipe no.h5" "view pipe no.html" "plot pipe no.png" "evaluate pipe" "export pipe no.csv"; do
    expect 4 "$pipe" $verb
done
for verb in "embed good.h5 pipe" "landmarks good.h5 pipe"; do
    expect 4 "pipe is a pipe, which is never replaced" $verb
done
expect 4 "socket is a socket and not a regular file" convert socket no.h5
expect 4 "socket is a socket and not a regular file" info socket
expect 4 ". is a folder; a file is needed" convert . no.h5
expect 4 ". is a folder; a file is needed" info .
if mknod device c 1 3 2>/dev/null; then # a private node of the null device
    expect 4 "device is a device and not a regular file" convert device no.h5
fi
printf '1 1:2 2:3\n2 1:4\n' >made.libsvm
"$IKT_PROGRAM" convert /dev/stdin fromstdin.h5 --quiet <made.libsvm >out.txt 2>err.txt || fail "a redirected file"
cat made.libsvm | timeout 60 "$IKT_PROGRAM" convert /dev/stdin no.h5 >out.txt 2>err.txt
[ $? -eq 4 ] && grep -q 'is a pipe and not a regular file' err.txt || fail "LIBSVM from a pipe"

# Links that lead nowhere, round in a circle or out of the file.
expect 3 "'labels' is a link to '/nowhere/at/all', which is not there" embed input.file=dangling.h5 output.file=out.h5 $short
expect 3 "is a link that leads back to itself" embed input.file=loop.h5 output.file=out.h5 $short
expect 3 "'labels' is a link to a file that is not there: '/labels' in gone.h5" embed input.file=outside.h5 output.file=out.h5 $short
expect 3 "'labels' is a link to what is no regular file: '/labels' in pipe" embed input.file=to-pipe.h5 output.file=out.h5 $short
expect 3 "'/out' is a link to what is no regular file" embed input.file=through-pipe.h5 output.file=out.h5 $short
expect 3 "no-rows.h5: 'X' is a link to '/nowhere', which is not there" embed input.file=no-rows.h5 output.file=out.h5 $short
embeds elsewhere.h5 elsewhere-run.h5 "of the rows have the class"
embeds soft.h5 soft-run.h5 "of the rows have the class"

# Labels, marked rows and names of classes that contradict the rows.
expect 3 "wide.h5: 'labels', row 0: 9223372036854775808 is more than 2^63 - 1" embed input.file=wide.h5 output.file=out.h5 $short
embeds nearly.h5 nearly-run.h5 ""
expect 3 "marked.h5: 'marked', entry 1, names row 60, but the rows are numbered from 0 to 59" embed input.file=marked.h5 output.file=out.h5 $short
embeds marked-some.h5 marked-run.h5 ""
embeds few-names.h5 few-run.h5 "few-names.h5: the attribute 'label_names' names 2 classes, but there are more labels; those from 2 on"
embeds enough-names.h5 names-run.h5 ""
expect 3 "enormous.h5:/X announces 2147483648 rows of 2147483648 columns" embed input.file=enormous.h5 output.file=out.h5 $short
expect 3 "enormous.h5:/X announces 2147483648 rows of 2147483648 columns" info enormous.h5
expect 3 "enormous.h5:/X announces 2147483648 rows of 2147483648 columns" plan input.file=enormous.h5

# An archive whose checksum is not that of its bytes.
accept "" convert packed.npz fine.h5
expect 4 "crc.npz:x is damaged: CRC error" convert crc.npz no.h5
expect 4 "crc-packed.npz:x is damaged: CRC error" convert crc-packed.npz no.h5

# Names that are not UTF-8 are Latin-1, said once.
accept "latin.csv: some labels are not UTF-8; they are read as Latin-1" convert latin.csv latin.h5 --label-column 3
embeds latin-texts.h5 texts-run.h5 "latin-texts.h5:/labels holds texts that are not UTF-8; they are read as Latin-1"
embeds latin-names.h5 latin-run.h5 "latin-names.h5 holds texts that are not UTF-8; they are read as Latin-1"
"$python" - <<'PYTHON' || fail "names of classes are not UTF-8 in what was written"
import h5py
for name, names in (("latin.h5", "caf\xe9\nth\xe9\n"), ("texts-run.h5", "b\ncaf\xe9\nth\xe9\n"), ("latin-run.h5", "caf\xe9\nb\nc\n")):
    found = h5py.File(name).attrs["label_names"]
    assert found == names, (name, found)
PYTHON

# Cells that a spreadsheet would take for formulas.
accept "" export run.h5 plain.csv
accept "" export run.h5 guarded.csv --guard-formulas
"$python" - <<'PYTHON' || fail "cells that begin like formulas"
import csv
names = ["=1+1", "+plus", "-minus", '@at, "there"', "plain", ""]
plain, guarded = (list(csv.reader(open(name)))[1:] for name in ("plain.csv", "guarded.csv"))
assert [row[3] for row in plain[:6]] == names
assert [row[3] for row in guarded[:6]] == ["'" + name if name[:1] in "=+-@" and name else name for name in names]
assert [row[:3] for row in plain] == [row[:3] for row in guarded] and any(row[0][0] == "-" for row in plain)
PYTHON
expect 2 "guard-formulas is for csv and tsv" export run.h5 no.npy --guard-formulas

# Large chunks are no damage.
accept "" info chunks.h5

exit $failed
