/* What the program is made of. */
#ifndef IKT_APP_VERSION_H
#define IKT_APP_VERSION_H

#include <stdio.h>

/* LOCAL. Version, commit, compiler, libraries with their versions, instruction set. */
void ikt_print_version(FILE *file);

#endif
