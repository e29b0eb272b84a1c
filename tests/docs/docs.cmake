# What the documents say is what the program does.
ikt_add_script_test(NAME docs_settings LABEL docs SCRIPT docs/settings_page.sh)
