/* iktsne info: what a file is. */
#include <stdio.h>
#include <string.h>

#include "app/json.h"
#include "app/option.h"
#include "app/verbs.h"
#include "base/memory.h"
#include "io/result.h"
#include "io/source.h"

typedef struct {
    ikt_json *json; /* NULL: text */
    bool varying;   /* group of the last line printed */
} printer;

static void show_note(void *self, const char *name, const char *text, bool varying) {
    printer *p = self;
    if (strcmp(name, "configuration") == 0) return; /* has a flag of its own */
    if (!p->json) {
        if (varying && !p->varying) printf("this run\n");
        printf("  %-28s %s\n", name, text);
    } else {
        ikt_json_text(p->json, name, text);
    }
    p->varying = varying;
}

static void ignore_note(void *self, const char *name, const char *text, bool varying) {
    (void)self, (void)name, (void)text, (void)varying;
}

static ikt_status show_result(ikt_context *ctx, const char *path, ikt_result_file *file,
                              bool as_json) {
    bool is_root = ikt_rank(ctx) == 0;
    ikt_json json = {stdout, 0, false};
    printer p = {as_json ? &json : NULL, false};
    if (is_root && as_json) {
        ikt_json_begin(&json, NULL, '{');
        ikt_json_text(&json, "kind", "embedding");
        ikt_json_int(&json, "rows", ikt_result_rows(file));
    } else if (is_root) {
        printf("%s: embedding of %lld rows\n", path, (long long)ikt_result_rows(file));
    }
    ikt_status st = ikt_result_notes(file, is_root ? show_note : ignore_note, &p);
    if (is_root && as_json) ikt_json_end(&json, '}');
    return st;
}

static ikt_status show_configuration(ikt_context *ctx, const char *path, ikt_result_file *file) {
    char *text = NULL;
    IKT_TRY(ikt_result_configuration(file, &text));
    if (!text) return ikt_fail(ctx, IKT_ERR_DATA, "%s holds no configuration of a run", path);
    if (ikt_rank(ctx) == 0) fputs(text, stdout);
    ikt_free(&text);
    return IKT_OK;
}

static ikt_status show_data(ikt_context *ctx, const char *path, const char *dataset, bool as_json) {
    ikt_source *source = NULL;
    int64_t label = 0;
    bool labels = false;
    IKT_TRY(ikt_source_open(ctx, path, dataset, 0, &source));
    ikt_status st = ikt_source_read_labels(source, "labels", 0, 1, &label, &labels);
    if (st == IKT_OK && ikt_rank(ctx) == 0) {
        const char *type = ikt_type_name(ikt_source_type(source));
        long long n = (long long)ikt_source_rows(source), d = (long long)ikt_source_columns(source);
        if (as_json) {
            ikt_json json = {stdout, 0, false};
            ikt_json_begin(&json, NULL, '{');
            ikt_json_text(&json, "kind", "data");
            ikt_json_int(&json, "rows", n);
            ikt_json_int(&json, "columns", d);
            ikt_json_text(&json, "type", type);
            ikt_json_text(&json, "labels", labels ? "yes" : "no");
            ikt_json_end(&json, '}');
        } else {
            printf("%s: %lld rows x %lld columns, %s, %s labels\n", ikt_source_name(source), n, d,
                   type, labels ? "with" : "without");
        }
    }
    ikt_source_close(&source);
    return st;
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    bool configuration, as_json, help;
    char dataset[IKT_STRING_MAX];
    const ikt_option options[] = {
        {"config", IKT_KEY_BOOL, NULL, "no", 0, 0, NULL,
         "Print the configuration that repeats the run, as YAML", &configuration},
        {"dataset", IKT_KEY_STRING, "NAME", "X", 0, 0, NULL, "Data set to describe", dataset},
        {"json", IKT_KEY_BOOL, NULL, "no", 0, 0, NULL, "Print as JSON", &as_json}};
    const char *path;
    int count;
    IKT_TRY(ikt_options_parse(ctx, &ikt_verb_info, options, sizeof options / sizeof *options, argc,
                              argv, &path, 1, 1, &count, &help));
    if (help) return IKT_OK;
    ikt_result_file *file = NULL;
    ikt_status st = ikt_result_open(ctx, path, &file);
    if (st == IKT_ERR_DATA && !configuration) { /* no embedding in it: a data set, then */
        ikt_clear(ctx);
        return show_data(ctx, path, dataset, as_json);
    }
    if (st == IKT_OK)
        st = configuration ? show_configuration(ctx, path, file)
                           : show_result(ctx, path, file, as_json);
    ikt_result_close(&file);
    return st;
}

const ikt_verb ikt_verb_info = {"info", "FILE.h5 [options]",
                                "Tell what a file is: data, or an embedding and how it was made",
                                run};
