/* Placing new rows into a finished embedding. Read ikt_transform_run first. */
#include "transform/transform.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "base/timer.h"
#include "evaluate/accuracy.h"
#include "evaluate/tree.h"
#include "objective/out_of_sample.h"
#include "plan/memory_plan.h"
#include "settings/input.h"
#include "transform/transform_lists.h"

enum { AUTO_NEIGHBOURS = 30, LABEL_NEIGHBOURS = 10 };

/* --- before anything long --------------------------------------------------------------------- */

static ikt_status choose_neighbours(ikt_context *ctx, const ikt_transform_request *request,
                                    ikt_transformed *done) {
    const int64_t n = done->loaded.shape.n, before = done->loaded.settings.affinity.neighbours;
    int64_t usual = before == IKT_AUTO_INT ? AUTO_NEIGHBOURS : before;
    done->k = request->neighbours == IKT_AUTO_INT ? (usual < n ? usual : n) : request->neighbours;
    if (done->k <= n) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE, "--neighbours %lld, but %s holds only %lld rows",
                    (long long)done->k, request->model, (long long)n);
}

static double span_of(const float *y, int64_t n, int64_t q) {
    double span = 0;
    for (int64_t a = 0; a < q; a++) {
        float low = y[a], high = y[a];
        for (int64_t j = 1; j < n; j++) {
            low = fminf(low, y[j * q + a]);
            high = fmaxf(high, y[j * q + a]);
        }
        span = fmax(span, (double)high - (double)low);
    }
    return span;
}

static ikt_status check_memory(ikt_context *ctx, ikt_dataset *data, ikt_transformed *done) {
    const ikt_model_shape *s = &done->loaded.shape;
    const ikt_out_of_sample_size size = {.n = s->n,
                                         .q = s->q,
                                         .rows = ikt_rows_count(&done->rows, 0),
                                         .columns = s->columns,
                                         .k = done->k,
                                         .is_u8 = ikt_dataset_is_u8(data),
                                         .model = done->loaded.model->spec,
                                         .span = span_of(done->loaded.y, s->n, s->q),
                                         .threads = ikt_threads(ctx)};
    const ikt_memory_plan plan = ikt_memory_plan_out_of_sample(&size, ikt_memory_resident_peak());
    done->predicted_bytes = ikt_max_one(ctx, plan.peak);
    return ikt_memory_plan_check(ctx, &plan);
}

static ikt_status read_labels(ikt_context *ctx, const ikt_transform_request *request,
                              ikt_source *source, ikt_transformed *done) {
    bool present = false;
    ikt_status st = ikt_alloc(ctx, &done->labels, done->rows.count, sizeof *done->labels, "labels");
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_source_read_labels(source, request->labels, done->rows.first, done->rows.count,
                                   done->labels, &present));
    if (present) return ikt_source_read_text(source, "label_names", &done->label_names);
    ikt_free(&done->labels);
    if (strcmp(request->labels, "labels") == 0) return IKT_OK;
    return ikt_source_no_labels(source, request->labels, "--labels");
}

static void note_input(ikt_context *ctx, const ikt_source *source, ikt_transformed *done) {
    strncat(done->input_name, ikt_source_name(source), sizeof done->input_name - 1);
    done->d = ikt_source_columns(source);
    done->type = ikt_type_name(ikt_source_type(source));
    done->rows = ikt_rows_make(ikt_source_rows(source), ikt_size(ctx), ikt_rank(ctx));
    ikt_log_numbers(ctx, IKT_LOG_STAGE,
                    (ikt_log_number[]){IKT_LOG_INT("rows", done->rows.n),
                                       IKT_LOG_INT("columns", done->d),
                                       IKT_LOG_INT("model_rows", done->loaded.shape.n),
                                       {0}},
                    "%s: %lld rows x %lld, %s, into an embedding of %lld rows", done->input_name,
                    (long long)done->rows.n, (long long)done->d, done->type,
                    (long long)done->loaded.shape.n);
}

/* --- the arrows ------------------------------------------------------------------------------- */

