ikt_add_script_test(NAME house_rules LABEL unit SCRIPT house/check.sh)
