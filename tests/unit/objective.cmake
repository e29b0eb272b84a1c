ikt_add_test(NAME unit_attraction LABEL unit SOURCES unit/test_attraction.c)
ikt_add_test(NAME unit_phases LABEL unit SOURCES unit/test_phases.c)
ikt_add_test(NAME unit_layout_settings LABEL unit SOURCES unit/test_layout_settings.c)
ikt_add_test(NAME unit_loop LABEL unit SOURCES unit/test_loop.c)
