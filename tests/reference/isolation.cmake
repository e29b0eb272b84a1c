ikt_add_test(NAME reference_codes_kernel LABEL reference SOURCES reference/test_codes_kernel.c)
