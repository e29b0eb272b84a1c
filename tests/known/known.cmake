# What small runs of every kind give, to the last bit (runs.txt; scripts/known-runs.sh): on the machine's own
# instruction set, a third of them on a lower one as well; all of them on all that the machine has; and on ranks
# of other numbers than the file's.
set(ikt_known_runs)
if(IKT_SANITIZE STREQUAL "thread")
    set(ikt_known_runs --ranks 1 --threads 2)
endif()
ikt_add_script_test(NAME known_runs LABEL reference TIMEOUT 600 SCRIPT ../scripts/known-runs.sh
    ARGUMENTS ${ikt_known_runs})
ikt_add_script_test(NAME known_runs_on_every_set LABEL reference TIMEOUT 1800 SCRIPT ../scripts/known-runs.sh
    ARGUMENTS --every-set)
ikt_add_script_test(NAME known_runs_on_ranks LABEL reference TIMEOUT 1800 SCRIPT ../scripts/known-runs.sh
    ARGUMENTS --ranks "1 2 3 4 7")
set_property(TEST known_runs_on_every_set known_runs_on_ranks APPEND PROPERTY LABELS long)
ikt_add_test(NAME known_draws LABEL reference SOURCES known/test_draws.c)
ikt_add_mpi_test(NAME known_steps LABEL reference SOURCES known/test_steps.c RANKS 1)
ikt_add_mpi_test(NAME known_p LABEL reference SOURCES known/test_p.c RANKS 1 3)
ikt_add_mpi_test(NAME known_candidates LABEL reference SOURCES known/test_candidates.c RANKS 1 3)
