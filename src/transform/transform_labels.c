/* Labels of new rows among those of the old ones.
 *
 * A class is known by its name where classes have names: each file numbers its own from 0, in the
 * order of the names that it happens to hold. New labels get the numbers that the model's names
 * have, and names that the model lacks the numbers behind them, so that result, picture and
 * accuracy all speak of the same classes. Where neither side has names, numbers are classes; where
 * one side has, the two cannot be compared. */
#define _POSIX_C_SOURCE 200809L
#include "transform/transform.h"

#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/sort.h"
#include "base/timer.h"
#include "dist/shuffle.h"
#include "evaluate/measure.h"
#include "evaluate/tree.h"
#include "io/formats/class_labels.h"
#include "io/formats/name_lines.h"
#include "io/sources/labels.h"

enum { LABEL_NEIGHBOURS = 10, NAMES_TOLD = 5 };

/* --- one numbering ---------------------------------------------------------------------------- */

/* A class without a name where others have some is known by its number, which goes behind all
 * `count` names of both sides. */
static int64_t beyond_names(int64_t label, int64_t own_names, int64_t count) {
    return label >= own_names && label <= INT64_MAX - count ? label + count : label;
}

/* LOCAL. The numbers of the own labels, from those of their file to those of the model; the names
 * of all classes in place of those of the file. */
static ikt_status renumber(ikt_context *ctx, const char *old_names, ikt_transformed *done) {
    const int64_t old = ikt_label_names_count(old_names);
    const int64_t new = ikt_label_names_count(done->label_names);
    const int64_t old_bytes = (int64_t)strlen(old_names) + 1;
    const int64_t new_bytes = (int64_t)strlen(done->label_names) + 1;
    int64_t count = old;
    IKT_ARRAYS(held, ctx, "labels");
    char *texts = ikt_claim(&held, old_bytes + new_bytes, 1);
    ikt_name_line *lines = ikt_claim(&held, old + new, sizeof *lines);
    int64_t *number = ikt_claim(&held, new, sizeof *number);
    char *all = ikt_claim_kept(&held, old_bytes + new_bytes, 1);
    IKT_TRY(held.status);
    char *end = stpcpy(all, old_names);
    ikt_name_lines_cut(strcpy(texts, old_names), old, lines);
    ikt_name_lines_cut(strcpy(texts + old_bytes, done->label_names), new, lines + old);
    ikt_name_lines_sort(lines, old);
    for (int64_t c = 0; c < new; c++) {
        const char *name = lines[old + c].name;
        number[c] = ikt_name_lines_find(lines, old, name);
        if (number[c] >= 0) continue;
        number[c] = count++;
        end = stpcpy(stpcpy(end, name), "\n");
    }
    for (int64_t i = 0; i < done->rows.count; i++) {
        int64_t *label = &done->labels[i];
        *label = *label >= 0 && *label < new ? number[*label] : beyond_names(*label, new, count);
    }
    ikt_free(&done->label_names);
    done->label_names = all;
    return IKT_OK;
}

/* COLLECTIVE. Whether labels of the new rows can be compared with those of the old ones, in one
 * numbering then. */
static ikt_status match_classes(ikt_context *ctx, const ikt_transform_request *request,
                                ikt_transformed *done) {
    const ikt_loaded_model *m = &done->loaded;
    const bool has_old = m->label_names && m->label_names[0];
    const bool has_new = done->label_names && done->label_names[0];
    done->is_comparable = m->shape.has_labels && has_old == has_new;
    if (!m->shape.has_labels || (!has_old && !has_new)) return IKT_OK;
    if (has_old && has_new) return ikt_agree(ctx, renumber(ctx, m->label_names, done));
    ikt_log(ctx, IKT_LOG_WARN,
            "labels of %s are %s and those of %s %s, so they cannot be compared, and no accuracy "
            "is told%s",
            done->input_name, has_new ? "names" : "numbers", request->model,
            has_old ? "names" : "numbers",
            has_new
                ? "; if the old rows had names, an older iktsne wrote the model, which kept none: "
                  "make it again (output.model)"
                : "");
    return IKT_OK;
}

ikt_status ikt_new_labels_read(ikt_context *ctx, const ikt_transform_request *request,
                               ikt_source *source, ikt_transformed *done) {
    bool present = false;
    IKT_TRY(ikt_alloc_all(ctx, &done->labels, done->rows.count, sizeof *done->labels, "labels"));
    IKT_TRY(ikt_source_read_labels(source, done->labels_name, done->rows.first, done->rows.count,
                                   done->labels, &present));
    if (present) {
        IKT_TRY(ikt_source_read_text(source, "label_names", &done->label_names));
        ikt_labels_leave_unnamed(done->label_names, done->labels, done->rows.count);
        return match_classes(ctx, request, done);
    }
    ikt_free(&done->labels);
    if (!request->labels[0] || ikt_labels_are_default(request->labels)) return IKT_OK;
    return ikt_source_no_labels(source, request->labels, "input.labels");
}

/* --- accuracy --------------------------------------------------------------------------------- */

