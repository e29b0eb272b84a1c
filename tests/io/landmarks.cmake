ikt_add_script_test(NAME io_landmarks LABEL io SCRIPT io/test_landmarks.sh)
