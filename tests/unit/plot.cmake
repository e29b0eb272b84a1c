ikt_add_test(NAME unit_plot_colours LABEL unit SOURCES unit/test_plot_colours.c)
ikt_add_test(NAME unit_plot_draw LABEL unit SOURCES unit/test_plot_draw.c)
