#!/usr/bin/env bash
# The wheel: it is made, installed in a bare Debian 12 (Python and no more) without a network, and there gives the
# maps of the program with MPI, bit for bit, also beside h5py; as a command it has the program. Outside the bare
# system it does so beside mpi4py, and scikit-learn's checks pass. Skipped, with a message, without root, mmdebstrap or packages of PyPI.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "a bare system is entered by root only"
command -v mmdebstrap >out.txt || skip "mmdebstrap is not there"
[ "$(ldconfig -p | grep -c libscalapack-mpich)" -gt 0 ] || skip "no libscalapack-mpich (scripts/install-dependencies.sh wheel)"
[ "$(uname -m)" = x86_64 ] || skip "the wheel is made on x86-64"
python=/usr/bin/python3
$python -c 'import sys, venv, ensurepip; assert sys.version_info[:2] == (3, 11)' 2>err.txt || skip "no python3 of Debian 12"
$python -m venv tools >out.txt 2>err.txt || skip "python3 -m venv fails"
timeout 200 tools/bin/pip download -q --only-binary :all: --dest packages numpy h5py mpi4py scipy scikit-learn >out.txt 2>err.txt ||
    skip "pip reaches no packages"
timeout 400 mmdebstrap --variant=apt --include=python3,python3-venv bookworm bare >out.txt 2>err.txt || skip "no bare system"

mkdir sources
tar c -C "$IKT_SOURCE" --exclude=./build --exclude=./.git . | tar x -C sources # which may be read-only
env PATH=/usr/local/bin:/usr/bin:/bin sources/scripts/wheel.sh --output packages $python >out.txt 2>err.txt || { fail "no wheel"; exit 1; }
wheel=$(echo packages/iktsne-*.whl)
echo "$wheel: $(stat -c %s "$wheel") bytes"

# inside COMMAND...: in the bare system, with /proc, by which a program finds its libraries.
mv packages bare/packages
inside() { timeout 120 env -i HOME=/ PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare --mount sh -c 'mount -t proc proc bare/proc && exec chroot bare "$@"' sh "$@"; }
! inside sh -c 'command -v cc || command -v mpirun || ls /usr/lib/*/libhdf5*' >out.txt 2>err.txt || fail "the system is not bare"

is_installed() {
    local begin=$SECONDS
    inside python3 -m venv /v >out.txt 2>err.txt || fail "venv"
    inside /v/bin/pip install --no-index --find-links /packages iktsne h5py >out.txt 2>err.txt || fail "pip install"
    [ $((SECONDS - begin)) -lt 60 ] || fail "installing took $((SECONDS - begin)) s"
}

