# What others build on: the build tree installed elsewhere, and programs built against that.
ikt_add_script_test(NAME install_consumer LABEL install TIMEOUT 240 SCRIPT install/consumer.sh
    ARGUMENTS ${PROJECT_BINARY_DIR})
ikt_add_script_test(NAME install_module LABEL install SCRIPT install/module.sh
    ARGUMENTS ${PROJECT_BINARY_DIR})
ikt_add_script_test(NAME install_manual LABEL install SCRIPT install/manual.sh)
ikt_add_script_test(NAME install_completion LABEL install SCRIPT install/completion.sh)
ikt_add_script_test(NAME install_packaging LABEL install SCRIPT install/packaging.sh)
ikt_add_script_test(NAME install_release LABEL install SCRIPT install/release.sh)
ikt_add_script_test(NAME install_generators LABEL install SCRIPT install/generators.sh)
# Installing writes into the build folder: one at a time.
set_tests_properties(install_consumer install_module PROPERTIES RESOURCE_LOCK ikt_install)
if(IKT_SANITIZE)
    # Programs of others would have to be built with the same sanitizers.
    set_tests_properties(install_consumer PROPERTIES DISABLED ON)
endif()
ikt_add_script_test(NAME install_python LABEL install TIMEOUT 400 SCRIPT install/python.sh
    ARGUMENTS ${PROJECT_BINARY_DIR})
set_tests_properties(install_python PROPERTIES RESOURCE_LOCK ikt_install)
if(IKT_SANITIZE)
    set_tests_properties(install_python PROPERTIES DISABLED ON)
endif()
ikt_add_script_test(NAME install_mpich LABEL install TIMEOUT 900 SCRIPT install/mpich.sh
    ARGUMENTS ${PROJECT_BINARY_DIR})
set_property(TEST install_mpich APPEND PROPERTY LABELS long)
ikt_add_script_test(NAME install_wheel LABEL install TIMEOUT 1800 SCRIPT install/wheel.sh)
set_property(TEST install_wheel APPEND PROPERTY LABELS long)
if(IKT_SANITIZE)
    set_tests_properties(install_wheel PROPERTIES DISABLED ON)
endif()
