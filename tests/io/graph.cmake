ikt_add_script_test(NAME io_graph LABEL io TIMEOUT 300 SCRIPT io/test_graph.sh)
ikt_add_script_test(NAME io_pairwise LABEL io TIMEOUT 300 SCRIPT io/test_pairwise.sh)
ikt_add_script_test(NAME io_similarities LABEL io TIMEOUT 900 SCRIPT io/test_similarities.sh)
ikt_add_script_test(NAME io_projection LABEL io TIMEOUT 600 SCRIPT io/test_projection.sh)
