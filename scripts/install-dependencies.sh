#!/usr/bin/env bash
# Installs what iktsne needs from Debian's packages, or says what to install where it may not.
#   scripts/install-dependencies.sh [tests]     tests: also a Slurm, of which nothing is started
#   scripts/install-dependencies.sh mpich       for the preset mpich: MPICH in place of Open MPI, or beside it, and
#                                               FFTW's MPI part for it (scripts/fftw-mpich.sh)
#   scripts/install-dependencies.sh wheel       for scripts/wheel.sh, beside or without Open MPI
set -euo pipefail

packages=(build-essential cmake ninja-build pkg-config git libopenblas-dev libfftw3-dev hdf5-tools libyaml-dev
    libcairo2-dev libpango1.0-dev zlib1g-dev libcmocka-dev libpng-dev)
make_fftw() { :; }
if [ "${1:-}" = wheel ]; then
    packages+=(libhdf5-dev libmpich-dev libscalapack-mpich-dev python3-venv)
elif [ "${1:-}" = mpich ]; then
    packages+=(mpich libmpich-dev libscalapack-mpich-dev libhdf5-mpich-dev dpkg-dev)
    fftw=$(dirname "$0")/../build/fftw-mpich
    make_fftw() { [ -e "$fftw/include/fftw3-mpi.h" ] || "$(dirname "$0")/fftw-mpich.sh" "$fftw"; }
else
    packages+=(openmpi-bin libopenmpi-dev libscalapack-openmpi-dev libfftw3-mpi-dev libhdf5-openmpi-dev)
fi
optional=(libzip-dev libmatio-dev) # NPZ; MATLAB before 7.3
optional+=(python3-dev python3-venv) # the Python package
if [ "${1:-}" = tests ]; then
    packages+=(valgrind munge slurmctld slurmd slurm-client)
    # For the fuzzers, which are skipped without: libFuzzer comes with clang.
    optional+=(clang libclang-rt-dev libomp-dev)
    # For the wheel and the bare system that it is tried in.
    optional+=(libhdf5-dev libmpich-dev libscalapack-mpich-dev mmdebstrap)
    # Readers of what is written: arrays, AnnData, ParaView's files, pictures, pages, manual pages, modules
    # and completions.
    optional+=(python3-numpy python3-h5py python3-scipy python3-anndata python3-vtk9 librsvg2-bin
        poppler-utils locales chromium chromium-driver mandoc man-db environment-modules lua5.3 zsh fish)
    command -v node >/dev/null || optional+=(nodejs)
    # For the job scripts: another scheduler, and what reads shell scripts.
    optional+=(gridengine-master gridengine-exec gridengine-client shellcheck)
fi

# For the pages of `view`: a browser that needs no screen, and their scripts without one.
[ "${1:-}" != tests ] || optional+=(chromium chromium-driver nodejs)

# Names of those that are not installed, a line each.
not_installed() {
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done
}
mapfile -t missing < <(not_installed "${packages[@]}")
mapfile -t wanted < <(not_installed "${optional[@]}")
[ $((${#missing[@]} + ${#wanted[@]})) -gt 0 ] || { make_fftw; exit; }

run=()
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        run=(sudo)
    elif command -v sudo >/dev/null && [ -t 0 ]; then
        run=(sudo) # asks for the password
    else
        run=(none)
    fi
fi
if ! command -v apt-get >/dev/null || [ "${run[0]:-}" = none ]; then
    [ ${#missing[@]} -gt 0 ] || exit 0
    echo "iktsne: cannot install packages here; please have these installed (Debian's names), or" \
        "load modules that provide them:" >&2
    printf '  %s\n' "${missing[@]}" >&2
    # Modules of a cluster may provide all of it without dpkg knowing: let CMake decide.
    exit 0
fi
# The tests start a Slurm and a Grid Engine of their own: the services of these packages are neither
# started now nor with the machine.
policy=/usr/sbin/policy-rc.d
services=()
for service in munge slurmctld slurmd gridengine-master gridengine-exec; do
    [[ " ${missing[*]} ${wanted[*]} " != *" $service "* ]] || services+=("$service")
done
if [ ${#services[@]} -gt 0 ] && [ ! -e $policy ]; then
    trap '"${run[@]}" rm -f $policy' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${run[@]}" tee $policy >/dev/null
    "${run[@]}" chmod 755 $policy
fi

# A stale package list is the usual cause of a failing install: refresh it and try once more.
install() {
    [ $# -gt 0 ] || return 0
    echo "iktsne: installing $*" >&2
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -q)
    "${run[@]}" "${apt[@]}" "$@" >/dev/null 2>&1 || {
        "${run[@]}" apt-get update -q >/dev/null && "${run[@]}" "${apt[@]}" "$@" >/dev/null
    }
}
install "${missing[@]}"
# One that a distribution lacks must not keep the others away.
install "${wanted[@]}" 2>/dev/null || for package in "${wanted[@]}"; do
    install "$package" 2>/dev/null || echo "iktsne: goes on without $package, which cannot be installed" >&2
done
if [ ${#services[@]} -gt 0 ] && command -v systemctl >/dev/null; then
    "${run[@]}" systemctl disable "${services[@]}" >/dev/null 2>&1 || true
fi
make_fftw
