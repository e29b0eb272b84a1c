/* Maps of files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/own.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "io/hdf5/h5_host.h"
#include "io/results/result.h"

static void take_note(void *self, const char *name, const char *text, bool varying) {
    ikt_map *map = self;
    if (varying) return;
    if (strcmp(name, "kl") == 0 || strcmp(name, "cost") == 0) map->objective = strtod(text, NULL);
    if (strcmp(name, "iterations_done") == 0) map->iterations = strtoll(text, NULL, 10);
    if (strcmp(name, "rows_without_similarity") == 0) map->orphans = strtoll(text, NULL, 10);
}

static ikt_status read_labels(ikt_map *map, ikt_result_file *file) {
    ikt_run *run = &map->run;
    bool present = false;
    ikt_status st = ikt_alloc(map->ctx, &run->labels, run->map.count, sizeof *run->labels, "map");
    IKT_TRY(ikt_agree(map->ctx, st));
    IKT_TRY(ikt_result_read_labels(file, "labels", run->map.first, run->map.count, run->labels,
                                   &present));
    if (!present) ikt_free(&run->labels);
    return IKT_OK;
}

static ikt_status read_map(ikt_map *map, ikt_result_file *file) {
    ikt_context *ctx = map->ctx;
    ikt_run *run = &map->run;
    run->map = ikt_row_map_make(ikt_result_rows(file), ikt_size(ctx), ikt_rank(ctx));
    map->q = ikt_result_dimensions(file);
    float **y = &run->embedding.y;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, y, map->q * run->map.count, sizeof **y, "map")));
    IKT_TRY(ikt_result_read_embedding(file, run->map.first, run->map.count, *y));
    IKT_TRY(read_labels(map, file));
    IKT_TRY(ikt_result_read_marked(file, &run->marked, &run->n_marked));
    IKT_TRY(ikt_result_notes(file, take_note, map));
    IKT_TRY(ikt_result_configuration(file, &map->yaml));
    map->hash = ikt_row_hash(ctx, *y, run->map.first, run->map.count, (size_t)map->q * sizeof **y);
    return ikt_map_hand_over(map, run->map.count);
}

static ikt_status open_map(ikt_map *map, const char *path) {
    ikt_result_file *file = NULL;
    IKT_TRY(ikt_result_open(map->ctx, path, &file));
    const ikt_status st = read_map(map, file);
    ikt_result_close(&file);
    return st;
}

ikt_status ikt_map_read(ikt_context *ctx, const char *path, ikt_map **out) {
    const ikt_h5_host host = ikt_h5_host_keep();
    IKT_TRY(ikt_map_new(ctx, out));
    const ikt_status st = ikt_map_report(*out, open_map(*out, path));
    if (st != IKT_OK) ikt_map_destroy(out);
    ikt_h5_host_restore(&host);
    return st;
}
