ikt_add_script_test(NAME io_study LABEL io TIMEOUT 300 SCRIPT io/test_study_verb.sh)
ikt_add_script_test(NAME io_study_identity LABEL io TIMEOUT 600 SCRIPT io/test_study_identity.sh)
ikt_add_script_test(NAME io_study_samples LABEL io TIMEOUT 300 SCRIPT io/test_study_samples.sh)
ikt_add_script_test(NAME io_study_inputs LABEL io TIMEOUT 120 SCRIPT io/test_study_inputs.sh)
