/* Rows of a data set in other forms: as floats whatever they are, and as scores along the leading
 * ones of the components that it is reduced to. See dataset.h. */
#include "base/arrays.h"
#include "data/dataset.h"
#include "io/sources/source_ops.h"

ikt_status ikt_dataset_gather_floats(ikt_dataset *d, const int64_t *rows, int64_t count,
                                     float *out) {
    const int64_t entries = count * ikt_dataset_columns(d);
    if (!ikt_dataset_is_u8(d)) return ikt_dataset_gather(d, rows, count, out);
    IKT_ARRAYS(held, ikt_dataset_source(d)->ctx, "row blocks");
    uint8_t *bytes = ikt_claim(&held, entries, 1);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_dataset_gather(d, rows, count, bytes));
    for (int64_t e = 0; e < entries; e++)
        out[e] = (float)bytes[e];
    return IKT_OK;
}

bool ikt_dataset_has_components(const ikt_dataset *d, int64_t q) {
    const ikt_pca *pca = ikt_dataset_map(d).pca;
    return pca && pca->k >= q;
}

/* The reduced columns are principal components already: a map that stops after q of them gives
 * their scores without computing the others. */
ikt_status ikt_dataset_read_components(ikt_context *ctx, ikt_dataset *d, int64_t q, int64_t first,
                                       int64_t count, double *scores) {
    ikt_data_map map = ikt_dataset_map(d);
    ikt_pca few = *map.pca;
    ikt_dataset *leading IKT_AT_END(ikt_dataset_destroy) = NULL;
    float *rows IKT_AT_END(ikt_free) = NULL;
    few.k = q;
    map.pca = &few;
    IKT_TRY(ikt_dataset_create_mapped(ctx, ikt_dataset_source(d), &map, &leading));
    IKT_TRY(ikt_alloc_all(ctx, &rows, count * q, sizeof *rows, "initial"));
    IKT_TRY(ikt_dataset_read(leading, first, count, rows));
    for (int64_t e = 0; e < count * q; e++)
        scores[e] = (double)rows[e];
    return IKT_OK;
}
