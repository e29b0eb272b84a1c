/* A generated set as a file: every rank generates and writes its own rows, some at a time. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "config/value.h"
#include "data/generate.h"
#include "dist/rows.h"
#include "iktsne/version.h"
#include "io/convert/table_writer.h"
#include "linalg/blocks.h"

static ikt_status write_attributes(ikt_generation *g, ikt_table_writer *writer) {
    char text[IKT_STRING_MAX];
    snprintf(text, sizeof text, "%" PRIu64, g->seed);
    IKT_TRY(ikt_table_attribute(writer, "generator", g->generator->name));
    IKT_TRY(ikt_table_attribute(writer, "program", "iktsne " IKT_VERSION));
    IKT_TRY(ikt_table_attribute(writer, "seed", text));
    for (const ikt_generate_use *use = g->generator->uses; use->key; use++)
        for (size_t k = 0; k < ikt_generate_section.n_keys; k++) {
            const ikt_key *key = &ikt_generate_section.keys[k];
            if (strcmp(key->name, use->key) != 0) continue;
            ikt_value_print(key, (const char *)&g->settings + key->offset, text, sizeof text);
            IKT_TRY(ikt_table_attribute(writer, key->name, text));
        }
    if (g->origin < 0) return IKT_OK;
    return ikt_table_marked(writer, &g->origin, 1);
}

/* Goes through this rank's rows; ranks that are done take part with none. */
static ikt_status write_rows(ikt_generation *g, ikt_table_writer *writer, int64_t block, void *rows,
                             int32_t *labels) {
    ikt_rows distribution = ikt_rows_make(g->settings.points, ikt_size(g->ctx), ikt_rank(g->ctx));
    ikt_row_range mine = {distribution.first, distribution.count};
    int64_t steps = ikt_stream_steps(g->ctx, distribution.count, block);
    for (int64_t step = 0; step < steps; step++) {
        ikt_row_range part = ikt_stream_step(mine, block, step);
        ikt_generation_fill(g, part.first, part.count, rows, labels);
        IKT_TRY(
            ikt_table_write(writer, part.first, part.count, rows, g->has_labels ? labels : NULL));
        ikt_progress(g->ctx, "rows", part.first + part.count - distribution.first,
                     distribution.count, NULL);
    }
    return IKT_OK;
}

ikt_status ikt_generation_write(ikt_generation *g, const char *path, bool overwrite) {
    ikt_type type = g->generator->type;
    int64_t element = (int64_t)ikt_type_size(type), block = ikt_stream_rows(g->columns, element);
    ikt_table_writer *writer = NULL;
    char *rows = NULL;
    int32_t *labels = NULL;
    ikt_status st = ikt_alloc(g->ctx, &rows, block, (size_t)(g->columns * element), "generation");
    if (st == IKT_OK) st = ikt_alloc(g->ctx, &labels, block, sizeof *labels, "generation");
    st = ikt_agree(g->ctx, st);
    if (st == IKT_OK)
        st = ikt_table_create(g->ctx, path, overwrite, g->settings.points, g->columns, type,
                              g->has_labels, &writer);
    if (st == IKT_OK) st = write_attributes(g, writer);
    if (st == IKT_OK) st = write_rows(g, writer, block, rows, labels);
    st = ikt_table_close(&writer, st);
    ikt_free(&rows);
    ikt_free(&labels);
    if (st == IKT_OK)
        ikt_log_numbers(g->ctx, IKT_LOG_STAGE,
                        (ikt_log_number[]){IKT_LOG_INT("rows", g->settings.points),
                                           IKT_LOG_INT("columns", g->columns),
                                           {0}},
                        "%s: %" PRId64 " x %" PRId64 " %s, %s", path, g->settings.points,
                        g->columns, ikt_type_name(type), g->generator->name);
    return st;
}
