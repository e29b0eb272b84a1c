# Finds every library the program stands on, says how to get each that is missing, and collects them
# in the interface target ikt_dependencies. Nothing here knows a distribution's paths: libraries are
# found by CMake's own modules, by pkg-config, or by name along CMAKE_PREFIX_PATH.
#
# This file is installed: find_package(iktsne) includes it (with IKT_PACKAGE set) to find again what
# the static library was linked with. So every library is a target here, and all that is linked
# is what ikt_dependencies links: what is added there is in the package without further work.

find_package(PkgConfig QUIET)
set(ikt_missing "")

macro(ikt_missing_library name debian hint)
    list(APPEND ikt_missing "  ${name}: ${hint} (Debian package ${debian})")
endmacro()

# ikt_mpi_abi(OUT FILES): the last number of the MPI library that shared libraries need or are, such as
# 40 of libmpi.so.40 (Open MPI) and 12 of libmpich.so.12, which MPICH's relatives have in common; all
# numbers where they need several, and none where nothing can be told, as of an archive.
function(ikt_mpi_abi out)
    set(numbers "")
    foreach(file IN LISTS ARGN)
        if(CMAKE_OBJDUMP AND file MATCHES "^/.*\\.so")
            execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${file} OUTPUT_VARIABLE text ERROR_QUIET)
            string(REGEX MATCHALL "(NEEDED|SONAME) +libmpi[^\n]*\\.so\\.[0-9]+" found "${text}")
            list(TRANSFORM found REPLACE ".*\\.so\\." "")
            list(APPEND numbers ${found})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES numbers)
    set(${out} "${numbers}" PARENT_SCOPE)
endfunction()

# ikt_of_other_mpi(OUT FILES): whether one of them stands on an MPI that is not the one found. Both
# would be loaded into one process, which fails at the first communicator at best.
function(ikt_of_other_mpi out)
    ikt_mpi_abi(theirs ${ARGN})
    ikt_mpi_abi(ours ${MPI_C_LIBRARIES})
    if(ours AND theirs AND NOT "${theirs}" STREQUAL "${ours}")
        set(${out} ON PARENT_SCOPE)
    else()
        set(${out} OFF PARENT_SCOPE)
    endif()
endfunction()

# ikt_find(TARGET NAMES pkg-config-names LIBRARY names HEADER header): imported target from
# pkg-config where it knows the library, from a plain search otherwise; a library that is there for
# another MPI is passed over.
function(ikt_find target)
    cmake_parse_arguments(ARG "" "HEADER" "PKG;LIBRARY" ${ARGN})
    # A package may be found from several folders; and what IKT_WITHOUT names is not wanted, such as
    # an optional library that happens to be there.
    if(TARGET ikt_dep::${target} OR target IN_LIST IKT_WITHOUT)
        return()
    endif()
    if(PKG_CONFIG_FOUND)
        foreach(name IN LISTS ARG_PKG)
            pkg_check_modules(${name}_PC QUIET IMPORTED_TARGET GLOBAL ${name})
            ikt_of_other_mpi(other ${${name}_PC_LINK_LIBRARIES})
            if(${name}_PC_FOUND AND NOT other)
                add_library(ikt_dep::${target} ALIAS PkgConfig::${name}_PC)
                return()
            endif()
        endforeach()
    endif()
    foreach(name IN LISTS ARG_LIBRARY)
        find_library(${target}_LIBRARY NAMES ${name})
        ikt_of_other_mpi(other ${${target}_LIBRARY})
        if(other)
            message(STATUS "${${target}_LIBRARY} is passed over: it was built for another MPI")
            unset(${target}_LIBRARY CACHE)
        endif()
    endforeach()
    if(ARG_HEADER)
        find_path(${target}_INCLUDE NAMES ${ARG_HEADER})
    endif()
    if(${target}_LIBRARY AND (NOT ARG_HEADER OR ${target}_INCLUDE))
        add_library(ikt_dep::${target} INTERFACE IMPORTED GLOBAL)
        target_link_libraries(ikt_dep::${target} INTERFACE ${${target}_LIBRARY})
        if(ARG_HEADER)
            target_include_directories(ikt_dep::${target} INTERFACE ${${target}_INCLUDE})
        endif()
    endif()
