# Writes generated/sources.c with the commit that is built and a hash of all that decides what the program
# computes: the commit is for people, the hash is what a checkpoint or a study knows the program by that made it,
# since a commit may change pages alone, and says nothing of what was changed since. Both are asked at every
# build, and the file is written where they have changed.
# In an archive, which has no history, the file commit.txt names the commit (.gitattributes): it is asked
# first that the sources are a checkout, since they may lie within that of something else.
# Run as a script (-P) it writes the file; included it adds the file to IKT_LIBRARY_SOURCES.
if(CMAKE_SCRIPT_MODE_FILE)
    set(commit "unknown")
    if(GIT AND EXISTS ${FOLDER}/.git)
        execute_process(COMMAND ${GIT} describe --always --dirty WORKING_DIRECTORY ${FOLDER}
            OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
        if(result EQUAL 0)
            set(commit "${described}")
        endif()
    else()
        file(STRINGS ${FOLDER}/cmake/commit.txt archived LIMIT_COUNT 1)
        if(archived MATCHES "^[0-9a-f]+$")
            string(SUBSTRING ${archived} 0 12 commit)
        endif()
    endif()
    file(GLOB_RECURSE files ${FOLDER}/src/*.c ${FOLDER}/src/*.h ${FOLDER}/include/* ${FOLDER}/one_process/*
        ${FOLDER}/cmake/*.cmake ${FOLDER}/cmake/*.in)
    list(APPEND files ${FOLDER}/CMakeLists.txt)
    list(SORT files)
    set(hashes "")
    foreach(file IN LISTS files)
        file(SHA256 ${file} hash)
        string(APPEND hashes "${hash}")
    endforeach()
    string(SHA256 hash "${hashes}")
    string(SUBSTRING ${hash} 0 16 hash)
    set(text "#include \"base/build.h\"\nconst char *const ikt_commit = \"${commit}\";\n")
    string(APPEND text "const char *const ikt_sources_hash = \"${hash}\";\n")
    set(written "")
    if(EXISTS ${OUT})
        file(READ ${OUT} written)
    endif()
    if(NOT written STREQUAL text)
        file(WRITE ${OUT} "${text}")
    endif()
    return()
endif()
find_package(Git QUIET)
set(ikt_sources_file ${PROJECT_BINARY_DIR}/generated/sources.c)
add_custom_target(ikt_sources
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR} -DOUT=${ikt_sources_file} -DGIT=${GIT_EXECUTABLE}
        -P ${PROJECT_SOURCE_DIR}/cmake/IktSources.cmake
    BYPRODUCTS ${ikt_sources_file}
    VERBATIM)
list(APPEND IKT_LIBRARY_SOURCES ${ikt_sources_file})
