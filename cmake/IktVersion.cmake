# Writes generated/iktsne/version.h, which is installed, and build.h with the compiler and its flags, which is not.
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
