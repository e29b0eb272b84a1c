/* What a program gives: parameters, which are the settings of a run behind texts, with the table of
 * their keys; and data in its memory, with sources on its arrays. */
#include <string.h>

#include "api/api.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "config/config.h"
#include "config/value.h"

ikt_status ikt_parameters_create(ikt_context *ctx, ikt_parameters **out) {
    *out = NULL;
    ikt_clear(ctx);
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "parameters"));
    (*out)->ctx = ctx;
    ikt_settings_parts(&(*out)->settings, (*out)->parts);
    ikt_status st = ikt_config_defaults(ctx, (*out)->parts, IKT_SETTINGS_PARTS);
    if (st != IKT_OK) ikt_parameters_destroy(out);
    return st;
}

void ikt_parameters_destroy(ikt_parameters **parameters) {
    if (!*parameters) return;
    ikt_free(&(*parameters)->yaml);
    ikt_free(parameters);
}

ikt_status ikt_parameters_set(ikt_parameters *p, const char *key, const char *value) {
    ikt_text text = {p->ctx, NULL, 0, 0, IKT_OK};
    ikt_clear(p->ctx);
    ikt_text_add(&text, "%s=%s", key, value);
    ikt_status st = text.status;
    if (st == IKT_OK) st = ikt_config_override(p->ctx, p->parts, IKT_SETTINGS_PARTS, text.data);
    ikt_free(&text.data);
    return st;
}

ikt_status ikt_parameters_get(const ikt_parameters *p, const char *key, char *text, size_t size) {
    const ikt_config_part *part;
    ikt_clear(p->ctx);
    if (size > 0) text[0] = '\0';
    const ikt_key *found = ikt_config_find(p->ctx, p->parts, IKT_SETTINGS_PARTS, "", key, &part);
    if (!found) return IKT_ERR_USAGE;
    ikt_value_print(found, ikt_config_member(part, found), text, size);
    return IKT_OK;
}

ikt_status ikt_parameters_load(ikt_parameters *p, const char *path) {
    ikt_clear(p->ctx);
    return ikt_agree(p->ctx, ikt_config_load(p->ctx, p->parts, IKT_SETTINGS_PARTS, path));
}

ikt_status ikt_parameters_yaml(ikt_parameters *p, const char **yaml) {
    *yaml = NULL;
    ikt_clear(p->ctx);
    ikt_free(&p->yaml);
    IKT_TRY(ikt_config_print(p->ctx, p->parts, IKT_SETTINGS_PARTS, &p->yaml));
    *yaml = p->yaml;
    return IKT_OK;
}

bool ikt_is_shared(ikt_context *ctx, int64_t number) {
    int64_t most[] = {number, -number};
    ikt_max_i64(ctx, most, 2);
    return most[0] == -most[1];
}

ikt_status ikt_parameters_hash(ikt_context *ctx, const ikt_parameters *parameters, int64_t *hash) {
    char *text = NULL;
    *hash = 0;
    IKT_TRY(ikt_agree(ctx, ikt_config_print(ctx, parameters->parts, IKT_SETTINGS_PARTS, &text)));
    *hash = (int64_t)(ikt_hash_bytes(text, strlen(text), 0) >> 1);
    ikt_free(&text);
    return IKT_OK;
}

/* --- the table of the keys -------------------------------------------------------------------- */

const char *ikt_setting_hint(const char *name) {
    return ikt_peer_hint(name);
}

bool ikt_setting_at(int64_t i, ikt_setting *out) {
    static const ikt_setting_type types[] = {[IKT_KEY_INT] = IKT_SETTING_INT,
                                             [IKT_KEY_REAL] = IKT_SETTING_REAL,
                                             [IKT_KEY_BOOL] = IKT_SETTING_BOOL,
                                             [IKT_KEY_STRING] = IKT_SETTING_TEXT,
                                             [IKT_KEY_CHOICE] = IKT_SETTING_CHOICE};
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_settings_parts(&settings, parts); /* addresses within it; nothing is read */
    for (int p = 0; p < IKT_SETTINGS_PARTS && i >= 0; p++) {
        const ikt_section *section = parts[p].section;
        const int64_t count = (int64_t)section->n_keys;
        if (i < count) {
            const ikt_key *key = &section->keys[i];
            *out = (ikt_setting){.section = section->name,
                                 .name = key->name,
                                 .type = types[key->type],
                                 .fallback = key->fallback,
                                 .takes_auto = key->allow_auto != 0,
                                 .low = key->low,
                                 .high = key->high,
                                 .choices = key->choices,
                                 .unit = key->unit,
                                 .help = key->help};
            return true;
        }
        i -= count;
    }
    return false;
}

/* --- data in the memory of a program ---------------------------------------------------------- */

