/* Similar rows by their distances. */
#include "base/timer.h"
#include "isolation/model.h"
#include "neighbours/cells.h"
#include "pipeline/similar.h"

static ikt_status search_near(ikt_context *ctx, const ikt_similar_job *job, ikt_probabilities *p,
                              ikt_neighbours *lists) {
    const int64_t n = job->rows->n;
    const ikt_model_spec spec = {.seed = (uint64_t)job->settings->run.seed,
                                 .n = n,
                                 .psi = 1,
                                 .coarse = ikt_cells_choose(n, 0)};
    ikt_model *centres = NULL; /* no partitioning, only the coarse one */
    ikt_cells cells = {0};
    ikt_tiles tiles = {0};
    ikt_status st = ikt_agree(ctx, ikt_model_create(ctx, &spec, &centres));
    if (st == IKT_OK)
        st = ikt_rows_order(ctx, job->data, job->rows, centres, NULL, &cells, &p->order);
    ikt_model_destroy(&centres);
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    if (st == IKT_OK) {
        p->is_ordered = true;
        st = ikt_tiles_data(ctx, &cells, &p->order, job->data, &tiles);
    }
    ikt_stage_end(ctx, IKT_STAGE_READ);
    if (st == IKT_OK) st = ikt_similar_near(ctx, job, &cells, &tiles, p, lists);
    ikt_tiles_destroy(&tiles);
    ikt_cells_destroy(&cells);
    return st;
}

static ikt_status search_all(ikt_context *ctx, const ikt_similar_job *job, ikt_probabilities *p,
                             ikt_neighbours *lists) {
    ikt_scorer scorer;
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    ikt_status st = ikt_scorer_data(ctx, job->data, job->rows, &scorer);
    ikt_stage_end(ctx, IKT_STAGE_READ);
    if (st == IKT_OK) st = ikt_similar_all(ctx, job, &scorer, p, lists);
    ikt_scorer_destroy(&scorer);
    return st;
}

ikt_status ikt_similar_by_distances(ikt_context *ctx, const ikt_similar_job *job,
                                    ikt_probabilities *p, ikt_neighbours *lists) {
    return ikt_similar_is_near(job, p) ? search_near(ctx, job, p, lists)
                                       : search_all(ctx, job, p, lists);
}
