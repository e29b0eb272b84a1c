# What small runs of every kind give, to the last bit (runs.txt; scripts/known-runs.sh).
ikt_add_script_test(NAME known_runs LABEL reference TIMEOUT 600 SCRIPT ../scripts/known-runs.sh)
