ikt_test_executable(io_dump_rows SOURCES io/dump_rows.c)
ikt_add_script_test(NAME io_source_csr LABEL io SCRIPT io/test_source_csr.sh
    ARGUMENTS $<TARGET_FILE:io_dump_rows>)
ikt_add_script_test(NAME io_sparse LABEL io TIMEOUT 400 SCRIPT io/test_sparse.sh)
ikt_add_script_test(NAME io_convert_sparse LABEL io SCRIPT io/test_convert_sparse.sh)
