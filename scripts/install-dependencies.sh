#!/usr/bin/env bash
# Installs what iktsne needs from Debian's packages, or says what to install where it may not.
#   scripts/install-dependencies.sh [tests]     tests: also a Slurm, of which nothing is started
set -euo pipefail

packages=(build-essential cmake ninja-build pkg-config git openmpi-bin libopenmpi-dev
    libscalapack-openmpi-dev libopenblas-dev libfftw3-dev libhdf5-openmpi-dev hdf5-tools
    libyaml-dev libpng-dev zlib1g-dev libzip-dev libmatio-dev libcmocka-dev)
optional=()
if [ "${1:-}" = tests ]; then
    packages+=(valgrind munge slurmctld slurmd slurm-client)
    # For the fuzzers, which are skipped without: libFuzzer comes with clang.
    optional=(clang libclang-rt-dev libomp-dev)
fi

# Names of those that are not installed, a line each.
not_installed() {
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done
}
mapfile -t missing < <(not_installed "${packages[@]}")
mapfile -t wanted < <(not_installed "${optional[@]}")
[ $((${#missing[@]} + ${#wanted[@]})) -gt 0 ] || exit 0

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
# The tests start a Slurm of their own: the services of its packages are neither started now nor with
# the machine.
policy=/usr/sbin/policy-rc.d
services=()
for service in munge slurmctld slurmd; do
    [[ " ${missing[*]} " != *" $service "* ]] || services+=("$service")
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
if [ ${#services[@]} -gt 0 ] && command -v systemctl >/dev/null; then
    "${run[@]}" systemctl disable "${services[@]}" >/dev/null 2>&1 || true
fi
install "${wanted[@]}" || echo "iktsne: the fuzzers will be skipped: ${wanted[*]} cannot be installed" >&2