static ikt_status claim(ikt_context *ctx, ikt_transformed *done) {
    const int64_t count = done->rows.count;
    IKT_TRY(ikt_alloc(ctx, &done->y, count * done->loaded.shape.q, sizeof *done->y, "embedding"));
    IKT_TRY(ikt_alloc(ctx, &done->divergence, count, sizeof(double), "embedding"));
    return ikt_alloc(ctx, &done->nearest, count, sizeof *done->nearest, "embedding");
}

static void report(ikt_context *ctx, const ikt_transformed *done) {
    if (done->zero_similarity > 0)
        ikt_log_numbers(
            ctx, IKT_LOG_WARN, (ikt_log_number[]){IKT_LOG_INT("rows", done->zero_similarity), {0}},
            "%lld rows share no cell with any old row (similarity 0 in the output): they lie "
            "where the embedding has nothing, and were put to the rows of their nearest centre",
            (long long)done->zero_similarity);
    if (done->unsettled > 0)
        ikt_log_numbers(
            ctx, IKT_LOG_STAGE, (ikt_log_number[]){IKT_LOG_INT("rows", done->unsettled), {0}},
            "%lld rows were still moving at the last iteration", (long long)done->unsettled);
}

/* LOCAL, but for the sums. Lists to places. */
static ikt_status place(ikt_context *ctx, const ikt_new_lists *new, int64_t trials,
                        ikt_transformed *done) {
    const ikt_loaded_model *m = &done->loaded;
    ikt_field *field = NULL;
    int64_t unsettled = 0;
    ikt_stage_begin(ctx, IKT_STAGE_LAYOUT);
    ikt_stage_begin(ctx, IKT_STAGE_FFT);
    ikt_status st = ikt_field_create(ctx, m->y, m->shape.n, (int)m->shape.q, false, &field);
    ikt_stage_end(ctx, IKT_STAGE_FFT);
    if (st == IKT_OK) st = claim(ctx, done);
    if (st == IKT_OK) {
        const ikt_placed old = {field, m->y, (int)m->shape.q};
        st = ikt_out_of_sample_place(ctx, &old, &new->lists, trials, done->y, done->divergence,
                                     &unsettled);
    }
    ikt_field_destroy(&field);
    for (int64_t i = 0; st == IKT_OK && i < done->rows.count; i++)
        done->nearest[i] = new->lists.row[i * done->k];
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        done->unsettled = ikt_sum_one(ctx, unsettled);
        done->mean_divergence =
            ikt_exact_total(ctx, done->divergence, done->rows.count) / (double)done->rows.n;
    }
    ikt_stage_end(ctx, IKT_STAGE_LAYOUT);
    return st;
}

static ikt_status transform(ikt_context *ctx, const ikt_transform_request *request,
                            ikt_source *source, ikt_dataset *data, ikt_transformed *done) {
    ikt_new_lists new = {0};
    IKT_TRY(choose_neighbours(ctx, request, done));
    IKT_TRY(check_memory(ctx, data, done));
    IKT_TRY(read_labels(ctx, request, source, done));
    IKT_TRY(ikt_new_lists_find(ctx, &done->loaded, data, &done->rows, done->k, &new));
    done->zero_similarity = new.zero_similarity;
    ikt_status st = place(ctx, &new, request->trials, done);
    done->similarity = new.similarity;
    new.similarity = NULL;
    ikt_new_lists_destroy(&new);
    if (st != IKT_OK) return st;
    report(ctx, done);
    done->hash = ikt_row_hash(ctx, done->y, done->rows.first, done->rows.count,
                              (size_t)done->loaded.shape.q * sizeof *done->y);
    return IKT_OK;
}

