#!/usr/bin/env bash
# Builds FFTW's MPI part with MPICH's compiler, from Debian's source package of the FFTW that is installed:
# Debian has this part for Open MPI only. The transforms stay those of the installed library. Half a minute.
#   scripts/fftw-mpich.sh FOLDER [SOURCES]   into FOLDER/lib and FOLDER/include, for CMAKE_PREFIX_PATH.
#                                            SOURCES: FFTW's unpacked sources, where Debian's cannot be fetched
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2; }
mkdir -p "$1/lib" "$1/include"
folder=$(realpath "$1")
compiler=${MPICC:-mpicc.mpich}
version=$(pkg-config --modversion fftw3)
work=$(mktemp -d)
end() {
    local status=$?
    [ $status -eq 0 ] || { tail -n 20 "$work/log"; echo "iktsne: FFTW's MPI part cannot be built for MPICH"; } >&3
    rm -rf "$work"
}
trap end EXIT

# Into $work/sources, by lists of its own: those of the machine name no sources, by default.
fetch() {
    local package apt
    package=$(dpkg-query -W -f='${Version}' libfftw3-dev)
    mkdir -p "$work/lists/partial"
    echo "deb-src http://deb.debian.org/debian $(. /etc/os-release && echo "$VERSION_CODENAME") main" >"$work/list"
    apt=(apt-get -q -o Dir::Etc::sourcelist="$work/list" -o Dir::Etc::sourceparts=/dev/null
        -o Dir::State::lists="$work/lists" -o APT::Sandbox::User=)
    "${apt[@]}" update
    (cd "$work" && "${apt[@]}" source --download-only "fftw3=${package%+b*}")
    dpkg-source --no-check -x "$work"/fftw3_*.dsc "$work/sources"
}

# build LETTER CONFIGURE'S OPTIONS...: libfftw3LETTER_mpi.a
build() {
    local objects="$work/objects$1" file
    mkdir "$objects"
    (cd "$objects" && "$sources/configure" --host="$("$compiler" -dumpmachine)" CC="$compiler" --enable-mpi --disable-fortran --disable-doc "${@:2}")
    for file in "$sources"/mpi/*.c; do
        case $file in */mpi-bench.c | */testsched.c) continue ;; esac
        "$compiler" -O2 -fPIC -w -DHAVE_CONFIG_H -I"$objects" -I"$sources" -I"$sources/api" -c "$file" \
            -o "$objects/$(basename "$file" .c).o"
    done
    rm -f "$folder/lib/libfftw3$1_mpi.a"
    "${AR:-ar}" rcs "$folder/lib/libfftw3$1_mpi.a" "$objects"/*.o
}

exec 3>&2 >"$work/log" 2>&1
sources=${2:-$work/sources}
[ $# -gt 1 ] || fetch
if ! grep -q "PACKAGE_VERSION='$version'" "$sources/configure"; then
    echo "the sources are not those of FFTW $version, which is installed"
    exit 1
fi
build ""
build f --enable-float
cp "$sources/mpi/fftw3-mpi.h" "$folder/include"
