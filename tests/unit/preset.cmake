ikt_add_test(NAME unit_preset LABEL unit SOURCES unit/test_preset.c)
ikt_add_test(NAME unit_unused_settings LABEL unit SOURCES unit/test_unused.c)
