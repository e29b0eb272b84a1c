# What small runs of every kind give, to the last bit (runs.txt; scripts/known-runs.sh): on the machine's own
# instruction set, a third of them on a lower one as well; and all of them on all that the machine has.
ikt_add_script_test(NAME known_runs LABEL reference TIMEOUT 600 SCRIPT ../scripts/known-runs.sh)
ikt_add_script_test(NAME known_runs_on_every_set LABEL reference TIMEOUT 1800 SCRIPT ../scripts/known-runs.sh
    ARGUMENTS --every-set)
set_property(TEST known_runs_on_every_set APPEND PROPERTY LABELS long)
ikt_add_test(NAME known_draws LABEL reference SOURCES known/test_draws.c)
ikt_add_mpi_test(NAME known_steps LABEL reference SOURCES known/test_steps.c RANKS 1)
ikt_add_mpi_test(NAME known_p LABEL reference SOURCES known/test_p.c RANKS 1 3)
ikt_add_mpi_test(NAME known_candidates LABEL reference SOURCES known/test_candidates.c RANKS 1 3)
