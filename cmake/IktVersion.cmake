# Writes generated/iktsne/version.h, which is installed, and build.h with the commit and the flags, which
# is not.
# In an archive, which has no history, the file commit.txt names the commit (.gitattributes): it is asked
# first that the sources are a checkout, since they may lie within that of something else.
set(IKT_COMMIT "unknown")
find_package(Git QUIET)
if(Git_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
    execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE ikt_describe
        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE ikt_git_result)
    if(ikt_git_result EQUAL 0)
        set(IKT_COMMIT "${ikt_describe}")
    endif()
else()
    file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/commit.txt ikt_archived LIMIT_COUNT 1)
    if(ikt_archived MATCHES "^[0-9a-f]+$")
        string(SUBSTRING ${ikt_archived} 0 12 IKT_COMMIT)
    endif()
endif()
# Of the sources, not of the day of the build: two builds of one source are alike.
file(STRINGS ${PROJECT_SOURCE_DIR}/CITATION.cff IKT_DATE REGEX "^date-released:")
string(REPLACE "date-released: " "" IKT_DATE "${IKT_DATE}")
string(TOUPPER "${CMAKE_BUILD_TYPE}" ikt_build_type)
set(IKT_COMPILER "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
string(STRIP "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${ikt_build_type}}" IKT_COMPILE_FLAGS)
configure_file(${PROJECT_SOURCE_DIR}/include/iktsne/version.h.in
    ${PROJECT_BINARY_DIR}/generated/iktsne/version.h @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/build.h.in
    ${PROJECT_BINARY_DIR}/generated/iktsne/build.h @ONLY)
