/* Maps: life, what they tell, file and picture. */
#include "iktsne/map.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/own.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "dist/row_blocks.h"
#include "io/hdf5/h5_host.h"
#include "pipeline/outcome.h"
#include "plot/plot.h"

ikt_status ikt_map_new(ikt_context *ctx, ikt_map **out) {
    *out = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, out, 1, sizeof **out, "map")));
    **out = (ikt_map){.caller = ctx, .objective = NAN, .iterations = -1, .orphans = -1};
    ikt_status st = ikt_context_split(ctx, 0, &(*out)->ctx);
    if (st != IKT_OK) ikt_free(out);
    return st;
}

void ikt_map_destroy(ikt_map **map) {
    if (!*map) return;
    ikt_run_destroy(&(*map)->run);
    ikt_measures_destroy(&(*map)->measures);
    ikt_free(&(*map)->y);
    ikt_free(&(*map)->labels);
    ikt_free(&(*map)->yaml);
    ikt_context_destroy(&(*map)->ctx);
    ikt_free(map);
}

ikt_status ikt_map_report(ikt_map *map, ikt_status st) {
    if (st == IKT_OK) return IKT_OK;
    ikt_fail(map->caller, st, "%s", ikt_message(map->ctx));
    ikt_clear(map->ctx);
    return st;
}

/* COLLECTIVE. One array, to the caller's blocks. */
static ikt_status bring(ikt_map *map, ikt_row_blocks *blocks, const void *from, size_t bytes,
                        void *target) {
    char *rows = NULL;
    ikt_status st = ikt_agree(map->ctx, ikt_alloc(map->ctx, &rows, map->count, bytes, "map"));
    if (st == IKT_OK)
        st = ikt_row_blocks_read(map->ctx, blocks, from, bytes, map->first, map->count, rows);
    if (st != IKT_OK) ikt_free(&rows);
    memcpy(target, &rows, sizeof rows);
    return st;
}

ikt_status ikt_map_hand_over(ikt_map *map, int64_t count) {
    const ikt_run *run = &map->run;
    const bool has_labels = ikt_max_one(map->ctx, run->labels != NULL) > 0;
    ikt_row_blocks blocks;
    map->count = count;
    map->first = ikt_sum_before(map->ctx, count);
    IKT_TRY(ikt_row_blocks_create(map->ctx, run->map.count, &blocks));
    ikt_status st = bring(map, &blocks, run->embedding.y, (size_t)map->q * sizeof *map->y, &map->y);
    if (st == IKT_OK && has_labels)
        st = bring(map, &blocks, run->labels, sizeof *map->labels, &map->labels);
    ikt_row_blocks_destroy(&blocks);
    return st;
}

/* --- what a map tells --------------------------------------------------------------------------
 */

int64_t ikt_map_rows(const ikt_map *map) {
    return map->run.map.n;
}

int ikt_map_dimensions(const ikt_map *map) {
    return map->q;
}

int64_t ikt_map_first(const ikt_map *map) {
    return map->first;
}

int64_t ikt_map_count(const ikt_map *map) {
    return map->count;
}

const float *ikt_map_positions(const ikt_map *map) {
    return map->y;
}

const int64_t *ikt_map_labels(const ikt_map *map) {
    return map->labels;
}

uint64_t ikt_map_hash(const ikt_map *map) {
    return map->hash;
}

double ikt_map_objective(const ikt_map *map) {
    return map->objective;
}

int64_t ikt_map_iterations(const ikt_map *map) {
    return map->iterations;
}

int64_t ikt_map_orphans(const ikt_map *map) {
    return map->orphans;
}

const char *ikt_map_yaml(const ikt_map *map) {
    return map->yaml ? map->yaml : "";
}

int64_t ikt_map_measures(const ikt_map *map) {
    return map->measures.count;
}

ikt_map_measure ikt_map_measure_at(const ikt_map *map, int64_t i) {
    const ikt_measure *measure = &map->measures.list[i];
    return (ikt_map_measure){measure->name, measure->value, measure->note};
}

/* --- file and picture --------------------------------------------------------------------------
 */

static ikt_status write_run(ikt_map *map, const char *path, bool overwrite) {
    ikt_output_settings *output = &map->run.settings.output;
    if (!map->is_run)
        return ikt_fail(map->ctx, IKT_ERR_USAGE,
                        "a map that came from a file is in that file: copy it");
    if (strlen(path) >= sizeof output->file)
        return ikt_fail(map->ctx, IKT_ERR_USAGE, "the name %.80s... is too long", path);
    snprintf(output->file, sizeof output->file, "%s", path);
    output->overwrite = overwrite;
    IKT_TRY(ikt_atomic_check(map->ctx, path, overwrite));
    return ikt_run_write(map->ctx, &map->run);
}

ikt_status ikt_map_write(ikt_map *map, const char *path, bool overwrite) {
    const ikt_h5_host host = ikt_h5_host_keep();
    const ikt_status st = ikt_map_report(map, write_run(map, path, overwrite));
    ikt_h5_host_restore(&host);
    return st;
}

ikt_status ikt_map_draw(ikt_map *map, const char *path, bool overwrite, const char *title) {
    const ikt_run *run = &map->run;
    const char *slash = strrchr(path, '/');
    ikt_plot_settings settings = ikt_plot_defaults();
    settings.overwrite = overwrite;
    settings.title = title ? title : slash ? slash + 1 : path;
    settings.description = map->yaml;
    const ikt_plot_points points = {.map = &run->map,
                                    .q = map->q,
                                    .y = run->embedding.y,
                                    .labels = run->labels,
                                    .marked = run->marked,
                                    .n_marked = run->n_marked};
    return ikt_map_report(map, ikt_plot_embedding(map->ctx, &settings, &points, path));
}
