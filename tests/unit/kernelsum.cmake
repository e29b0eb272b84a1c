ikt_add_test(NAME unit_kernelsum_parts LABEL unit SOURCES unit/test_kernelsum_parts.c)
