# Four of the one-line changes of mutants.txt, others for every commit; and whether all of them fit the sources.
ikt_add_script_test(NAME mutants_sample LABEL mutants TIMEOUT 600 SCRIPT ../scripts/mutants.sh
    ARGUMENTS ${PROJECT_BINARY_DIR} --sample 4)