ikt_status ikt_data_create(ikt_context *ctx, int64_t count, ikt_data **out) {
    *out = NULL;
    ikt_clear(ctx);
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "data"));
    (*out)->count = count;
    return IKT_OK;
}

void ikt_data_destroy(ikt_data **data) {
    ikt_free(data);
}

void ikt_data_rows(ikt_data *data, const void *rows, int64_t columns, ikt_type type) {
    data->has_rows = true;
    data->rows = rows;
    data->columns = columns;
    data->type = type;
}

static ikt_csr_arrays arrays_of(const ikt_data *data, const void *start, const void *column,
                                ikt_index index, const void *value, ikt_type type) {
    return (ikt_csr_arrays){data->count, start, column, value, index, type};
}

void ikt_data_sparse(ikt_data *data, const void *start, const void *column, ikt_index index,
                     const void *value, ikt_type type, int64_t columns) {
    data->has_sparse = true;
    data->sparse = arrays_of(data, start, column, index, value, type);
    data->columns = columns;
}

void ikt_data_graph(ikt_data *data, const void *start, const void *column, ikt_index index,
                    const void *value, ikt_type type) {
    data->has_graph = true;
    data->graph = arrays_of(data, start, column, index, value, type);
}

void ikt_data_pairs(ikt_data *data, const void *values, ikt_type type) {
    data->has_pairs = true;
    data->pairs = values;
    data->pairs_type = type;
}

void ikt_data_labels(ikt_data *data, const int64_t *labels) {
    data->labels = labels;
}

void ikt_data_start(ikt_data *data, const void *positions, int64_t dimensions, ikt_type type) {
    data->has_start = true;
    data->start = positions;
    data->dimensions = dimensions;
    data->start_type = type;
}

/* --- as sources ------------------------------------------------------------------------------- */

/* COLLECTIVE. Ranks that do not describe the same would wait for each other for ever. */
static ikt_status check_same(ikt_context *ctx, const ikt_data *data) {
    const int64_t kinds = data->has_rows + 2 * data->has_sparse + 4 * data->has_graph +
                          8 * data->has_pairs + 16 * data->has_start;
    int64_t most[] = {kinds, -kinds, data->count < 0};
    ikt_max_i64(ctx, most, 3);
    if (most[2] > 0)
        return ikt_fail(ctx, IKT_ERR_USAGE, "a rank gives fewer than 0 rows, which are no rows");
    if (most[0] != -most[1])
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "the ranks do not give the same kinds of data: each describes rows, a graph "
            "or a start, also where it has no rows");
    if (ikt_max_one(ctx, data->has_sparse && data->columns > INT32_MAX) > 0)
        return ikt_fail(ctx, IKT_ERR_USAGE, "sparse rows have fewer than 2^31 columns");
    if (data->has_rows && data->has_sparse)
        return ikt_fail(ctx, IKT_ERR_USAGE, "rows are given twice, dense and sparse");
    if (data->has_graph && data->has_pairs)
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "a sparse graph and a matrix of all pairs are given: one of both is enough");
    return IKT_OK;
}

ikt_status ikt_data_open(ikt_context *ctx, const ikt_data *data, ikt_data_sources *out) {
    *out = (ikt_data_sources){.rows = NULL};
    if (!data) return IKT_OK;
    IKT_TRY(check_same(ctx, data));
    const int64_t count = data->count, n = out->n = ikt_sum_one(ctx, count);
    const int64_t *labels = data->labels;
    if (n == 0) return ikt_fail(ctx, IKT_ERR_DATA, "no rank gives any rows");
    if (data->has_rows)
        IKT_TRY(ikt_source_from_rows(ctx, data->rows, labels, count, data->columns, data->type,
                                     &out->rows));
    if (data->has_sparse)
        IKT_TRY(ikt_source_from_csr(ctx, &data->sparse, labels, data->columns, &out->rows));
    if (data->has_graph)
        IKT_TRY(ikt_source_from_csr(ctx, &data->graph, labels, n, &out->borrowed.graph));
    if (data->has_pairs)
        IKT_TRY(ikt_source_from_rows(ctx, data->pairs, labels, count, n, data->pairs_type,
                                     &out->borrowed.pairs));
    if (data->has_start)
        IKT_TRY(ikt_source_from_rows(ctx, data->start, NULL, count, data->dimensions,
                                     data->start_type, &out->borrowed.start));
    return IKT_OK;
}

void ikt_data_close(ikt_data_sources *sources) {
    ikt_source_close(&sources->rows);
    ikt_source_close(&sources->borrowed.graph);
    ikt_source_close(&sources->borrowed.pairs);
    ikt_source_close(&sources->borrowed.start);
}
