/* What a result depends on. See fingerprint.h. */
#include "checkpoint/fingerprint.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/row_hash.h"
#include "linalg/blocks.h"

/* --- the data ----------------------------------------------------------------------------------
 */

static ikt_status hash_rows(ikt_context *ctx, ikt_source *source, uint64_t *sum) {
    const ikt_rows distribution =
        ikt_rows_make(ikt_source_rows(source), ikt_size(ctx), ikt_rank(ctx));
    const int64_t columns = ikt_source_columns(source);
    const size_t value_bytes = ikt_type_size(ikt_source_type(source));
    const size_t row_bytes = (size_t)columns * value_bytes;
    const int64_t block = ikt_stream_rows(columns, (int64_t)value_bytes);
    const int64_t steps = ikt_stream_steps(ctx, distribution.count, block);
    const ikt_row_range own = {distribution.first, distribution.count};
    char *rows = NULL;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &rows, block, row_bytes, "rows of X"));
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        st = ikt_source_read(source, at.first, at.count, rows);
        if (st == IKT_OK) *sum += ikt_row_hash_local(ctx, rows, at.first, at.count, row_bytes);
    }
    ikt_free(&rows);
    return st;
}

/* Of each row the hash of its columns and values, which are canonical, stands for the row. */
static ikt_status hash_sparse_rows(ikt_context *ctx, ikt_source *source, uint64_t *sum) {
    const ikt_rows distribution =
        ikt_rows_make(ikt_source_rows(source), ikt_size(ctx), ikt_rank(ctx));
    const ikt_row_range own = {distribution.first, distribution.count};
    const int64_t block = ikt_source_block_rows(source);
    const int64_t steps = ikt_stream_steps(ctx, own.count, block);
    ikt_sparse_rows rows = {0};
    uint64_t *hash = NULL;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &hash, block, sizeof *hash, "rows of X"));
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        st = ikt_source_read_sparse(source, at.first, at.count, &rows);
        for (int64_t i = 0; st == IKT_OK && i < at.count; i++) {
            const int64_t from = rows.start[i];
            const size_t held = (size_t)(rows.start[i + 1] - from);
            hash[i] = ikt_hash_bytes(rows.column + from, held * sizeof *rows.column, held);
            hash[i] = ikt_hash_bytes(rows.value + from, held * sizeof *rows.value, hash[i]);
        }
        if (st == IKT_OK) *sum += ikt_row_hash_local(ctx, hash, at.first, at.count, sizeof *hash);
    }
    ikt_sparse_rows_destroy(&rows);
    ikt_free(&hash);
    return st;
}

ikt_status ikt_fingerprint_input(ikt_context *ctx, ikt_source *source, char text[IKT_INPUT_TEXT]) {
    uint64_t sum = 0;
    const bool is_sparse = ikt_source_is_sparse(source);
    IKT_TRY(is_sparse ? hash_sparse_rows(ctx, source, &sum) : hash_rows(ctx, source, &sum));
    snprintf(text, IKT_INPUT_TEXT, "%lld x %lld %s%s, hash %016llx",
             (long long)ikt_source_rows(source), (long long)ikt_source_columns(source),
             is_sparse ? "sparse " : "", ikt_type_name(ikt_source_type(source)),
             (unsigned long long)ikt_hash_total(ctx, sum));
    return IKT_OK;
}

/* --- the settings ------------------------------------------------------------------------------
 */

ikt_status ikt_fingerprint_settings(ikt_context *ctx, const ikt_settings *settings, char **text) {
    ikt_settings s;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    memset(&s, 0, sizeof s);
    ikt_settings_parts(&s, parts);
    IKT_TRY(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    s.preprocess = settings->preprocess;
    s.affinity = settings->affinity;
    s.isolation = settings->isolation;
    s.layout = settings->layout;
    s.layout.iterations = IKT_AUTO_INT; /* more of them go on from fewer */
    s.layout.grid = 0;                  /* gives the same bits */
    s.run.seed = settings->run.seed;
    return ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, text);
}

/* A line of YAML and the section it stands in. */
typedef struct {
    const char *section, *line;
    int section_length, length;
} place;

static int length_of(const char *line) {
    return (int)strcspn(line, "\n");
}

/* The part before the colon of "  key: value", and what stands behind it. */
static void split(const place *at, int *name, const char **value, int *value_length) {
    const int blanks = (int)strspn(at->line, " ");
    const char *colon = memchr(at->line, ':', (size_t)at->length);
    *name = colon ? (int)(colon - at->line) - blanks : at->length - blanks;
    *value = colon && colon[1] ? colon + 2 : at->line + at->length;
    *value_length = colon && colon[1] ? at->length - (int)(*value - at->line) : 0;
    if (*value_length < 0) *value_length = 0;
}

void ikt_fingerprint_difference(const char *there, const char *here, char *text, size_t size) {
    place a = {"", there, 0, 0}, b = {"", here, 0, 0};
    snprintf(text, size, "settings differ");
    while (*a.line && *b.line) {
        a.length = length_of(a.line);
        b.length = length_of(b.line);
        if (a.line[0] != ' ') a.section = a.line, a.section_length = a.length - 1;
        if (a.length != b.length || memcmp(a.line, b.line, (size_t)a.length) != 0) {
            int name, name_b, count_a, count_b;
            const char *value_a, *value_b;
            split(&a, &name, &value_a, &count_a);
            split(&b, &name_b, &value_b, &count_b);
            snprintf(text, size, "%.*s.%.*s is %.*s there and %.*s here", a.section_length,
                     a.section, name, a.line + strspn(a.line, " "), count_a, value_a, count_b,
                     value_b);
            return;
        }
        a.line += a.length + (a.line[a.length] == '\n');
        b.line += b.length + (b.line[b.length] == '\n');
    }
}