/* COLLECTIVE. Tells which classes of the new rows no old row has. */
static ikt_status tell_unknown(ikt_context *ctx, const ikt_transformed *done,
                               const ikt_classes *old, int64_t least) {
    ikt_classes new IKT_AT_END(ikt_classes_destroy) = {0};
    char told[512] = "", name[128];
    int64_t unknown = 0, rows = 0;
    IKT_TRY(ikt_classes_find(ctx, done->labels, done->rows.count, &new));
    for (int64_t c = 0; c < new.count; c++) {
        if (new.label[c] < least || ikt_classes_number(old, new.label[c]) >= 0) continue;
        if (unknown++ < NAMES_TOLD)
            ikt_join(told, sizeof told, ", ", "%s",
                     ikt_label_name(done->label_names, new.label[c], name, sizeof name));
    }
    for (int64_t i = 0; i < done->rows.count; i++)
        rows += done->labels[i] >= least && ikt_classes_number(old, done->labels[i]) < 0;
    rows = ikt_sum_one(ctx, rows);
    if (unknown == 0) return IKT_OK;
    ikt_log_numbers(ctx, IKT_LOG_WARN,
                    IKT_LOG_NUMBERS(IKT_LOG_INT("classes", unknown), IKT_LOG_INT("rows", rows)),
                    "no old row has the class%s %s%s: the %lld new row%s of %s count%s as told "
                    "wrongly",
                    unknown > 1 ? "es" : "", told, unknown > NAMES_TOLD ? ", ..." : "",
                    (long long)rows, rows == 1 ? "" : "s", unknown > 1 ? "them" : "it",
                    rows == 1 ? "s" : "");
    return IKT_OK;
}

/* The old rows that have a label, which alone have a vote. */
typedef struct {
    ikt_tree tree;
    int64_t *label; /* [tree.n] */
    float *y;       /* [tree.n * q], where these are not all old rows; else NULL */
} voters;

static void voters_free(voters *v) {
    ikt_tree_destroy(&v->tree);
    ikt_free_all(&v->label, &v->y);
}

/* LOCAL. From the labels and places of all old rows; the labels are taken over. */
static ikt_status make_voters(ikt_context *ctx, const ikt_loaded_model *m, int64_t least,
                              voters *v) {
    const int64_t n = m->shape.n, q = m->shape.q;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += v->label[i] >= least;
    if (count == n) return n < 2 ? IKT_OK : ikt_tree_create(ctx, m->y, n, q, &v->tree);
    IKT_TRY(ikt_alloc(ctx, &v->y, count * q, sizeof *v->y, "measures"));
    count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (v->label[i] < least) continue;
        memcpy(v->y + q * count, m->y + q * i, (size_t)q * sizeof *v->y);
        v->label[count++] = v->label[i];
    }
    return count < 2 ? IKT_OK : ikt_tree_create(ctx, v->y, count, q, &v->tree);
}

ikt_status ikt_transform_accuracy(ikt_context *ctx, ikt_transformed *done) {
    const ikt_loaded_model *m = &done->loaded;
    const ikt_rows old = ikt_rows_make(m->shape.n, ikt_size(ctx), ikt_rank(ctx));
    voters v IKT_AT_END(voters_free) = {.label = NULL};
    ikt_classes classes IKT_AT_END(ikt_classes_destroy) = {0};
    int64_t right = 0;
    done->accuracy = -1;
    if (!done->is_comparable) return IKT_OK;
    IKT_IN_STAGE(ctx, IKT_STAGE_MEASURES);
    IKT_ARRAYS(held, ctx, "measures");
    int64_t *own = ikt_claim(&held, old.count, sizeof *own);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_model_file_read(m->file, IKT_MODEL_LABELS, old.first, old.count, own, 0));
    for (int64_t i = 0; done->label_names && i < old.count; i++)
        own[i] = beyond_names(own[i], ikt_label_names_count(m->label_names),
                              ikt_label_names_count(done->label_names));
    IKT_TRY(ikt_classes_find(ctx, own, old.count, &classes));
    const int64_t least = ikt_labels_least(ctx, own, old.count, done->label_names);
    IKT_TRY(tell_unknown(ctx, done, &classes, least));
    IKT_TRY(ikt_share_rows(ctx, &old, own, sizeof *own, "measures", &v.label));
    IKT_TRY(ikt_agree(ctx, make_voters(ctx, m, least, &v)));
    for (int64_t i = 0; i < done->rows.count; i++)
        done->labelled += done->labels[i] >= least;
    done->labelled = ikt_sum_one(ctx, done->labelled);
    if (v.tree.n < 2 || done->labelled == 0) return IKT_OK;
    const int64_t k = ikt_smaller(LABEL_NEIGHBOURS, v.tree.n - 1);
#pragma omp parallel for schedule(dynamic, 256) reduction(+ : right) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < done->rows.count; i++) {
        float score[LABEL_NEIGHBOURS];
        uint32_t nearest[LABEL_NEIGHBOURS];
        int64_t votes[LABEL_NEIGHBOURS];
        if (done->labels[i] < least) continue;
        ikt_tree_nearest(&v.tree, done->y + m->shape.q * i, -1, k, score, nearest);
        for (int64_t e = 0; e < k; e++)
            votes[e] = v.label[nearest[e]];
        right += ikt_votes_majority(votes, k) == done->labels[i];
    }
    done->accuracy = (double)ikt_sum_one(ctx, right) / (double)done->labelled;
    return IKT_OK;
}
