ikt_add_test(NAME unit_generate LABEL unit SOURCES unit/test_generate.c)
ikt_add_test(NAME unit_generate_images LABEL unit SOURCES unit/test_generate_images.c)