expected=
settings=(layout.iterations=60 layout.exaggeration_iterations=20)
gives_the_bits_of_the_program() {
    "$IKT_PROGRAM" generate glyphs data.h5 --points 400 --seed 3 --quiet >out.txt 2>err.txt || fail "no data"
    "$IKT_PROGRAM" embed data.h5 output.file=run.h5 output.measures=none "${settings[@]}" --quiet >out.txt 2>err.txt || fail "no run"
    expected=$(sed -n 's/^embedding hash *//p' out.txt)
    [ ${#expected} -eq 16 ] || fail "no hash of the program"
    cp data.h5 bare/data.h5
    cat >bare/fit.py <<'P'
import sys
if "before" in sys.argv:
    from mpi4py import MPI
import h5py
X = h5py.File(sys.argv[1] + "data.h5")["X"][:]
import iktsne
few = {"max_iter": 60, "early_exaggeration_iter": 20, "settings": {"output.picture": sys.argv[1] + "map.png", "output.overwrite": True}}
fitted = iktsne.TSNE(**few).fit(X)
with h5py.File(sys.argv[1] + "map.h5", "w") as file:
    file["embedding"] = fitted.embedding_
assert (h5py.File(sys.argv[1] + "map.h5")["embedding"][:] == fitted.embedding_).all()
if "after" in sys.argv:
    from mpi4py import MPI
if len(sys.argv) > 2:
    assert MPI.COMM_WORLD.allreduce(2) == 2
    assert iktsne.TSNE(comm=MPI.COMM_WORLD, **few).fit(X).hash_ == fitted.hash_
import subprocess
environment = subprocess.run(["env"], capture_output=True, text=True).stdout # os.environ does not follow the C library
assert "OMPI_MCA_sharedfp" not in environment, "other MPIs see settings of ours"
print(f"{fitted.hash_:016x}")
P
    [ "$(inside /v/bin/python /fit.py / 2>err.txt)" = "$expected" ] || fail "not $expected beside h5py"
    [ -s bare/map.png ] || fail "no picture"
    inside /v/bin/iktsne embed /data.h5 output.file=/run.h5 output.measures=none "${settings[@]}" --quiet >out.txt 2>err.txt ||
        fail "the command iktsne"
    [ "$(sed -n 's/^embedding hash *//p' out.txt)" = "$expected" ] || fail "another map by the command iktsne"
    # Other routines of ScaLAPACK.
    for objective in kda kpca; do
        "$IKT_PROGRAM" embed data.h5 output.file=run.h5 output.overwrite=yes output.measures=none layout.objective=$objective --quiet >out.txt 2>err.txt
        expected_of=$(sed -n 's/^embedding hash *//p' out.txt)
        inside /v/bin/iktsne embed /data.h5 output.file=/run.h5 output.overwrite=yes output.measures=none layout.objective=$objective --quiet >out.txt 2>err.txt
        [ ${#expected_of} -eq 16 ] && [ "$(sed -n 's/^embedding hash *//p' out.txt)" = "$expected_of" ] || fail "another map of $objective"
    done
}

# Each of several processes would do the whole work.
says_that_it_is_one_process() {
    ! inside env PMI_SIZE=4 PMI_RANK=1 /v/bin/iktsne embed /data.h5 output.file=/more.h5 >out.txt 2>err.txt || fail "the program runs"
    grep -q 'PMI_SIZE announces 4 tasks, and this iktsne was built for one process' err.txt || fail "no word of the launcher"
    inside env PMI_SIZE=4 PMI_RANK=1 /v/bin/python /fit.py / >out.txt 2>err.txt || fail "a fit under a launcher"
    grep -q 'one of several, and this iktsne was built for one process' err.txt || fail "no warning of the launcher"
}

shows_none_of_its_libraries() { # to other modules of the process
    local module
    module=$(find bare/v -name '_core*.so')
    nm -D --defined-only "$module" >out.txt
    [ "$(grep -E ' [TDBR] ' out.txt | sed 's/.* //')" = PyInit__core ] || fail "names of the module" # others are weak, of C++
    find bare/v/lib/*/site-packages/iktsne* -name '*.so*' -exec nm -D {} + 2>err.txt | grep -E ' [UT] (P?MPI_|H5)' >out.txt &&
        fail "calls of MPI and HDF5 in the wheel"
}

beside() { # the packages of PyPI that are named, outside
    tools/bin/pip install -q --no-index --find-links bare/packages iktsne "$@" >out.txt 2>err.txt || fail "pip install"
}
goes_with_mpi4py() {
    local order
    beside h5py mpi4py
    tools/bin/python -c 'from mpi4py import MPI' >out.txt 2>err.txt || { echo "mpi4py finds no MPI here: not tried"; return; }
    for order in before after; do
        [ "$(tools/bin/python bare/fit.py "$work/" $order 2>err.txt)" = "$expected" ] || fail "not $expected with mpi4py $order"
        ! grep -q 'one of several' err.txt || fail "a process alone is taken for one of several"
    done
    cat >ranks.py <<'P'
from mpi4py import MPI
import numpy, iktsne
try:
    iktsne.TSNE(comm=MPI.COMM_WORLD).fit(numpy.eye(9))
except ValueError as error:
    print(error)
P
    # shellcheck disable=SC2086
    $IKT_MPIRUN 2 tools/bin/python ranks.py >out.txt 2>err.txt
    [ "$(grep -o 'comm has 2 ranks, and this iktsne was built for one process' out.txt | wc -l)" -eq 2 ] || fail "a communicator of two ranks"
}

passes_the_checks_of_scikit_learn() {
    beside scikit-learn
    cat >checks.py <<'P'
import iktsne
from sklearn.utils.estimator_checks import check_estimator
results = check_estimator(iktsne.TSNE(max_iter=30, n_jobs=1), on_fail=None, on_skip=None)
failed = [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
print(len(results), failed)
raise SystemExit(len(results) < 35 or bool(failed))
P
    timeout 300 tools/bin/python checks.py >out.txt 2>err.txt || fail "check_estimator"
}

try is_installed "the wheel is installed within a minute in a system with Python and no more"
[ "$failed" -eq 0 ] || exit 1
try gives_the_bits_of_the_program "its maps are those of the program, beside h5py and as a command"
try says_that_it_is_one_process "under a launcher it says that it is one process"
try shows_none_of_its_libraries "its MPI and HDF5 are seen by nobody else"
try goes_with_mpi4py "and beside mpi4py, begun before or after; a communicator of several ranks is refused"
try passes_the_checks_of_scikit_learn "check_estimator"
exit "$failed"
