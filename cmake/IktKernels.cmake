# Files NAME.kernel.c are compiled once for each instruction set: IKT_ISA is its name, LANE_WIDTH the
# lanes of its registers (src/base/lanes.h). Which of them runs is chosen when the program runs
# (src/base/cpu.h). Takes the files from IKT_LIBRARY_SOURCES and adds their objects.
include(CheckCSourceCompiles)
check_c_source_compiles("
    #if !defined(__x86_64__)
    #error
    #endif
    int main(void) { return 0; }" IKT_IS_X86_64)

set(ikt_options_portable -DLANE_WIDTH=4)
set(ikt_options_avx2 -DLANE_WIDTH=8 -mavx2 -mfma)
set(ikt_options_avx512 -DLANE_WIDTH=16 -mavx512f -mavx512bw -mavx512dq -mavx512vl)
set(ikt_options_avx512_vnni ${ikt_options_avx512} -DLANES_VNNI -mavx512vnni)
set(ikt_instruction_sets portable)
if(IKT_IS_X86_64)
    list(APPEND ikt_instruction_sets avx2 avx512 avx512_vnni)
endif()

set(ikt_kernel_sources ${IKT_LIBRARY_SOURCES})
list(FILTER ikt_kernel_sources INCLUDE REGEX "\\.kernel\\.c$")
list(FILTER IKT_LIBRARY_SOURCES EXCLUDE REGEX "\\.kernel\\.c$")
foreach(set IN LISTS ikt_instruction_sets)
    add_library(ikt_kernels_${set} OBJECT ${ikt_kernel_sources})
    target_compile_options(ikt_kernels_${set} PRIVATE -DIKT_ISA=${set} ${ikt_options_${set}})
    list(APPEND ikt_kernels ikt_kernels_${set})
    list(APPEND ikt_kernel_objects $<TARGET_OBJECTS:ikt_kernels_${set}>)
endforeach()
list(APPEND IKT_LIBRARY_SOURCES ${ikt_kernel_objects})
