ikt_add_script_test(NAME io_export LABEL io TIMEOUT 300 SCRIPT io/test_export.sh)
ikt_add_script_test(NAME io_vector LABEL io SCRIPT io/test_vector.sh
    ARGUMENTS $<TARGET_FILE:io_write_result>)
ikt_add_script_test(NAME io_text_bytes LABEL io SCRIPT io/test_text_bytes.sh)
ikt_add_script_test(NAME io_align LABEL io SCRIPT io/test_align.sh)
ikt_add_script_test(NAME io_start_file LABEL io SCRIPT io/test_start_file.sh)
