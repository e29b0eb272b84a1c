/* The data sets of a study as files, and their checksums. See inputs.h. */
#include "study/inputs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/row_hash.h"
#include "base/shared_file.h"
#include "config/config.h"
#include "config/value.h"
#include "data/generate.h"
#include "io/sources/source.h"

uint64_t ikt_study_hash(uint64_t hash, const char *text) {
    if (hash == 0) hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return (hash ^ 1) * 0x100000001b3u; /* so that "ab", "c" differs from "a", "bc" */
}

/* --- files that are there --------------------------------------------------------------------- */

/* LOCAL, rank 0. An absolute name has one place only. */
static void look_for(const ikt_study *study, const ikt_study_places *places, const char *file,
                     char path[IKT_STRING_MAX]) {
    const char *slash = strrchr(study->path, '/');
    const int folder = slash ? (int)(slash - study->path) : 1, last = places->folders + 1;
    for (int f = file[0] == '/' ? last : 0; f <= last; f++) {
        if (f < places->folders)
            snprintf(path, IKT_STRING_MAX, "%.500s/%.500s", places->folder[f], file);
        else if (f < last)
            snprintf(path, IKT_STRING_MAX, "%.*s/%.500s", folder, slash ? study->path : ".", file);
        else
            snprintf(path, IKT_STRING_MAX, "%s", file);
        if (access(path, R_OK) == 0) return;
    }
    path[0] = '\0';
}

void ikt_study_find_file(ikt_context *ctx, const ikt_study *study, const ikt_study_places *places,
                         const char *file, char path[IKT_STRING_MAX]) {
    memset(path, 0, IKT_STRING_MAX);
    if (ikt_rank(ctx) == 0) look_for(study, places, file, path);
    ikt_broadcast(ctx, path, IKT_STRING_MAX, 0);
}

ikt_status ikt_study_lack(ikt_context *ctx, const ikt_study *study, const ikt_study_data *data,
                          const char *format, ...) {
    static const char where[] = "neither beside the study nor in a folder given by --data";
    char what[IKT_STRING_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (!data->is_optional)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s: %s is %s", study->path, what, where);
    ikt_log(ctx, IKT_LOG_WARN, "%s is left out: it is %s", what, where);
    return IKT_OK;
}

bool ikt_study_skips_itself(const ikt_study_data *data) {
    static const char key[] = "input.skip_columns=";
    for (int64_t a = 0; a < data->settings.count; a++)
        if (strncmp(data->settings.text[a], key, sizeof key - 1) == 0) return true;
    return false;
}

/* COLLECTIVE. Rows and columns of a data set, which is opened as the settings of the study and of
 * the set say; those of a method or an axis are not known yet. */
static ikt_status measure_table(ikt_context *ctx, const ikt_study *study,
                                const ikt_study_data *data, ikt_study_table *table) {
    const ikt_assignments *said[] = {&study->settings, &data->settings};
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_settings settings;
    ikt_source *source = NULL;
    memset(&settings, 0, sizeof settings);
    ikt_settings_parts(&settings, parts);
    IKT_TRY(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    for (int s = data->is_source; s < 2; s++) /* a source is read by what is said of itself alone */
        for (int64_t a = 0; a < said[s]->count; a++)
            if (strncmp(said[s]->text[a], "input.", 6) == 0 && !strstr(said[s]->text[a], "=data:"))
                IKT_TRY(ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, said[s]->text[a]));
    snprintf(settings.input.file, sizeof settings.input.file, "%s", table->file);
    settings.input.skip_is_shared = !ikt_study_skips_itself(data);
    IKT_TRY(ikt_input_look(ctx, &settings.input, &source));
    table->n = ikt_source_rows(source);
    table->d = ikt_source_columns(source);
    ikt_source_close(&source);
    return IKT_OK;
}

/* --- sets that are generated ------------------------------------------------------------------ */

/* Options of a generator as its settings. */
static ikt_status generator_settings(ikt_context *ctx, const ikt_study_data *data,
                                     ikt_generate_settings *out) {
    const ikt_config_part part = {&ikt_generate_section, out};
    IKT_TRY(ikt_generate_defaults(ctx, out));
    for (int64_t o = 0; o < data->options.count; o++) {
        const char *option = data->options.text[o], *value = strchr(option, '=') + 1;
        const int length = (int)(value - 1 - option);
        char name[IKT_STUDY_NAME];
        snprintf(name, sizeof name, "%.*s", length, option);
        const ikt_key *key = ikt_config_find_key(ctx, &part, 1, &part, "", name);
        if (!key) return IKT_ERR_USAGE;
        IKT_TRY(ikt_value_parse(ctx, key, option, value, ikt_config_member(&part, key)));
    }
    return IKT_OK;
}

/* COLLECTIVE. Whether a set is no older than the last change of the source that it is made of. */
static ikt_status look_at_age(ikt_context *ctx, const char *source, const char *made,
                              int64_t *is_new) {
    ikt_files files IKT_AT_END(ikt_files_destroy) = {.ctx = ctx};
    ikt_files_add(&files, IKT_FILE_READ, "options: source", source);
    ikt_files_add(&files, IKT_FILE_READ, "generate", made);
    IKT_TRY(ikt_files_look(&files));
    *is_new = files.file[0].changed <= files.file[1].changed;
    return IKT_OK;
}

/* OUTPUT/data/NAME-HASH.h5, by a hash of all that the data depends on but the contents of its
 * source. */
static void name_generated(const ikt_study_places *places, const ikt_study_data *data,
                           uint64_t seed, char path[IKT_STRING_MAX]) {
    char text[IKT_STUDY_TEXT];
    uint64_t hash = ikt_study_hash(0, data->generator);
    for (int64_t o = 0; o < data->options.count; o++)
        hash = ikt_study_hash(hash, data->options.text[o]);
    snprintf(text, sizeof text, "%" PRIu64, seed);
    hash = ikt_study_hash(hash, text);
    snprintf(path, IKT_STRING_MAX, "%.800s/data/%s-%08" PRIx32 ".h5", places->output,
             data->generator, (uint32_t)(hash ^ hash >> 32));
}

/* Makes the set unless it is there and no older than its source, which may be a data set of the
 * study. */
static ikt_status generate(ikt_context *ctx, const ikt_study *study, const ikt_study_places *places,
                           const ikt_study_data *data, uint64_t seed, ikt_study_table *table) {
    ikt_generate_settings settings;
    ikt_generation *generation = NULL;
    char source[IKT_STRING_MAX] = "";
    name_generated(places, data, seed, table->file);
    int64_t is_there = ikt_max_one(ctx, ikt_rank(ctx) == 0 && access(table->file, R_OK) == 0);
    IKT_TRY(generator_settings(ctx, data, &settings));
    if (settings.source[0]) ikt_study_find_file(ctx, study, places, settings.source, source);
    if (is_there && source[0]) IKT_TRY(look_at_age(ctx, source, table->file, &is_there));
    if (is_there) return measure_table(ctx, study, data, table);
    if (settings.source[0] && !source[0] && data->is_optional) {
        ikt_log(ctx, IKT_LOG_WARN, "the data set '%s' is left out: its source %s is not found",
                data->name, settings.source);
        return IKT_OK;
    }
    if (source[0]) snprintf(settings.source, sizeof settings.source, "%s", source);
    IKT_TRY(ikt_generation_open(ctx, data->generator, &settings, seed, &generation));
    const ikt_status st = ikt_generation_write(generation, table->file, true);
    ikt_generation_close(&generation);
    IKT_TRY(st);
    return measure_table(ctx, study, data, table);
}

/* --- all data sets ---------------------------------------------------------------------------- */

ikt_status ikt_study_make_folder(ikt_context *ctx, const char *path) {
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0 && mkdir(path, 0777) != 0 && errno != EEXIST)
        st = ikt_fail(ctx, IKT_ERR_FILE, "the folder %s cannot be made: %s", path, strerror(errno));
    return ikt_agree(ctx, st);
}