ikt_status ikt_transform_run(ikt_context *ctx, const ikt_transform_request *request,
                             ikt_transformed *out) {
    ikt_source *source = NULL;
    ikt_dataset *data = NULL;
    memset(out, 0, sizeof *out);
    out->accuracy = -1;
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    ikt_status st = ikt_model_load(ctx, request->model, &out->loaded);
    ikt_stage_end(ctx, IKT_STAGE_READ);
    if (st == IKT_OK)
        st = ikt_input_open_like(ctx, &out->loaded.settings.input, request->input, request->dataset,
                                 &source);
    if (st == IKT_OK) st = ikt_loaded_model_dataset(ctx, &out->loaded, source, &data);
    if (st == IKT_OK) {
        note_input(ctx, source, out);
        st = transform(ctx, request, source, data, out);
    }
    ikt_dataset_destroy(&data);
    ikt_source_close(&source);
    if (st != IKT_OK) ikt_transformed_destroy(out);
    return st;
}

void ikt_transformed_destroy(ikt_transformed *done) {
    ikt_loaded_model_destroy(&done->loaded);
    ikt_free(&done->y);
    ikt_free(&done->divergence);
    ikt_free(&done->similarity);
    ikt_free(&done->nearest);
    ikt_free(&done->labels);
    ikt_free(&done->label_names);
}

/* --- labels ----------------------------------------------------------------------------------- */

/* COLLECTIVE. Labels of all old rows on every rank. */
static ikt_status old_labels(ikt_context *ctx, const ikt_loaded_model *m, int64_t **labels) {
    const ikt_rows distribution = ikt_rows_make(m->shape.n, ikt_size(ctx), ikt_rank(ctx));
    int64_t *own = NULL, *counts = NULL;
    ikt_status st = ikt_alloc(ctx, labels, m->shape.n, sizeof **labels, "measures");
    if (st == IKT_OK) st = ikt_alloc(ctx, &own, distribution.count, sizeof *own, "measures");
    if (st == IKT_OK) st = ikt_alloc(ctx, &counts, distribution.ranks, sizeof *counts, "measures");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_model_file_read(m->file, IKT_MODEL_LABELS, distribution.first, distribution.count,
                                 own, 0);
    for (int r = 0; st == IKT_OK && r < distribution.ranks; r++)
        counts[r] = ikt_rows_count(&distribution, r);
    if (st == IKT_OK) ikt_allgather(ctx, own, distribution.count, sizeof *own, *labels, counts);
    ikt_free(&own);
    ikt_free(&counts);
    return st;
}

static int64_t count_right(ikt_context *ctx, const ikt_transformed *done, const ikt_tree *tree,
                           const int64_t *labels) {
    const int64_t k = LABEL_NEIGHBOURS < tree->n - 1 ? LABEL_NEIGHBOURS : tree->n - 1;
    int64_t right = 0;
#pragma omp parallel for schedule(dynamic, 256) reduction(+ : right) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < done->rows.count; i++) {
        float score[LABEL_NEIGHBOURS];
        uint32_t nearest[LABEL_NEIGHBOURS];
        int64_t votes[LABEL_NEIGHBOURS];
        ikt_tree_nearest(tree, done->y + done->loaded.shape.q * i, -1, k, score, nearest);
        for (int64_t e = 0; e < k; e++)
            votes[e] = labels[nearest[e]];
        right += ikt_votes_majority(votes, k) == done->labels[i];
    }
    return right;
}

ikt_status ikt_transform_accuracy(ikt_context *ctx, const ikt_transformed *done, double *accuracy) {
    const ikt_loaded_model *m = &done->loaded;
    int64_t *labels = NULL;
    ikt_tree tree = {0};
    *accuracy = -1;
    bool has_labels = m->shape.has_labels && ikt_max_one(ctx, done->labels != NULL) > 0;
    if (!has_labels || m->shape.n < 2) return IKT_OK;
    ikt_stage_begin(ctx, IKT_STAGE_MEASURES);
    ikt_status st = old_labels(ctx, m, &labels);
    if (st == IKT_OK)
        st = ikt_agree(ctx, ikt_tree_create(ctx, m->y, m->shape.n, m->shape.q, &tree));
    if (st == IKT_OK)
        *accuracy =
            (double)ikt_sum_one(ctx, count_right(ctx, done, &tree, labels)) / (double)done->rows.n;
    ikt_tree_destroy(&tree);
    ikt_free(&labels);
    ikt_stage_end(ctx, IKT_STAGE_MEASURES);
    return st;
}
