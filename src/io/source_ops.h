/* What a way of holding rows provides to source.c. */
#ifndef IKT_IO_SOURCE_OPS_H
#define IKT_IO_SOURCE_OPS_H

#include "io/source.h"

typedef struct {
    ikt_status (*read)(ikt_source *source, int64_t first, int64_t count, void *rows);
    ikt_status (*read_labels)(ikt_source *source, const char *dataset, int64_t first, int64_t count,
                              int64_t *labels, bool *present);
    ikt_status (*read_marked)(ikt_source *source, int64_t **rows, int64_t *count);
    ikt_status (*read_text)(ikt_source *source, const char *name, char **text);
    void (*close)(ikt_source *source); /* frees `self` */
} ikt_source_ops;

struct ikt_source {
    ikt_context *ctx;
    const ikt_source_ops *ops;
    void *self;
    int64_t n, d;   /* rows used, columns */
    int64_t n_file; /* rows there are */
    ikt_type type;
    char *name;
};

/* LOCAL. An empty source; `format` and `...` make its name. */
ikt_status ikt_source_new(ikt_context *ctx, const char *file, const char *dataset,
                          ikt_source **out);

#endif
