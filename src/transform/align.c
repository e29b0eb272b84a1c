/* A finished embedding brought near to another. See align.h. */
#include "transform/align.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "base/sort.h"
#include "evaluate/measure.h"
#include "pipeline/notes.h"

/* The reference, as far as it is needed here. */
typedef struct {
    ikt_result_file *reference;
    float *y;      /* [count * q] of the reference */
    int64_t count; /* rows of this rank that are matched */
} matched;

static void matched_free(matched *m) {
    ikt_free(&m->y);
    ikt_result_close(&m->reference);
}

static ikt_status check_files(ikt_context *ctx, const ikt_align_request *request,
                              const ikt_aligned *a, const ikt_result_file *reference) {
    const int64_t n = ikt_result_rows(a->file), m = ikt_result_rows(reference);
    const int q = ikt_result_dimensions(a->file), p = ikt_result_dimensions(reference);
    if (q != p)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s has %d dimension%s, but %s has %d", request->run, q,
                        ikt_plural(q), request->reference, p);
    if (request->rows > n || request->rows > m)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--rows %" PRId64 ", but %s has %" PRId64 " rows and %s has %" PRId64,
                        request->rows, request->run, n, request->reference, m);
    if (n == m || request->rows > 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s has %" PRId64 " rows, but %s has %" PRId64
                    "; --rows N takes the first N of both as the same",
                    request->run, n, request->reference, m);
}

static ikt_status read_places(ikt_context *ctx, ikt_aligned *a, matched *m) {
    const int q = ikt_result_dimensions(a->file);
    const int64_t first = a->distribution.first, count = a->distribution.count;
    m->count = ikt_smaller(ikt_larger(a->rows - first, 0), count);
    const int64_t from = m->count > 0 ? first : 0;
    IKT_TRY(ikt_alloc_all(ctx, &a->y, q * count, sizeof *a->y, "embedding"));
    IKT_TRY(ikt_alloc_all(ctx, &m->y, q * m->count, sizeof *m->y, "reference"));
    IKT_TRY(ikt_alloc_all(ctx, &a->displacement, count, sizeof *a->displacement, "displacement"));
    IKT_TRY(ikt_result_read_embedding(a->file, first, count, a->y));
    return ikt_result_read_embedding(m->reference, from, m->count, m->y);
}

/* --- classes ---------------------------------------------------------------------------------- */

enum { SUMS = IKT_PROCRUSTES_MOST + 1 }; /* of a class: its shift, the squares */

/* COLLECTIVE. Sums over the rows of each class, and what they say. */
static ikt_status sum_classes(ikt_context *ctx, const matched *m, const ikt_classes *classes,
                              ikt_aligned *a) {
    const int64_t count = classes->count;
    const int q = a->motion.q;
    IKT_ARRAYS(held, ctx, "classes");
    ikt_exact_sum *sum = ikt_claim(&held, count * SUMS, sizeof *sum);
    int64_t *rows = ikt_claim(&held, count, sizeof *rows);
    a->class = ikt_claim_kept(&held, count, sizeof *a->class);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < m->count; i++) {
        const int64_t k = ikt_classes_number(classes, a->labels[i]);
        for (int c = 0; c < q; c++)
            ikt_exact_sum_add(&sum[k * SUMS + c],
                              (double)a->y[q * i + c] - (double)m->y[q * i + c]);
        ikt_exact_sum_add(&sum[k * SUMS + SUMS - 1], a->displacement[i] * a->displacement[i]);
        rows[k]++;
    }
    ikt_exact_sum_reduce(ctx, sum, count * SUMS);
    ikt_sum_i64(ctx, rows, count);
    for (int64_t k = 0; k < count; k++) {
        const ikt_exact_sum *of = sum + k * SUMS;
        double square = 0;
        for (int c = 0; c < q; c++) {
            const double mean = ikt_exact_sum_value(&of[c]) / (double)rows[k];
            square += mean * mean;
        }
        const double spread = ikt_exact_sum_value(&of[SUMS - 1]) / (double)rows[k];
        a->class[k] = (ikt_align_class){.label = classes->label[k],
                                        .rows = rows[k],
                                        .shift = sqrt(square) / a->motion.size,
                                        .rms = sqrt(spread) / a->motion.size};
    }
    a->classes = count;
    return IKT_OK;
}

