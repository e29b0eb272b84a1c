ikt_add_mpi_test(NAME io_flat LABEL io RANKS 1 3 SOURCES io/test_io_flat.c)
ikt_test_executable(io_dump_source SOURCES io/dump_source.c)
ikt_add_script_test(NAME io_inputs LABEL io SCRIPT io/test_inputs.sh
    ARGUMENTS $<TARGET_FILE:io_dump_source>)
ikt_add_script_test(NAME io_texts LABEL io SCRIPT io/test_texts.sh
    ARGUMENTS $<TARGET_FILE:io_dump_source>)
ikt_add_script_test(NAME io_vector_files LABEL io SCRIPT io/test_vector_files.sh
    ARGUMENTS $<TARGET_FILE:io_dump_source>)
ikt_add_script_test(NAME io_direct LABEL io SCRIPT io/test_direct.sh)
ikt_test_executable(write_h5ad SOURCES support/write_h5ad.c)
ikt_add_script_test(NAME io_by_columns LABEL io SCRIPT io/test_by_columns.sh)
ikt_add_script_test(NAME io_virtual LABEL io TIMEOUT 120 SCRIPT io/test_virtual.sh)
ikt_add_script_test(NAME io_hdfstore LABEL io TIMEOUT 120 SCRIPT io/test_hdfstore.sh)
