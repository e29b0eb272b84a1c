/* What a program that calls the library lends in place of files: a graph, a matrix of all pairs, or
 * positions to start from, in memory.
 *
 * Where a file of these is named in the settings (input.graph, layout.init_file), the name of an
 * array that the context was lent stands for that array: all that opens such a file opens the array
 * in the same way. Advantage: nothing between the settings and the array has to know of it.
 */
#ifndef IKT_IO_SOURCES_LENT_H
#define IKT_IO_SOURCES_LENT_H

#include "io/sources/source.h"

/* The names. */
#define IKT_LENT_GRAPH "memory:graph"
#define IKT_LENT_PAIRS "memory:pairs"
#define IKT_LENT_START "memory:start"

/* Sources of the program's arrays; each may be NULL. */
typedef struct {
    ikt_source *graph; /* n x n, of ikt_source_from_csr */
    ikt_source *pairs; /* n x n, dense */
    ikt_source *start; /* n x dimensions, dense */
} ikt_lent;

/* SAME-ARGS. Lends them to a context until the next call; NULL: nothing any more. */
void ikt_lend(ikt_context *ctx, const ikt_lent *lent);

/* LOCAL. What the context is lent, or NULL. */
const ikt_lent *ikt_lent_of(const ikt_context *ctx);

/* LOCAL. The source of that name; NULL where the name is none of these, or nothing is lent. */
ikt_source *ikt_lent_find(const ikt_context *ctx, const char *name);

#endif
