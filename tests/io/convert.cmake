ikt_add_mpi_test(NAME io_libsvm_ranks LABEL io SOURCES io/test_io_libsvm_ranks.c)
ikt_add_script_test(NAME io_convert_formats LABEL io TIMEOUT 300 SCRIPT io/test_convert_formats.sh)
