ikt_add_test(NAME unit_legend_names LABEL unit SOURCES unit/test_legend_names.c)
