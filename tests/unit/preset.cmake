ikt_add_test(NAME unit_preset LABEL unit SOURCES unit/test_preset.c)
