ikt_add_script_test(NAME io_files_apart LABEL io TIMEOUT 600 SCRIPT io/test_files_apart.sh)
ikt_add_script_test(NAME io_names LABEL io SCRIPT io/test_names.sh)
ikt_add_script_test(NAME io_colons LABEL io TIMEOUT 120 SCRIPT io/test_colons.sh)
