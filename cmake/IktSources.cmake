# Writes generated/sources.c with a hash of all sources, by which a checkpoint knows the program that made
# it: the commit alone says nothing of what was changed since. It is made anew whenever a source changes.
# Run as a script (-P) it writes the file; included it adds the file to IKT_LIBRARY_SOURCES.
if(CMAKE_SCRIPT_MODE_FILE)
    file(GLOB_RECURSE files ${FOLDER}/*.c ${FOLDER}/*.h)
    list(SORT files)
    set(hashes "")
    foreach(file IN LISTS files)
        file(SHA256 ${file} hash)
        string(APPEND hashes "${hash}")
    endforeach()
    string(SHA256 hash "${hashes}")
    string(SUBSTRING ${hash} 0 16 hash)
    file(WRITE ${OUT} "#include \"base/build.h\"\nconst char *const ikt_sources_hash = \"${hash}\";\n")
    return()
endif()
set(ikt_sources_file ${PROJECT_BINARY_DIR}/generated/sources.c)
file(GLOB_RECURSE ikt_hashed_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.c
    ${PROJECT_SOURCE_DIR}/src/*.h)
add_custom_command(OUTPUT ${ikt_sources_file}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/src -DOUT=${ikt_sources_file}
        -P ${PROJECT_SOURCE_DIR}/cmake/IktSources.cmake
    DEPENDS ${ikt_hashed_sources} ${PROJECT_SOURCE_DIR}/cmake/IktSources.cmake
    VERBATIM)
list(APPEND IKT_LIBRARY_SOURCES ${ikt_sources_file})
