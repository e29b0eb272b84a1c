import os
import shutil
import subprocess
import sys

import numpy as np
import pytest


@pytest.fixture(scope="session")
def blobs():
    """300 rows of five clusters, and their labels."""
    rng = np.random.default_rng(3)
    rows = [rng.normal(4 * rng.normal(size=8), 1, (60, 8)) for _ in range(5)]
    return np.concatenate(rows).astype(np.float32), np.repeat(np.arange(5), 60)


@pytest.fixture
def program(tmp_path):
    """Runs the program iktsne in a folder of its own."""
    path = os.environ.get("IKT_PROGRAM")
    if not path or not os.path.exists(path):
        pytest.skip("the program iktsne is not there: name it by IKT_PROGRAM")

    def run(*arguments):
        out = subprocess.run([path, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True,
                             timeout=120)
        assert out.returncode == 0, out.stdout + out.stderr
        return out.stdout

    return run


@pytest.fixture
def run_ranks(tmp_path):
    """Runs a script of Python on so many ranks, in a folder of its own; what it prints."""
    pytest.importorskip("mpi4py")
    launcher = os.environ.get("IKT_MPIRUN", "mpirun -n").split()
    if not shutil.which(launcher[0]):
        pytest.skip("there is no mpirun")
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}

    def run(count, script):
        out = subprocess.run([*launcher, str(count), sys.executable, "-c", script], cwd=tmp_path,
                             env=environment, capture_output=True, text=True, timeout=120)
        assert out.returncode == 0, out.stderr
        return out.stdout

    return run