static ikt_status align(ikt_context *ctx, const ikt_align_request *request, ikt_aligned *a,
                        matched *m) {
    const int q = ikt_result_dimensions(a->file);
    const size_t row_bytes = (size_t)q * sizeof *a->y;
    ikt_exact_sum squares = {{0}, 0, 0};
    ikt_classes classes IKT_AT_END(ikt_classes_destroy) = {0};
    bool has_labels = false;
    IKT_TRY(read_places(ctx, a, m));
    a->run_hash = ikt_row_hash(ctx, a->y, a->distribution.first, a->distribution.count, row_bytes);
    a->reference_hash = ikt_row_hash(ctx, m->y, a->distribution.first, m->count, row_bytes);
    IKT_TRY(ikt_procrustes_fit(ctx, q, a->y, m->y, m->count, request->mirror, request->scale,
                               &a->motion));
    ikt_procrustes_apply(&a->motion, a->y, a->distribution.count, a->y);
    a->hash = ikt_row_hash(ctx, a->y, a->distribution.first, a->distribution.count, row_bytes);
    /* Distances of the moved rows from the reference. */
    for (int64_t i = 0; i < a->distribution.count; i++) {
        double square = 0;
        for (int c = 0; c < q && i < m->count; c++) {
            const double away = (double)a->y[q * i + c] - (double)m->y[q * i + c];
            square += away * away;
        }
        a->displacement[i] = i < m->count ? sqrt(square) : NAN;
        if (i < m->count) ikt_exact_sum_add(&squares, square);
    }
    ikt_exact_sum_reduce(ctx, &squares, 1);
    a->residual = sqrt(ikt_exact_sum_value(&squares) / (double)a->rows) / a->motion.size;
    IKT_TRY(ikt_alloc_all(ctx, &a->labels, a->distribution.count, sizeof *a->labels, "labels"));
    IKT_TRY(ikt_result_read_labels(a->file, "labels", a->distribution.first, a->distribution.count,
                                   a->labels, &has_labels));
    if (!has_labels) ikt_free(&a->labels);
    if (ikt_max_one(ctx, a->labels != NULL) == 0) return IKT_OK;
    IKT_TRY(ikt_classes_find(ctx, a->labels, m->count, &classes));
    return classes.count <= IKT_ALIGN_CLASSES ? sum_classes(ctx, m, &classes, a) : IKT_OK;
}

ikt_status ikt_align_run(ikt_context *ctx, const ikt_align_request *request, ikt_aligned *out) {
    matched m IKT_AT_END(matched_free) = {.reference = NULL};
    *out = (ikt_aligned){.file = NULL};
    IKT_TRY(ikt_result_open(ctx, request->run, &out->file));
    IKT_TRY(ikt_result_open(ctx, request->reference, &m.reference));
    IKT_TRY(check_files(ctx, request, out, m.reference));
    const int64_t n = ikt_result_rows(out->file);
    out->distribution = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    out->rows = request->rows > 0 ? request->rows : n;
    return align(ctx, request, out, &m);
}

void ikt_aligned_destroy(ikt_aligned *a) {
    ikt_result_close(&a->file);
    ikt_free_all(&a->y, &a->displacement, &a->labels, &a->class, &a->facts);
}

/* --- the file of an aligned embedding --------------------------------------------------------- */

/* What the file of the run says of its input, the new one repeats. */
static void repeat_note(void *self, const char *name, const char *text, bool varying) {
    static const char *const repeated[] = {"input", "input_shape", "input_fingerprint"};
    for (int i = 0; i < 3 && !varying; i++)
        if (strcmp(repeated[i], name) == 0) ikt_note_fact(self, name, "%s", text);
}

static void describe(const ikt_align_request *request, const ikt_aligned *a, ikt_notes *n) {
    const ikt_procrustes *motion = &a->motion;
    const double angle = ikt_procrustes_angle(motion);
    const int q = motion->q;
    ikt_notes_program(n);
    ikt_note_fact(n, "made_by",
                  "iktsne align: scale * (row - centre_before) * rotation + centre_after");
    ikt_note_fact(n, "aligned", "%s", request->run);
    ikt_note_hash(n, "aligned_hash", a->run_hash);
    ikt_note_fact(n, "reference", "%s", request->reference);
    ikt_note_hash(n, "reference_hash", a->reference_hash);
    ikt_note_int(n, "rows_matched", a->rows);
    ikt_note_reals(n, "scale", &motion->scale, 1);
    ikt_note_reals(n, "rotation_degrees", &angle, 1);
    ikt_note_bool(n, "mirrored", motion->is_mirrored);
    ikt_note_reals(n, "rotation", motion->turn, q * q);
    ikt_note_reals(n, "centre_before", motion->from, q);
    ikt_note_reals(n, "centre_after", motion->to, q);
    ikt_note_reals(n, "residual", &a->residual, 1);
    ikt_note_hash(n, "embedding_hash", a->hash);
}

ikt_status ikt_align_write(ikt_context *ctx, const ikt_align_request *request, ikt_aligned *a,
                           const char *path, bool overwrite) {
    const ikt_result_column column = {"displacement", IKT_COLUMN_DOUBLE, a->displacement};
    char *configuration IKT_AT_END(ikt_free) = NULL, *names IKT_AT_END(ikt_free) = NULL;
    int64_t *marked IKT_AT_END(ikt_free) = NULL, n_marked = 0;
    IKT_TRY(ikt_alloc_all(ctx, &a->facts, 1, sizeof *a->facts, "provenance"));
    ikt_notes *n = a->facts;
    IKT_TRY(ikt_result_configuration(a->file, &configuration));
    IKT_TRY(ikt_result_read_text(a->file, "label_names", &names));
    IKT_TRY(ikt_result_read_marked(a->file, &marked, &n_marked));
    IKT_TRY(ikt_result_notes(a->file, repeat_note, n));
    describe(request, a, n);
    ikt_notes_share(ctx, n);
    const ikt_result result = {.rows = a->distribution,
                               .q = a->motion.q,
                               .embedding = a->y,
                               .labels = a->labels,
                               .label_names = names,
                               .marked = marked,
                               .n_marked = n_marked,
                               .value_name = "kl",
                               .configuration = configuration ? configuration : "",
                               .facts = n->fact,
                               .n_facts = n->n_facts,
                               .circumstances = n->circumstance,
                               .n_circumstances = n->n_circumstances,
                               .columns = &column,
                               .n_columns = 1};
    return ikt_result_write(ctx, path, overwrite, &result);
}
