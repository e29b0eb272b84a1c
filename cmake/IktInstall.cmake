# What `cmake --install` puts where: program, library, headers, how CMake and pkg-config find them,
# manual pages, completions, modules, documents. Nothing of it names the folder it was built in, and
# but for the environment modules, which have a second guess, nothing the folder it is installed in.
include(CMakePackageConfigHelpers)
include(IktPkgConfig)

set(ikt_share ${CMAKE_INSTALL_DATADIR}/iktsne)
set(ikt_package ${CMAKE_INSTALL_LIBDIR}/cmake/iktsne)

# --- program, library, headers -------------------------------------------------------------------
if(TARGET iktsne_program)
    install(TARGETS iktsne_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(NOT IKT_MPI) # ScaLAPACK and its calls of MPI are in no system
    get_target_property(ikt_scalapack ikt_dep::scalapack INTERFACE_LINK_LIBRARIES)
    cmake_path(GET ikt_scalapack PARENT_PATH ikt_beside)
    install(FILES ${ikt_scalapack} ${ikt_beside}/libikt-one-process.so DESTINATION ${CMAKE_INSTALL_LIBDIR})
    if(TARGET iktsne_program)
        set_target_properties(iktsne_program PROPERTIES INSTALL_RPATH "\$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    endif()
endif()
install(TARGETS iktsne EXPORT iktsneTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/iktsne DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/generated/iktsne/version.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/iktsne)

# --- find_package(iktsne) ------------------------------------------------------------------------
# An archive hands on what it was linked with: the package finds the same targets again by the file
# that found them here. A shared library needs MPI only, for its headers.
install(FILES cmake/IktMpi.cmake DESTINATION ${ikt_package})
set(IKT_LINKED "")
if(NOT BUILD_SHARED_LIBS)
    get_target_property(IKT_LINKED ikt_dependencies INTERFACE_LINK_LIBRARIES)
    target_link_libraries(iktsne INTERFACE $<INSTALL_INTERFACE:$<LINK_ONLY:iktsne::dependencies>>)
    install(FILES cmake/IktDependencies.cmake DESTINATION ${ikt_package})
endif()
configure_package_config_file(cmake/iktsneConfig.cmake.in
    ${PROJECT_BINARY_DIR}/package/iktsneConfig.cmake INSTALL_DESTINATION ${ikt_package})
# Until 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/iktsneConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/iktsneConfig.cmake
    ${PROJECT_BINARY_DIR}/package/iktsneConfigVersion.cmake DESTINATION ${ikt_package})
install(EXPORT iktsneTargets NAMESPACE iktsne:: DESTINATION ${ikt_package})

# --- pkg-config ----------------------------------------------------------------------------------
ikt_pkg_config(${PROJECT_BINARY_DIR}/package/iktsne.pc)
install(FILES ${PROJECT_BINARY_DIR}/package/iktsne.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# --- manual pages and completions, which the program prints itself --------------------------------
if(TARGET iktsne_program AND NOT CMAKE_CROSSCOMPILING)
    set(ikt_manual ${PROJECT_BINARY_DIR}/manual)
    add_custom_command(OUTPUT ${ikt_manual}/made
        COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:iktsne_program> -DFOLDER=${ikt_manual}
            -P ${PROJECT_SOURCE_DIR}/cmake/IktManual.cmake
        DEPENDS iktsne_program ${PROJECT_SOURCE_DIR}/cmake/IktManual.cmake
        COMMENT "Writing manual pages and completions" VERBATIM)
    add_custom_target(ikt_manual ALL DEPENDS ${ikt_manual}/made)
    install(DIRECTORY ${ikt_manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
    install(FILES ${ikt_manual}/iktsne.bash RENAME iktsne
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${ikt_manual}/iktsne.zsh RENAME _iktsne
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${ikt_manual}/iktsne.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# --- environment modules -------------------------------------------------------------------------
# Both are three folders below share; share is one below the prefix, unless told otherwise.
file(RELATIVE_PATH IKT_MODULE_TO_PREFIX ${CMAKE_INSTALL_FULL_DATADIR}/iktsne/modules/iktsne
    ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" IKT_MODULE_TO_PREFIX ${IKT_MODULE_TO_PREFIX})
foreach(language tcl lua)
    configure_file(packaging/modules/iktsne.${language}.in
        ${PROJECT_BINARY_DIR}/package/module.${language} @ONLY)
endforeach()
# The prefix is known when it is installed.
function(ikt_install_module language folder name)
    install(CODE "
        file(READ ${PROJECT_BINARY_DIR}/package/module.${language} text)
        string(REPLACE %PREFIX% \"\${CMAKE_INSTALL_PREFIX}\" text \"\${text}\")
        file(WRITE ${PROJECT_BINARY_DIR}/package/${folder}/${name} \"\${text}\")")
    install(FILES ${PROJECT_BINARY_DIR}/package/${folder}/${name}
        DESTINATION ${ikt_share}/${folder}/iktsne)
endfunction()
ikt_install_module(tcl modules ${PROJECT_VERSION})
ikt_install_module(lua lmod ${PROJECT_VERSION}.lua)

# --- documents and examples ----------------------------------------------------------------------
install(FILES LICENSE README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(DIRECTORY config DESTINATION ${ikt_share})
install(DIRECTORY jobs DESTINATION ${ikt_share} USE_SOURCE_PERMISSIONS)
install(PROGRAMS scripts/self-test.sh DESTINATION ${ikt_share})
install(FILES packaging/reframe/iktsne_check.py DESTINATION ${ikt_share}/reframe)
install(DIRECTORY examples DESTINATION ${ikt_share} PATTERN build EXCLUDE)
