/* The data sets of a study as files. */
#include "study/tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "config/value.h"
#include "data/generate.h"
#include "io/sources/source.h"

uint64_t ikt_study_hash(uint64_t hash, const char *text) {
    if (hash == 0) hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return (hash ^ 1) * 0x100000001b3u; /* so that "ab", "c" differs from "a", "bc" */
}

/* LOCAL, rank 0. The first place where the file is; false where it is nowhere. */
static bool look_for(const ikt_study *study, const ikt_study_places *places, const char *file,
                     char path[IKT_STRING_MAX]) {
    const char *slash = strrchr(study->path, '/');
    const int folder = slash ? (int)(slash - study->path) : 1;
    snprintf(path, IKT_STRING_MAX, "%s", file);
    if (file[0] == '/') return access(path, R_OK) == 0;
    for (int f = 0; f < places->folders; f++) {
        snprintf(path, IKT_STRING_MAX, "%.500s/%.500s", places->folder[f], file);
        if (access(path, R_OK) == 0) return true;
    }
    snprintf(path, IKT_STRING_MAX, "%.*s/%.500s", folder, slash ? study->path : ".", file);
    if (access(path, R_OK) == 0) return true;
    snprintf(path, IKT_STRING_MAX, "%s", file);
    return access(path, R_OK) == 0;
}

/* COLLECTIVE. Rank 0 looks, all know; path is "" where the file is nowhere. */
static void find_file(ikt_context *ctx, const ikt_study *study, const ikt_study_places *places,
                      const char *file, char path[IKT_STRING_MAX]) {
    memset(path, 0, IKT_STRING_MAX);
    if (ikt_rank(ctx) == 0 && !look_for(study, places, file, path)) path[0] = '\0';
    ikt_broadcast(ctx, path, IKT_STRING_MAX, 0);
}

static ikt_status measure_table(ikt_context *ctx, const ikt_study_data *data,
                                ikt_study_table *table) {
    ikt_source *source = NULL;
    const char *dataset = "X";
    for (int64_t s = 0; s < data->settings.count; s++)
        if (strncmp(data->settings.text[s], "input.dataset=", 14) == 0)
            dataset = data->settings.text[s] + 14;
    IKT_TRY(ikt_source_open(ctx, table->file, dataset, 0, &source));
    table->n = ikt_source_rows(source);
    table->d = ikt_source_columns(source);
    ikt_source_close(&source);
    return IKT_OK;
}

static ikt_status open_file(ikt_context *ctx, const ikt_study *study,
                            const ikt_study_places *places, const ikt_study_data *data,
                            ikt_study_table *table) {
    find_file(ctx, study, places, data->file, table->file);
    if (table->file[0]) return measure_table(ctx, data, table);
    if (!data->is_optional)
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s: the data set '%s' (%s) is neither beside the study nor in a folder "
                        "given by --data",
                        study->path, data->name, data->file);
    ikt_log(ctx, IKT_LOG_WARN,
            "the data set '%s' (%s) is left out: it is neither beside the study nor in a folder "
            "given by --data",
            data->name, data->file);
    return IKT_OK;
}

/* Options of a generator as its settings; `source` may name a data set of the study. */
static ikt_status generator_settings(ikt_context *ctx, const ikt_study *study,
                                     const ikt_study_places *places, const ikt_study_data *data,
                                     ikt_generate_settings *out, bool *lacks_source) {
    *lacks_source = false;
    IKT_TRY(ikt_generate_defaults(ctx, out));
    for (int64_t o = 0; o < data->options.count; o++) {
        const char *option = data->options.text[o], *value = strchr(option, '=') + 1;
        for (size_t k = 0; k < ikt_generate_section.n_keys; k++) {
            const ikt_key *key = &ikt_generate_section.keys[k];
            const size_t length = strlen(key->name);
            if (strncmp(option, key->name, length) != 0 || option[length] != '=') continue;
            IKT_TRY(ikt_value_parse(ctx, key, option, value, (char *)out + key->offset));
        }
    }
    if (!out->source[0]) return IKT_OK;
    char given[IKT_STRING_MAX];
    snprintf(given, sizeof given, "%s", out->source);
    find_file(ctx, study, places, given, out->source);
    *lacks_source = !out->source[0];
    if (*lacks_source) snprintf(out->source, sizeof out->source, "%s", given);
    return IKT_OK;
}

