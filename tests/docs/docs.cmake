# What the documents say is what the program does.
ikt_add_script_test(NAME docs_settings LABEL docs SCRIPT docs/settings_page.sh)
ikt_add_script_test(NAME docs_commands LABEL docs TIMEOUT 600 SCRIPT docs/commands.sh)
ikt_add_script_test(NAME docs_files LABEL docs SCRIPT docs/files.sh)
ikt_add_script_test(NAME docs_links LABEL docs SCRIPT docs/links.sh)
