/* New rows into a finished embedding: the verb `transform` as a function. */
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "base/timer.h"
#include "base/watch.h"
#include "io/hdf5/h5.h"
#include "transform/transform.h"

enum { ITERATIONS = 200 };

/* COLLECTIVE. */
static ikt_status place_rows(ikt_embedding *embedding, ikt_transform_request *request,
                             const ikt_data *data) {
    ikt_context *ctx = embedding->ctx;
    ikt_run *run = &embedding->run;
    ikt_data_sources given;
    ikt_transformed done = {.rows = {.n = 0}};
    ikt_status st = ikt_data_open(ctx, data, &given);
    if (st == IKT_OK && !given.rows)
        st = ikt_fail(ctx, IKT_ERR_USAGE, "new rows are dense rows (ikt_data_rows)");
    request->given = given.rows;
    ikt_stage_begin(ctx, IKT_STAGE_TOTAL);
    if (st == IKT_OK) st = ikt_transform_run(ctx, request, &done);
    ikt_stage_end(ctx, IKT_STAGE_TOTAL);
    if (st == IKT_OK) {
        const ikt_placed_rows placed = {done.divergence, done.similarity, done.nearest};
        run->rows = done.rows;
        run->embedding.y = done.y;
        run->labels = done.labels;
        done.y = NULL;
        done.labels = NULL;
        embedding->q = (int)done.loaded.shape.q;
        embedding->hash = done.hash;
        embedding->objective = done.mean_divergence;
        embedding->zero_similarity = done.zero_similarity;
        st = ikt_embedding_hand_over(embedding, data->count, &placed);
    }
    ikt_transformed_destroy(&done);
    ikt_data_close(&given);
    return st;
}

/* COLLECTIVE. Ranks that do not want the same would wait for each other for ever. */
static ikt_status check_request(ikt_context *ctx, const char *model, int64_t neighbours,
                                int64_t iterations, bool is_watched) {
    const int64_t number[] = {neighbours, iterations, is_watched};
    const uint64_t named = ikt_hash_bytes(model, strlen(model), 0);
    const int64_t hash = (int64_t)(ikt_hash_bytes(number, sizeof number, named) >> 1);
    int64_t most[] = {hash, -hash};
    ikt_max_i64(ctx, most, 2);
    if (most[0] != -most[1])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the model, the numbers of neighbours and iterations, or whether there is "
                        "a watcher, are not the same on all ranks");
    if (neighbours < 0 || iterations < 0 || iterations == 1)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "new rows need at least 1 neighbour and 2 iterations (0: as usual)");
    return IKT_OK;
}

ikt_status ikt_transform(ikt_context *ctx, const char *model, const ikt_data *data,
                         int64_t neighbours, int64_t iterations, const ikt_watcher *watcher,
                         ikt_embedding **out) {
    const ikt_h5_host host = ikt_h5_host_keep();
    ikt_transform_request request = {.model = model,
                                     .input = "memory",
                                     .dataset = "",
                                     .labels = "labels",
                                     .neighbours = neighbours == 0 ? IKT_AUTO_INT : neighbours,
                                     .trials = iterations == 0 ? ITERATIONS : iterations};
    *out = NULL;
    ikt_clear(ctx);
    IKT_TRY(check_request(ctx, model, neighbours, iterations, watcher != NULL));
    IKT_TRY(ikt_embedding_create(ctx, out));
    ikt_watcher_set((*out)->ctx, watcher);
    ikt_status st = place_rows(*out, &request, data);
    ikt_watcher_set((*out)->ctx, NULL);
    st = ikt_embedding_outcome(*out, st);
    if (st != IKT_OK) ikt_embedding_destroy(out);
    ikt_h5_host_restore(&host);
    return st;
}
