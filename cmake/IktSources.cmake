# Writes generated/sources.c with the commit that is built and a hash of all sources: the commit is for people, the
# hash is what a checkpoint knows the program by that made it, since a commit says nothing of what was changed
# since. It is made anew whenever a source changes or the checkout moves to another commit.
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
    file(GLOB_RECURSE files ${FOLDER}/src/*.c ${FOLDER}/src/*.h)
    list(SORT files)
    set(hashes "")
    foreach(file IN LISTS files)
        file(SHA256 ${file} hash)
        string(APPEND hashes "${hash}")
    endforeach()
    string(SHA256 hash "${hashes}")
    string(SUBSTRING ${hash} 0 16 hash)
    file(WRITE ${OUT} "#include \"base/build.h\"\nconst char *const ikt_commit = \"${commit}\";\n"
        "const char *const ikt_sources_hash = \"${hash}\";\n")
    return()
endif()
set(ikt_sources_file ${PROJECT_BINARY_DIR}/generated/sources.c)
file(GLOB_RECURSE ikt_hashed_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.c
    ${PROJECT_SOURCE_DIR}/src/*.h)
# Git writes a line into this file whenever the checkout moves; a worktree has its own.
set(ikt_moves "")
find_package(Git QUIET)
if(Git_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --git-path logs/HEAD
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE ikt_moves
        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    get_filename_component(ikt_moves "${ikt_moves}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    if(NOT EXISTS "${ikt_moves}")
        set(ikt_moves "")
    endif()
endif()
add_custom_command(OUTPUT ${ikt_sources_file}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR} -DOUT=${ikt_sources_file} -DGIT=${GIT_EXECUTABLE}
        -P ${PROJECT_SOURCE_DIR}/cmake/IktSources.cmake
    DEPENDS ${ikt_hashed_sources} ${ikt_moves} ${PROJECT_SOURCE_DIR}/cmake/IktSources.cmake
    VERBATIM)
add_custom_target(ikt_sources DEPENDS ${ikt_sources_file})
list(APPEND IKT_LIBRARY_SOURCES ${ikt_sources_file})