/* Marks the data sets that a list "a,b" names; all where there is no list.
 *   wanted   [study->n_data], receives the marks */
static ikt_status mark_wanted(ikt_context *ctx, const ikt_study *study, const char *only,
                              bool *wanted) {
    for (int64_t i = 0; i < study->n_data; i++)
        wanted[i] = !only || !only[0];
    while (only && *only) {
        const size_t length = strcspn(only, ",");
        bool found = false;
        for (int64_t i = 0; i < study->n_data; i++)
            if (strlen(study->data[i].name) == length &&
                memcmp(only, study->data[i].name, length) == 0)
                wanted[i] = found = true;
        if (!found)
            return ikt_fail(ctx, IKT_ERR_USAGE, "%s has no data set '%.*s' (--only)", study->path,
                            (int)length, only);
        only += length + (only[length] == ',');
    }
    return IKT_OK;
}

/* COLLECTIVE. The tables of a data set, for each seed. */
static ikt_status find_data(ikt_context *ctx, const ikt_study *study,
                            const ikt_study_places *places, const ikt_study_data *data,
                            ikt_study_table *table) {
    const bool is_anew = data->generator[0] && data->seed == IKT_AUTO_INT;
    for (int64_t s = 0; s < study->n_seeds; s++) {
        const uint64_t seed = (uint64_t)(is_anew ? study->seed[s] : data->seed);
        if (s > 0 && !is_anew) {
            table[s] = table[0];
        } else if (data->generator[0]) {
            IKT_TRY(generate(ctx, study, places, data, seed, &table[s]));
        } else {
            ikt_study_find_file(ctx, study, places, data->file, table[s].file);
            IKT_TRY(table[s].file[0] ? measure_table(ctx, study, data, &table[s])
                                     : ikt_study_lack(ctx, study, data, "the data set '%s' (%s)",
                                                      data->name, data->file));
        }
    }
    return IKT_OK;
}

