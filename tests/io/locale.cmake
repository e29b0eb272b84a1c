ikt_test_executable(io_locale_host SOURCES io/locale_host.c)
ikt_add_script_test(NAME io_locale LABEL io SCRIPT io/test_locale.sh
    ARGUMENTS $<TARGET_FILE:io_locale_host>)