endfunction()

# Debian's MPIs stand beside each other, by the endings of their commands.
if(NOT MPI_EXECUTABLE_SUFFIX AND MPI_C_COMPILER MATCHES "mpicc(\\.[a-z]+)$")
    set(MPI_EXECUTABLE_SUFFIX ${CMAKE_MATCH_1})
endif()
find_package(MPI COMPONENTS C)
if(NOT MPI_C_FOUND)
    ikt_missing_library("MPI" "libopenmpi-dev openmpi-bin" "an MPI 3 library with its compiler wrapper; set MPI_HOME or load its module")
endif()

find_package(OpenMP COMPONENTS C)
if(NOT OpenMP_C_FOUND)
    ikt_missing_library("OpenMP" "gcc, or libomp-dev for clang" "a compiler with OpenMP 4.5")
endif()

set(HDF5_PREFER_PARALLEL TRUE)
if(MPI_EXECUTABLE_SUFFIX AND NOT HDF5_ROOT)
    find_program(HDF5_C_COMPILER_EXECUTABLE NAMES h5pcc${MPI_EXECUTABLE_SUFFIX})
endif()
find_package(HDF5 COMPONENTS C)
ikt_of_other_mpi(ikt_other ${HDF5_C_LIBRARIES})
if(NOT HDF5_FOUND OR NOT HDF5_IS_PARALLEL OR ikt_other)
    ikt_missing_library("parallel HDF5" "libhdf5-openmpi-dev" "HDF5 built with --enable-parallel for the same MPI; set HDF5_ROOT")
endif()

