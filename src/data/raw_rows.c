/* The rows of a source as they are. See raw_rows.h. */
#include "data/raw_rows.h"

#include "base/comm.h"
#include "base/memory.h"

void ikt_widen(ikt_type type, const void *from, int64_t count, double *to) {
    if (type == IKT_TYPE_U8) {
        const uint8_t *x = from;
        for (int64_t i = 0; i < count; i++)
            to[i] = x[i];
    } else if (type == IKT_TYPE_F32) {
        const float *x = from;
        for (int64_t i = 0; i < count; i++)
            to[i] = (double)x[i];
    } else {
        const double *x = from;
        for (int64_t i = 0; i < count; i++)
            to[i] = x[i];
    }
}

static ikt_status read_raw(void *self, int64_t first, int64_t count, double *rows) {
    ikt_raw_rows *raw = self;
    const int64_t d = ikt_source_columns(raw->source);
    IKT_TRY(ikt_source_read(raw->source, first, count, raw->native));
    ikt_widen(ikt_source_type(raw->source), raw->native, count * d, rows);
    return IKT_OK;
}

ikt_status ikt_raw_rows_create(ikt_context *ctx, ikt_source *source, ikt_raw_rows *out,
                               ikt_row_reader *reader) {
    const int64_t n = ikt_source_rows(source), d = ikt_source_columns(source);
    const int64_t values = ikt_stream_rows(d, (int64_t)sizeof(double)) * d;
    *out = (ikt_raw_rows){source, NULL};
    *reader = (ikt_row_reader){read_raw, out, n, d, ikt_source_name(source)};
    return ikt_agree(ctx, ikt_alloc(ctx, &out->native, values,
                                    ikt_type_size(ikt_source_type(source)), "row blocks"));
}

void ikt_raw_rows_destroy(ikt_raw_rows *rows) {
    ikt_free(&rows->native);
}
