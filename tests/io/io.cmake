# Foreign formats are read on one rank.
ikt_add_mpi_test(NAME io_binary LABEL io RANKS 1 SOURCES io/test_io_binary.c)
ikt_add_mpi_test(NAME io_csv LABEL io RANKS 1 SOURCES io/test_io_csv.c)
ikt_add_mpi_test(NAME io_libsvm LABEL io RANKS 1 SOURCES io/test_io_libsvm.c)

ikt_add_mpi_test(NAME io_source LABEL io SOURCES io/test_io_source.c)
ikt_add_mpi_test(NAME io_table LABEL io SOURCES io/test_io_table.c)
ikt_add_mpi_test(NAME io_result LABEL io SOURCES io/test_io_result.c)
ikt_add_mpi_test(NAME io_model_file LABEL io SOURCES io/test_model_file.c)
ikt_add_mpi_test(NAME io_stage_file LABEL io SOURCES io/test_stage_file.c)
ikt_add_mpi_test(NAME io_seal LABEL io RANKS 1 3 SOURCES io/test_seal.c)

ikt_test_executable(io_write_result SOURCES io/write_result.c)
ikt_add_script_test(NAME io_h5py LABEL io SCRIPT io/test_io_h5py.sh
    ARGUMENTS $<TARGET_FILE:io_write_result>)

# The verb is of the program, not of the library, so the test brings it along.
ikt_add_mpi_test(NAME io_convert LABEL io RANKS 1 3
    SOURCES io/test_io_convert.c ${PROJECT_SOURCE_DIR}/src/app/verb_convert.c
    ${ikt_option_sources})
