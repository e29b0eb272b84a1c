/* The standard streams under other names. Distributions compile archives for programs: an object
 * of libhdf5.a then reaches `stderr` in a way that a shared object, such as an extension module of
 * Python, cannot have. The linker leads it here (--wrap, cmake/IktDependencies.cmake). */
#include <stdio.h>

extern FILE *__real_stderr, *__real_stdout; /* the C library's */
extern FILE *__wrap_stderr, *__wrap_stdout;
FILE *__wrap_stderr, *__wrap_stdout;

__attribute__((constructor)) static void open_streams(void) {
    __wrap_stderr = __real_stderr;
    __wrap_stdout = __real_stdout;
}
