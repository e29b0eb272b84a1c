/* A text for each row. See labels.h. */

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "io/formats/csv_file.h"
#include "io/hdf5/columns.h"
#include "io/hdf5/h5.h"
#include "io/sources/labels.h"
#include "io/sources/source.h"

static const char purpose[] = "texts";

/* COLLECTIVE. Opens the strings; *dataset is negative where there are none. */
static ikt_status open_strings(ikt_context *ctx, const ikt_place *p, hid_t *file, hid_t *dataset) {
    char path[IKT_PATH_MAX + 8];
    const char *column = p->part + (p->part[0] == '/');
    *dataset = -1;
    IKT_TRY(ikt_h5_open(ctx, p->file, file));
    for (int in_obs = 0; in_obs < 2 && *dataset < 0; in_obs++) {
        snprintf(path, sizeof path, "%s%s", in_obs ? "obs/" : "", column);
        hid_t object = column[0] && ikt_h5_has(*file, path) ? ikt_h5_open_object(*file, path) : -1;
        if (object >= 0 && H5Iget_type(object) == H5I_DATASET && ikt_h5_is_text(object) &&
            ikt_h5_length(object) >= 0)
            *dataset = object;
        else
            ikt_h5_close(object);
    }
    return IKT_OK;
}

ikt_status ikt_texts_look(ikt_context *ctx, const char *name, ikt_texts_kind *kind) {
    ikt_place p;
    hid_t file = -1, dataset = -1;
    IKT_TRY(ikt_place_find(ctx, name, &p));
    *kind = p.is_csv && p.part[0] ? IKT_TEXTS_CELLS : IKT_TEXTS_NONE;
    if (!p.is_hdf5) return IKT_OK;
    ikt_status st = open_strings(ctx, &p, &file, &dataset);
    if (dataset >= 0) *kind = IKT_TEXTS_STRINGS;
    ikt_h5_close(dataset);
    ikt_h5_close(file);
    return ikt_agree(ctx, st);
}

/* --- gathering -------------------------------------------------------------------------------- */

typedef struct {
    ikt_context *ctx;
    int64_t first, count, rows; /* own rows; rows seen */
    int64_t *start;             /* [count + 1] of each text in the bytes */
    char *bytes;
    int64_t length, capacity;
    bool is_utf8;
} gathering;

static ikt_status gather(void *self, int64_t row, const char *text) {
    gathering *g = self;
    g->rows = row + 1;
    if (row < g->first || row >= g->first + g->count) return IKT_OK;
    const int64_t needed = g->length + 2 * (int64_t)strlen(text) + 1;
    if (needed > g->capacity) {
        IKT_TRY(ikt_resize(g->ctx, &g->bytes, 2 * needed, 1, purpose));
        g->capacity = 2 * needed;
    }
    g->is_utf8 &= ikt_utf8_copy(text, g->bytes + g->length, (size_t)(needed - g->length));
    g->length += (int64_t)strlen(g->bytes + g->length) + 1;
    g->start[row - g->first + 1] = g->length;
    return IKT_OK;
}

/* COLLECTIVE. The strings of an HDF5 file. */
static ikt_status read_strings(const ikt_place *p, int64_t n, gathering *g) {
    hid_t file = -1, dataset = -1;
    ikt_status st = open_strings(g->ctx, p, &file, &dataset);
    if (st == IKT_OK && dataset < 0) st = ikt_h5_missing(g->ctx, file, p->file, p->part);
    const int64_t length = ikt_h5_length(dataset);
    if (st == IKT_OK && length == n)
        st = ikt_h5_visit_whole_texts(g->ctx, dataset, g->first, g->count, gather, g);
    g->rows = length;
    ikt_h5_close(dataset);
    ikt_h5_close(file);
    return st;
}

static ikt_status read_texts(const ikt_place *p, int64_t n, gathering *g) {
    IKT_TRY(
        ikt_agree(g->ctx, ikt_alloc(g->ctx, &g->start, g->count + 1, sizeof *g->start, purpose)));
    ikt_status st = p->is_hdf5 ? read_strings(p, n, g)
                               : ikt_csv_visit_column(g->ctx, p->file, p->part, gather, g);
    if (st == IKT_OK && g->rows != n)
        st = ikt_fail(g->ctx, IKT_ERR_DATA, "%s: '%s' has %lld texts, but there are %lld rows",
                      p->file, p->part, (long long)g->rows, (long long)n);
    if (st == IKT_OK && !g->is_utf8 && !p->is_hdf5) ikt_h5_warn_latin1(g->ctx, p->file);
    return ikt_agree(g->ctx, st);
}

ikt_status ikt_texts_read(ikt_context *ctx, const char *name, int64_t n, int64_t first,
                          int64_t count, ikt_texts *out) {
    gathering g = {.ctx = ctx, .first = first, .count = count, .is_utf8 = true};
    ikt_place p;
    *out = (ikt_texts){.count = count};
    IKT_TRY(ikt_place_find(ctx, name, &p));
    ikt_status st = read_texts(&p, n, &g);
    if (st == IKT_OK)
        st = ikt_agree(ctx, ikt_alloc(ctx, &out->text, count, sizeof *out->text, purpose));
    for (int64_t i = 0; i < count && st == IKT_OK; i++)
        out->text[i] = g.bytes + g.start[i];
    out->bytes = g.bytes;
    ikt_free(&g.start);
    return st;
}

void ikt_texts_free(ikt_texts *texts) {
    ikt_free(&texts->text);
    ikt_free(&texts->bytes);
}
