ikt_add_test(NAME reference_codes_kernel LABEL reference SOURCES reference/test_codes_kernel.c)
ikt_add_test(NAME reference_near_bytes LABEL reference SOURCES reference/test_near_bytes.c)
ikt_add_test(NAME reference_pyramid LABEL reference SOURCES reference/test_pyramid.c)
