/* What a result depends on. See checkpoint.h. */
#include <stdio.h>
#include <string.h>

#include "base/encoding.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "base/sort.h"
#include "base/watch.h"
#include "checkpoint/checkpoint.h"
#include "linalg/blocks.h"

/* --- the data --------------------------------------------------------------------------------- */

/* The hash of the columns and values of each sparse row, which are canonical. */
static void hash_sparse(const ikt_sparse_rows *sparse, int64_t count, uint64_t *hash) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t from = sparse->start[i];
        const size_t held = (size_t)(sparse->start[i + 1] - from);
        hash[i] = ikt_hash_bytes(sparse->column + from, held * sizeof *sparse->column, held);
        hash[i] = ikt_hash_bytes(sparse->value + from, held * sizeof *sparse->value, hash[i]);
    }
}

/* COLLECTIVE. Adds up the hashes of this rank's rows; of a sparse row its own hash stands for it.
 */
static ikt_status hash_rows(ikt_context *ctx, ikt_source *source, uint64_t *sum) {
    const bool is_sparse = ikt_source_is_sparse(source);
    const ikt_rows rows = ikt_rows_make(ikt_source_rows(source), ikt_size(ctx), ikt_rank(ctx));
    const ikt_row_range own = {rows.first, rows.count};
    const int64_t columns = ikt_source_columns(source);
    const int64_t value = (int64_t)ikt_type_size(ikt_source_type(source));
    const size_t bytes = is_sparse ? sizeof(uint64_t) : (size_t)(columns * value);
    const int64_t block =
        is_sparse ? ikt_source_block_rows(source) : ikt_stream_rows(columns, value);
    const int64_t steps = ikt_stream_steps(ctx, own.count, block);
    ikt_sparse_rows sparse IKT_AT_END(ikt_sparse_rows_destroy) = {0};
    IKT_ARRAYS(held, ctx, "rows of X");
    void *read = ikt_claim(&held, block, bytes);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        IKT_TRY(is_sparse ? ikt_source_read_sparse(source, at.first, at.count, &sparse)
                          : ikt_source_read(source, at.first, at.count, read));
        if (is_sparse) hash_sparse(&sparse, at.count, read);
        *sum += ikt_row_hash_local(ctx, read, at.first, at.count, bytes);
        IKT_TRY(ikt_watch_pause(ctx));
    }
    return IKT_OK;
}

ikt_status ikt_fingerprint_input(ikt_context *ctx, ikt_source *source, char text[IKT_INPUT_TEXT]) {
    uint64_t sum = 0;
    const bool is_sparse = ikt_source_is_sparse(source);
    IKT_TRY(hash_rows(ctx, source, &sum));
    snprintf(text, IKT_INPUT_TEXT, "%lld x %lld %s%s, hash %016llx",
             (long long)ikt_source_rows(source), (long long)ikt_source_columns(source),
             is_sparse ? "sparse " : "", ikt_type_name(ikt_source_type(source)),
             (unsigned long long)ikt_hash_total(ctx, sum));
    return IKT_OK;
}

const char *const ikt_input_roles[IKT_INPUT_ROLES] = {"input.labels", "isolation.model_from",
                                                      "layout.init_file"};

/* Where "; ROLE " begins; NULL where that role is none of them. */
static const char *find_role(const char *all, const char *role) {
    char words[64];
    snprintf(words, sizeof words, "; %s ", role);
    return strstr(all, words);
}

/* The checksum of a role, up to the next one; of "", what stands before all of them. */
static void take_role(const char *all, const char *role, char out[IKT_INPUTS_TEXT]) {
    const char *begin = all;
    snprintf(out, IKT_INPUTS_TEXT, "none");
    if (role[0]) {
        begin = find_role(all, role);
        if (!begin) return;
        begin += strlen("; ") + strlen(role) + 1;
    }
    int64_t length = (int64_t)strlen(begin);
    for (int r = 0; r < IKT_INPUT_ROLES; r++) {
        const char *next = find_role(begin, ikt_input_roles[r]);
        if (next) length = ikt_smaller(length, next - begin);
    }
    snprintf(out, IKT_INPUTS_TEXT, "%.*s", (int)length, begin);
}

const char *ikt_fingerprint_input_difference(const char *all_there, const char *all_here,
                                             char there[IKT_INPUTS_TEXT],
                                             char here[IKT_INPUTS_TEXT]) {
    const char *role = "";
    for (int r = 0; r <= IKT_INPUT_ROLES; r++) {
        take_role(all_there, role, there);
        take_role(all_here, role, here);
        if (r == IKT_INPUT_ROLES || strcmp(there, here) != 0) break;
        role = ikt_input_roles[r];
    }
    return ikt_text_or(role, "input.file");
}

/* --- the settings ----------------------------------------------------------------------------- */

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
    s.kernel = settings->kernel;
    s.layout.iterations = IKT_AUTO_INT; /* more of them go on from fewer */
    s.layout.grid = 0;                  /* gives the same bits */
    s.run.seed = settings->run.seed;
    char *const file[] = {s.isolation.model_from, s.layout.init_file};
    for (size_t f = 0; f < sizeof file / sizeof *file; f++)
        if (file[f][0]) strcpy(file[f], "a file");
    ikt_affinity_rename_file(&s.affinity, "a file");
    return ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, text);
}

/* Lengths of a line, of the key in it without blanks, and where its value begins. */
typedef struct {
    int line, blanks, key, value;
} parts_of_line;

static parts_of_line split(const char *line) {
    parts_of_line p = {.line = (int)strcspn(line, "\n"), .blanks = (int)strspn(line, " ")};
    const char *colon = memchr(line, ':', (size_t)p.line);
    const int end = colon ? (int)(colon - line) : p.line;
    p.key = end - p.blanks;
    p.value = (int)ikt_smaller(end + 2, p.line);
    return p;
}

void ikt_fingerprint_difference(const char *there, const char *here, char *text, size_t size) {
    const char *section = "";
    int section_length = 0;
    snprintf(text, size, "settings differ");
    while (*there && *here) {
        const parts_of_line a = split(there), b = split(here);
        if (a.blanks == 0) {
            section = there;
            section_length = a.line - 1; /* without its colon */
        }
        if (a.line != b.line || memcmp(there, here, (size_t)a.line) != 0) {
            snprintf(text, size, "%.*s.%.*s is %.*s there and %.*s here", section_length, section,
                     a.key, there + a.blanks, a.line - a.value, there + a.value, b.line - b.value,
                     here + b.value);
            return;
        }
        there += a.line + (there[a.line] == '\n');
        here += b.line + (here[b.line] == '\n');
    }
}
