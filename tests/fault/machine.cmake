# Put before the libraries of the program: disks and memory that fail at will.
foreach(fault no_room no_memory)
    add_library(${fault} MODULE ${CMAKE_CURRENT_SOURCE_DIR}/support/${fault}.c)
    target_link_libraries(${fault} PRIVATE ${CMAKE_DL_LIBS})
endforeach()
ikt_add_script_test(NAME fault_disk LABEL fault TIMEOUT 300 SCRIPT fault/disk.sh)
ikt_add_script_test(NAME fault_memory LABEL fault TIMEOUT 300 SCRIPT fault/memory.sh)
ikt_test_executable(edges SOURCES fault/edges.c)
ikt_add_script_test(NAME fault_edges LABEL fault TIMEOUT 400 SCRIPT fault/edges.sh)
