#!/usr/bin/env bash
# The Python package: pip builds it on the installed library, in a virtual environment of its own, and
# pytest runs tests/python. Skipped, with a message, where there is no Python with its headers, or pip
# reaches no packages. The first argument is the build folder; further ones go to pytest.
. "$(dirname "${BASH_SOURCE[0]}")/../support/install.sh"
shift

skip() {
    echo "skipped: $*"
    exit 77
}

python=
for candidate in python3 /usr/bin/python3; do
    $candidate -c 'import sys, sysconfig, pathlib, venv, ensurepip
assert sys.version_info >= (3, 9)
assert (pathlib.Path(sysconfig.get_paths()["include"]) / "Python.h").exists()' >/dev/null 2>&1 || continue
    python=$candidate
    break
done
[ -n "$python" ] || skip "no python3 of version 3.9 or newer with venv and its headers (python3-dev)"
command -v c++ >/dev/null || skip "no C++ compiler"
"$python" -m venv "$work/venv" >out.txt 2>err.txt || skip "python3 -m venv fails"
pip="$work/venv/bin/python -m pip --disable-pip-version-check --no-input --retries 1 --timeout 15"
timeout 120 $pip install -q numpy scipy scikit-learn h5py pandas pyarrow polars pytest mpi4py tqdm nanobind scikit-build-core ninja \
    >out.txt 2>err.txt || skip "pip cannot install numpy, scikit-learn, nanobind and others"

stage /opt/iktsne "$work/iktsne"
cp -r "$IKT_SOURCE/python" "$IKT_SOURCE/pyproject.toml" "$IKT_SOURCE/README.md" "$IKT_SOURCE/LICENSE" \
    "$IKT_SOURCE/CMakeLists.txt" . # the sources may be read-only
timeout 120 $pip install -q --no-build-isolation . -C "cmake.define.iktsne_ROOT=$work/iktsne" \
    >out.txt 2>err.txt || fail "pip install"
[ $failed -eq 0 ] || exit 1
rm -rf python pyproject.toml
timeout 200 "$work/venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir="$IKT_SOURCE/tests/python" \
    "$IKT_SOURCE/tests/python" "$@" >out.txt 2>err.txt || fail "pytest"
tail -n 3 out.txt
exit $failed
