# Scripts that find python3 with h5py, node or Chromium missing skip with 77.
ikt_add_script_test(NAME io_view LABEL io SCRIPT io/test_view.sh)
ikt_add_script_test(NAME io_view_browser LABEL io SCRIPT io/test_view_browser.sh)