ikt_status ikt_study_find_tables(ikt_context *ctx, const ikt_study *study,
                                 const ikt_study_places *places, ikt_study_table *table) {
    static const char *const below[] = {"", "/data", "/best"};
    bool wanted[IKT_STUDY_DATA_MOST];
    IKT_TRY(mark_wanted(ctx, study, places->only, wanted));
    for (size_t f = 0; f < sizeof below / sizeof *below; f++) {
        char path[IKT_STRING_MAX];
        snprintf(path, sizeof path, "%.1000s%s", places->output, below[f]);
        IKT_TRY(ikt_study_make_folder(ctx, path));
    }
    for (int64_t i = 0; i < study->n_data; i++)
        if (wanted[i] || study->data[i].is_source)
            IKT_TRY(find_data(ctx, study, places, &study->data[i], &table[i * study->n_seeds]));
    return IKT_OK;
}

/* --- checksums -------------------------------------------------------------------------------- */

static ikt_status append(ikt_checksums *c, const ikt_known_file *file) {
    IKT_TRY(ikt_resize(c->ctx, &c->known, c->count + 1, sizeof *c->known, "study"));
    c->known[c->count++] = *file;
    return IKT_OK;
}

/* LOCAL, rank 0. Lines that are cut off are passed over. */
static ikt_status read_lines(ikt_checksums *c) {
    ikt_locked_file file IKT_AT_END(ikt_locked_close) = {.ctx = NULL};
    IKT_TRY(ikt_locked_open(c->ctx, c->path, &file));
    for (char *line = file.text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        ikt_known_file of = {.bytes = 0};
        char space;
        *end = '\0';
        if (sscanf(line, "%" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64 "%c", &of.hash,
                   &of.device, &of.inode, &of.bytes, &of.changed, &space) == 6)
            IKT_TRY(append(c, &of));
    }
    return IKT_OK;
}

ikt_status ikt_checksums_open(ikt_context *ctx, const char *output, ikt_checksums *out) {
    ikt_checksums c IKT_AT_END(ikt_checksums_close) = {.ctx = ctx};
    ikt_status st = IKT_OK;
    *out = c;
    snprintf(c.path, sizeof c.path, "%.1000s/checksums", output);
    IKT_TRY(ikt_agree(ctx, ikt_rank(ctx) == 0 ? read_lines(&c) : IKT_OK));
    ikt_broadcast(ctx, &c.count, (int64_t)sizeof c.count, 0);
    if (ikt_rank(ctx) != 0) st = ikt_resize(ctx, &c.known, c.count, sizeof *c.known, "study");
    IKT_TRY(ikt_agree(ctx, st));
    ikt_broadcast(ctx, c.known, c.count * (int64_t)sizeof *c.known, 0);
    return ikt_give(out, c);
}

void ikt_checksums_close(ikt_checksums *checksums) {
    ikt_free(&checksums->known);
    checksums->count = 0;
}

static bool is_known(const ikt_known_file *known, const ikt_file *file) {
    return known->device == file->device && known->inode == file->inode &&
           known->bytes == file->bytes && known->changed == file->changed;
}

/* LOCAL, rank 0. */
static ikt_status write_line(const ikt_checksums *c, const ikt_known_file *known,
                             const char *path) {
    char line[IKT_PATH_MAX + 128];
    ikt_locked_file lines IKT_AT_END(ikt_locked_close) = {.ctx = NULL};
    snprintf(line, sizeof line,
             "%016" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %s\n", known->hash,
             known->device, known->inode, known->bytes, known->changed, path);
    IKT_TRY(ikt_locked_open(c->ctx, c->path, &lines));
    return ikt_locked_append(&lines, line);
}

/* COLLECTIVE. Reads a file and remembers its checksum. */
static ikt_status compute(ikt_checksums *c, const ikt_file *file, ikt_known_file *out) {
    *out = (ikt_known_file){0, file->device, file->inode, file->bytes, file->changed};
    IKT_TRY(ikt_file_hash(c->ctx, file->path, &out->hash));
    ikt_status st = append(c, out);
    if (st == IKT_OK && ikt_rank(c->ctx) == 0) st = write_line(c, out, file->path);
    return ikt_agree(c->ctx, st);
}

ikt_status ikt_checksums_add(ikt_checksums *c, const ikt_files *files, uint64_t *hash) {
    for (int64_t f = 0; f < files->count; f++) {
        const ikt_file *file = &files->file[f];
        ikt_known_file known = {.hash = 0};
        bool is_found = false;
        if (file->use != IKT_FILE_READ || !file->is_there || !file->is_regular) continue;
        for (int64_t k = 0; k < c->count && !is_found; k++)
            if ((is_found = is_known(&c->known[k], file))) known = c->known[k];
        if (!is_found) IKT_TRY(compute(c, file, &known));
        *hash = ikt_hash_bytes(&known.hash, sizeof known.hash, *hash);
        *hash = ikt_hash_bytes(file->role, strlen(file->role), *hash);
    }
    return IKT_OK;
}
