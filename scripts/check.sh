#!/usr/bin/env bash
# Builds the program and runs its tests, installing what is missing.
#   scripts/check.sh        a sample of the slow families, within half an hour on two cores: tests of several
#                           ranks on three of their pairs of ranks and threads, fewer damaged files and
#                           killed runs, a third of the runs in parts, fifteen seconds for each fuzzer
#   scripts/check.sh all    every test in full, about an hour
#   scripts/check.sh mpich  with Debian's MPICH in place of Open MPI: what computes, on all ranks and threads, and
#                           the known runs on 1, 2, 3, 4 and 7 ranks; half an hour
#   scripts/check.sh sanitize   under the address and undefined-behaviour sanitizers: the sample without what builds
#                           anew or looks at texts alone, two hours
#   scripts/check.sh races  under the thread sanitizer, on one rank with two threads: every test that is one program,
#                           and the known runs; half an hour
set -euo pipefail
cd "$(dirname "$0")/.."
preset=release
run=()
sample=(-LE '^long$')
sampled() {
    export IKT_FUZZ_SECONDS=${IKT_FUZZ_SECONDS:-15} IKT_KILLS=${IKT_KILLS:-2} IKT_CHAINS=${IKT_CHAINS:-3} \
        IKT_CORRUPTIONS=${IKT_CORRUPTIONS:-60} IKT_CORRUPTIONS_RANKS=${IKT_CORRUPTIONS_RANKS:-4}
}
case ${1:-} in
"") sampled ;;
all) sample=(); export IKT_RANKS="2 3 4 7" IKT_THREADS="1 2" ;;
mpich) preset=mpich sample=(-L 'unit|mpi|reference' -E on_every_set) ;;
sanitize) sampled; export IKT_LINES=${IKT_LINES:-60}
    preset=sanitize sample+=(-E '^(install|house|fuzz|mutants|bench)|browser') ;;
races) preset=races sample=(-R '_r1_t2$|^unit_|^known_(draws|runs)$|^(fault_races|reference_codes_kernel|recipe_steps)$')
    # Clang 14's thread sanitizer finds no place for its shadow where the kernel moves maps about by more bits than these.
    [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)" -le 28 ] || run=(setarch -R) ;;
*) sed -n '2,14s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
[ $preset = mpich ] || ./scripts/install-dependencies.sh tests
./scripts/build.sh $preset
# Three tests for two processors: ranks that start and end leave a third of them idle. What is timed runs alone.
exec "${run[@]}" ctest --test-dir build/$preset --output-on-failure -j $((($(nproc) * 3 + 1) / 2)) "${sample[@]}"