/* OUTPUT/data/NAME-HASH.h5, by a hash of all that the data depends on. */
static void generated_name(const ikt_study_places *places, const ikt_study_data *data,
                           uint64_t seed, char path[IKT_STRING_MAX]) {
    char text[32];
    uint64_t hash = ikt_study_hash(0, data->generator);
    for (int64_t o = 0; o < data->options.count; o++)
        hash = ikt_study_hash(hash, data->options.text[o]);
    snprintf(text, sizeof text, "%" PRIu64, seed);
    hash = ikt_study_hash(hash, text);
    snprintf(path, IKT_STRING_MAX, "%.800s/data/%s-%08" PRIx32 ".h5", places->output,
             data->generator, (uint32_t)(hash ^ hash >> 32));
}

static ikt_status generate(ikt_context *ctx, const ikt_study *study, const ikt_study_places *places,
                           const ikt_study_data *data, uint64_t seed, ikt_study_table *table) {
    ikt_generate_settings settings;
    ikt_generation *generation = NULL;
    int64_t is_there = 0;
    bool lacks_source;
    generated_name(places, data, seed, table->file);
    if (ikt_rank(ctx) == 0) is_there = access(table->file, R_OK) == 0;
    if (ikt_max_one(ctx, is_there)) return measure_table(ctx, data, table);
    IKT_TRY(generator_settings(ctx, study, places, data, &settings, &lacks_source));
    if (lacks_source && data->is_optional) {
        ikt_log(ctx, IKT_LOG_WARN, "the data set '%s' is left out: its source %s is not found",
                data->name, settings.source);
        return IKT_OK;
    }
    IKT_TRY(ikt_generation_open(ctx, data->generator, &settings, seed, &generation));
    ikt_status st = ikt_generation_write(generation, table->file, true);
    ikt_generation_close(&generation);
    return st == IKT_OK ? measure_table(ctx, data, table) : st;
}

ikt_status ikt_study_make_folder(ikt_context *ctx, const char *path) {
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0 && mkdir(path, 0777) != 0 && errno != EEXIST)
        st = ikt_fail(ctx, IKT_ERR_FILE, "the folder %s cannot be made: %s", path, strerror(errno));
    return ikt_agree(ctx, st);
}

static ikt_status make_folders(ikt_context *ctx, const char *output) {
    static const char *const below[] = {"", "/data", "/best"};
    for (size_t f = 0; f < sizeof below / sizeof *below; f++) {
        char path[IKT_STRING_MAX];
        snprintf(path, sizeof path, "%.1000s%s", output, below[f]);
        IKT_TRY(ikt_study_make_folder(ctx, path));
    }
    return IKT_OK;
}

/* Whether a list "a,b" names the data set; everything where there is no list. */
static bool is_wanted(const char *only, const char *name) {
    while (only && *only) {
        const size_t length = strcspn(only, ",");
        if (strlen(name) == length && memcmp(only, name, length) == 0) return true;
        only += length + (only[length] == ',');
        if (!*only) return false;
    }
    return true;
}

static ikt_status check_only(ikt_context *ctx, const ikt_study *study, const char *only) {
    while (only && *only) {
        const size_t length = strcspn(only, ",");
        bool found = false;
        for (int64_t i = 0; i < study->n_data; i++)
            found |= strlen(study->data[i].name) == length &&
                     memcmp(only, study->data[i].name, length) == 0;
        if (!found)
            return ikt_fail(ctx, IKT_ERR_USAGE, "%s has no data set '%.*s' (--only)", study->path,
                            (int)length, only);
        only += length + (only[length] == ',');
    }
    return IKT_OK;
}

ikt_status ikt_study_tables_find(ikt_context *ctx, const ikt_study *study,
                                 const ikt_study_places *places, ikt_study_table *table) {
    IKT_TRY(check_only(ctx, study, places->only));
    IKT_TRY(make_folders(ctx, places->output));
    for (int64_t i = 0; i < study->n_data; i++) {
        const ikt_study_data *data = &study->data[i];
        ikt_study_table *first = &table[i * study->n_seeds];
        if (!is_wanted(places->only, data->name) && !data->is_source) continue;
        const bool is_anew = data->generator[0] && data->seed == IKT_AUTO_INT;
        for (int64_t s = 0; s < study->n_seeds; s++) {
            const uint64_t seed = (uint64_t)(is_anew ? study->seed[s] : data->seed);
            if (s > 0 && !is_anew)
                first[s] = first[0];
            else if (data->generator[0])
                IKT_TRY(generate(ctx, study, places, data, seed, &first[s]));
            else
                IKT_TRY(open_file(ctx, study, places, data, &first[s]));
        }
    }
    return IKT_OK;
}
