/* New rows in a map that is linear in similarities to landmarks (kpca, kda). See transform.h, and
 * similarity/kernel_map.h for the formula.
 *
 * A new row has its similarities to the landmarks, by the kernel of the run or as they are given,
 * centred by the means of the run. Nothing is optimised: the place is the one that the row would
 * have had beside the others, had it been none of the landmarks. */
#include "transform/transform.h"

#include "base/arrays.h"
#include "base/timer.h"
#include "kernelsum/replica.h"
#include "similarity/kernel_map.h"

static const char purpose[] = "kernel map";

/* The map as the file has it, the same on every rank. */
typedef struct {
    int64_t *landmark; /* [m] */
    ikt_kernel_map map;
    double bandwidth;
    double origin[IKT_DIMENSIONS_MOST]; /* what was taken off all places */
    float *x;         /* [m * columns] landmarks of a linear or Gaussian kernel; else NULL */
    char *codes;      /* [m * stride] of the Isolation kernel; else NULL */
    ikt_arrays *held; /* all arrays above */
} projection;

/* COLLECTIVE. The map itself, which every rank reads. */
static ikt_status read_map(const ikt_loaded_model *m, projection *p) {
    const int64_t rows = m->shape.support, q = m->shape.q;
    double numbers[2] = {0, 0};
    p->landmark = ikt_claim(p->held, rows, sizeof *p->landmark);
    p->map = (ikt_kernel_map){.m = rows,
                              .q = q,
                              .weight = ikt_claim(p->held, q * rows, sizeof(double)),
                              .mean = ikt_claim(p->held, rows, sizeof(double))};
    IKT_TRY(ikt_arrays_agree(p->held));
    IKT_TRY(ikt_model_file_read(m->file, IKT_MODEL_LANDMARKS, 0, rows, p->landmark, 0));
    IKT_TRY(ikt_model_file_read(m->file, IKT_MODEL_KERNEL_WEIGHTS, 0, q, p->map.weight, 0));
    IKT_TRY(ikt_model_file_read(m->file, IKT_MODEL_KERNEL_MEANS, 0, rows, p->map.mean, 0));
    IKT_TRY(ikt_model_file_read(m->file, IKT_MODEL_KERNEL_NUMBERS, 0, 2, numbers, 0));
    IKT_TRY(ikt_model_file_read(m->file, IKT_MODEL_KERNEL_ORIGIN, 0, q, p->origin, 0));
    p->map.total = numbers[0];
    p->bandwidth = numbers[1];
    const bool has_bandwidth = m->shape.kernel == IKT_MODEL_OF_GAUSSIAN;
    bool is_good = has_bandwidth == (numbers[1] > 0) && numbers[1] >= 0;
    for (int64_t l = 1; l < rows; l++)
        is_good = is_good && p->landmark[l] > p->landmark[l - 1];
    return is_good ? IKT_OK : ikt_model_file_damaged(m->file, "/kernel holds what is no map");
}

/* COLLECTIVE. What new rows are compared with.
 *   codes   receives those of the new rows, of the Isolation kernel */
static ikt_status compare(ikt_context *ctx, const ikt_loaded_model *m, ikt_dataset *data,
                          const ikt_rows *rows, projection *p, ikt_codes *codes,
                          ikt_similarities **out) {
    const ikt_model_shape *s = &m->shape;
    if (s->kernel == IKT_MODEL_OF_ISOLATION) {
        IKT_TRY_STAGE(ctx, IKT_STAGE_CODES,
                      ikt_codes_compute(ctx, data, rows, m->model, codes, NULL));
        p->codes = ikt_claim(p->held, s->support, (size_t)codes->stride);
        IKT_TRY(ikt_arrays_agree(p->held));
        IKT_TRY(ikt_model_file_read(m->file, IKT_MODEL_LANDMARK_CODES, 0, s->support, p->codes,
                                    codes->stride));
    } else if (!s->is_of_similarities) {
        p->x = ikt_claim(p->held, s->support * s->columns, sizeof *p->x);
        IKT_TRY(ikt_arrays_agree(p->held));
        IKT_TRY(ikt_model_file_read(m->file, IKT_MODEL_LANDMARK_ROWS, 0, s->support, p->x, 0));
    }
    const ikt_similarity_of of = {.kind = (ikt_similarity_kind)s->kernel,
                                  .bandwidth = p->bandwidth,
                                  .data = data,
                                  .codes = codes,
                                  .is_apart = true,
                                  .chosen_rows = p->x,
                                  .chosen_codes = p->codes};
    return ikt_similarities_create(ctx, &of, rows, NULL, s->support, out);
}

ikt_status ikt_new_rows_project(ikt_context *ctx, ikt_dataset *data, ikt_transformed *done) {
    const ikt_loaded_model *m = &done->loaded;
    const int64_t count = done->rows.count, q = m->shape.q;
    ikt_codes codes IKT_AT_END(ikt_codes_destroy) = {.code = NULL};
    ikt_similarities *similar IKT_AT_END(ikt_similarities_destroy) = NULL;
    IKT_ARRAYS(held, ctx, "embedding");
    IKT_ARRAYS(of_map, ctx, purpose);
    projection p = {.held = &of_map};
    done->y = ikt_claim_kept(&held, count * q, sizeof *done->y);
    done->similarity = ikt_claim_kept(&held, count, sizeof *done->similarity);
    done->nearest = ikt_claim_kept(&held, count, sizeof *done->nearest);
    double *y = ikt_claim(&held, count * q, sizeof *y);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(read_map(m, &p));
    IKT_TRY(compare(ctx, m, data, &done->rows, &p, &codes, &similar));
    done->cells = codes.check;
    const ikt_most_similar most = {done->nearest, done->similarity};
    IKT_TRY_STAGE(ctx, IKT_STAGE_LAYOUT,
                  ikt_kernel_map_place(ctx, &p.map, similar, &done->rows, y, &most));
    for (int64_t e = 0; e < count * q; e++)
        done->y[e] = (float)((double)(float)y[e] - p.origin[e % q]); /* as the old ones */
    for (int64_t i = 0; i < count; i++)
        done->nearest[i] = p.landmark[done->nearest[i]];
    return IKT_OK;
}

int64_t ikt_new_rows_project_memory(const ikt_model_shape *shape) {
    enum { WORK_BYTES = 16 << 20 }; /* of similarities, rows and their copies, some at a time */
    const int64_t m = shape->support, rows = shape->is_of_similarities ? 0 : shape->columns;
    const int64_t size = sizeof(double);
    return m * (size * (shape->q + 2) + rows * (size + 2 * (int64_t)sizeof(float))) + WORK_BYTES;
}
