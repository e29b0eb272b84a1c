/* Documents about the program, printed without MPI: manual pages and completions of shells. */
#ifndef IKT_APP_DOCUMENT_H
#define IKT_APP_DOCUMENT_H

#include <stdbool.h>

#include "app/verb.h"

/* LOCAL. Whether the command line asks for one: --help=FORM. */
bool ikt_document_wanted(int argc, char **argv);

/* LOCAL, before MPI_Init. Prints what the command line asks for on standard output: the page of the
 * verb it names, the page of the program, or a completion. `verbs` [n] is the table of verbs.
 * Returns an exit code; what fails is said on standard error. */
ikt_status ikt_document_print(int argc, char **argv, const ikt_verb *const *verbs, int n);

/* LOCAL. Help of the program as a whole, as text. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_document_overview(ikt_context *ctx, const ikt_verb *const *verbs, int n);

#endif
