ikt_add_script_test(NAME io_metric LABEL io TIMEOUT 400 SCRIPT io/test_metric.sh)
ikt_add_script_test(NAME io_graph_formats LABEL io TIMEOUT 400 SCRIPT io/test_graph_formats.sh)
