ikt_add_script_test(NAME reference_trimap_digits LABEL reference SCRIPT reference/test_trimap_digits.sh PROCESSORS 2)