if(HDF5_FOUND AND NOT TARGET ikt_dep::hdf5)
    add_library(ikt_dep::hdf5 INTERFACE IMPORTED GLOBAL)
    target_include_directories(ikt_dep::hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
    target_link_libraries(ikt_dep::hdf5 INTERFACE ${HDF5_C_LIBRARIES})
    target_compile_definitions(ikt_dep::hdf5 INTERFACE ${HDF5_C_DEFINITIONS})
endif()

ikt_find(fftw3 PKG fftw3 LIBRARY fftw3 HEADER fftw3.h)
ikt_find(fftw3f PKG fftw3f LIBRARY fftw3f HEADER fftw3.h)
# Not by pkg-config: FFTW has no file for these two.
ikt_find(fftw3_mpi LIBRARY fftw3_mpi HEADER fftw3-mpi.h)
ikt_find(fftw3f_mpi LIBRARY fftw3f_mpi HEADER fftw3-mpi.h)
ikt_find(yaml PKG yaml-0.1 LIBRARY yaml HEADER yaml.h)
# The plain name first: it is the one a user's own build or a module provides.
ikt_find(scalapack PKG scalapack scalapack-openmpi scalapack-mpich scalapack-mpi
    LIBRARY scalapack scalapack-openmpi scalapack-mpich scalapack-mpi)
if(NOT TARGET ikt_dep::fftw3)
    ikt_missing_library("FFTW 3, double precision" "libfftw3-dev" "set CMAKE_PREFIX_PATH to its prefix")
endif()
if(NOT TARGET ikt_dep::fftw3f)
    ikt_missing_library("FFTW 3, single precision" "libfftw3-dev" "FFTW built with --enable-float")
endif()
if(NOT TARGET ikt_dep::fftw3_mpi OR NOT TARGET ikt_dep::fftw3f_mpi)
    ikt_missing_library("FFTW 3 for MPI, both precisions" "libfftw3-mpi-dev" "FFTW built with --enable-mpi for the same MPI")
endif()
if(NOT TARGET ikt_dep::yaml)
    ikt_missing_library("libyaml" "libyaml-dev" "set CMAKE_PREFIX_PATH to its prefix")
endif()
if(NOT TARGET ikt_dep::scalapack)
    ikt_missing_library("ScaLAPACK" "libscalapack-openmpi-dev" "built for the same MPI; set CMAKE_PREFIX_PATH to its prefix")
endif()
find_package(LAPACK)
if(NOT LAPACK_FOUND)
    ikt_missing_library("LAPACK and BLAS" "libopenblas-dev" "set BLA_VENDOR or CMAKE_PREFIX_PATH")
endif()
find_package(ZLIB)
if(NOT ZLIB_FOUND)
    ikt_missing_library("zlib" "zlib1g-dev" "set CMAKE_PREFIX_PATH to its prefix")
endif()
ikt_find(cairo PKG cairo-pdf LIBRARY cairo HEADER cairo-pdf.h)
if(NOT TARGET ikt_dep::cairo)
    ikt_missing_library("cairo" "libcairo2-dev" "built with PNG and PDF; set CMAKE_PREFIX_PATH to its prefix")
endif()
ikt_find(pango PKG pangocairo)
if(NOT TARGET ikt_dep::pango)
    ikt_missing_library("Pango" "libpango1.0-dev" "with cairo, found by pkg-config; set PKG_CONFIG_PATH to its pangocairo.pc")
endif()
# Optional: what writes and reads further formats. A build without them says so when one is asked for.
ikt_find(libzip PKG libzip LIBRARY zip HEADER zip.h)
# Not by pkg-config, which names the HDF5 of matio as well: a serial one, and ours is parallel.
ikt_find(matio LIBRARY matio HEADER matio.h)
if(IKT_BUILD_TESTS)
    find_package(PNG)
    if(NOT PNG_FOUND)
        ikt_missing_library("libpng" "libpng-dev" "needed for the tests; -DIKT_BUILD_TESTS=OFF builds without them")
    endif()
    ikt_find(cmocka PKG cmocka LIBRARY cmocka HEADER cmocka.h)
    if(NOT TARGET ikt_dep::cmocka)
        ikt_missing_library("cmocka" "libcmocka-dev" "needed for the tests; -DIKT_BUILD_TESTS=OFF builds without them")
    endif()
endif()

if(ikt_missing AND IKT_PACKAGE) # the package's file says it
    return()
elseif(ikt_missing)
    list(JOIN ikt_missing "\n" ikt_missing_text)
    message(FATAL_ERROR "iktsne needs libraries that were not found:\n${ikt_missing_text}\n"
        "scripts/install-dependencies.sh installs all of them on Debian.")
endif()

if(TARGET ikt_dependencies)
    return()
endif()
add_library(ikt_dependencies INTERFACE)
target_link_libraries(ikt_dependencies INTERFACE MPI::MPI_C OpenMP::OpenMP_C ikt_dep::hdf5
    ikt_dep::fftw3_mpi ikt_dep::fftw3f_mpi ikt_dep::fftw3 ikt_dep::fftw3f ikt_dep::yaml ikt_dep::scalapack LAPACK::LAPACK ikt_dep::cairo ikt_dep::pango ZLIB::ZLIB m)
foreach(optional "libzip;IKT_HAVE_LIBZIP;NPZ archives will not be read;libzip-dev"
    "matio;IKT_HAVE_MATIO;MATLAB files before version 7.3 will not be read;libmatio-dev")
    list(GET optional 0 library)
    if(TARGET ikt_dep::${library})
        list(GET optional 1 definition)
        target_link_libraries(ikt_dependencies INTERFACE ikt_dep::${library})
        target_compile_definitions(ikt_dependencies INTERFACE ${definition})
    else()
        list(GET optional 2 what)
        list(GET optional 3 debian)
        message(STATUS "${library} was not found: ${what} (Debian package ${debian})")
    endif()
endforeach()
