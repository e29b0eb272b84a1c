/* The file of an aligned embedding. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/memory.h"
#include "config/value.h"
#include "iktsne/build.h"
#include "pipeline/align.h"

enum { FACTS_MOST = 24 };

typedef struct {
    ikt_note fact[FACTS_MOST];
    int64_t count;
    ikt_note varying[3];
} notes;

/* What the run's own file says and the new one repeats; its copies, freed as one. */
typedef struct {
    char *configuration, *names;
    int64_t *marked, n_marked;
} inheritance;

static void add(notes *n, const char *name, const char *text) {
    ikt_note *fact = &n->fact[n->count++];
    snprintf(fact->name, sizeof fact->name, "%s", name);
    snprintf(fact->text, sizeof fact->text, "%s", text);
}

static void add_int(notes *n, const char *name, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    add(n, name, text);
}

static void add_real(notes *n, const char *name, double value) {
    char text[IKT_REAL_TEXT];
    ikt_real_print(value, text);
    add(n, name, text);
}

static void add_hash(notes *n, const char *name, uint64_t hash) {
    char text[32];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
    add(n, name, text);
}

/* "0.5 0.25": numbers that read back exactly. */
static void add_reals(notes *n, const char *name, const double *values, int count) {
    char text[IKT_PROCRUSTES_MOST * IKT_PROCRUSTES_MOST * IKT_REAL_TEXT];
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        char one[IKT_REAL_TEXT];
        ikt_real_print(values[i], one);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? " " : "", one);
    }
    add(n, name, text);
}

static void visit_note(void *self, const char *name, const char *text, bool varying) {
    static const char *const kept[] = {"input", "input_shape", "input_fingerprint"};
    notes *n = self;
    for (int i = 0; i < 3 && !varying; i++)
        if (strcmp(kept[i], name) == 0) add(n, name, text);
}

static void describe_motion(const ikt_procrustes *motion, notes *n) {
    const int q = motion->q;
    add_real(n, "scale", motion->scale);
    add_real(n, "rotation_degrees", ikt_procrustes_angle(motion));
    add(n, "mirrored", motion->is_mirrored ? "yes" : "no");
    add_reals(n, "rotation", motion->turn, q * q);
    add_reals(n, "centre_before", motion->from, q);
    add_reals(n, "centre_after", motion->to, q);
}

static void describe(ikt_context *ctx, const ikt_align_request *request, const ikt_aligned *a,
                     notes *n) {
    add(n, "version", IKT_VERSION);
    add(n, "commit", IKT_COMMIT);
    add(n, "compiler", IKT_COMPILER " " IKT_COMPILE_FLAGS);
    add(n, "made_by", "iktsne align: scale * (row - centre_before) * rotation + centre_after");
    add(n, "aligned", request->run);
    add_hash(n, "aligned_hash", a->run_hash);
    add(n, "reference", request->reference);
    add_hash(n, "reference_hash", a->reference_hash);
    add_int(n, "rows_matched", a->rows);
    describe_motion(&a->motion, n);
    add_real(n, "residual", a->residual);
    add_hash(n, "embedding_hash", a->hash);
    n->varying[0] = (ikt_note){"ranks", ""};
    n->varying[1] = (ikt_note){"threads", ""};
    n->varying[2] = (ikt_note){"directory", "unknown"};
    snprintf(n->varying[0].text, sizeof n->varying[0].text, "%d", ikt_size(ctx));
    snprintf(n->varying[1].text, sizeof n->varying[1].text, "%d", ikt_threads(ctx));
    if (!getcwd(n->varying[2].text, sizeof n->varying[2].text))
        snprintf(n->varying[2].text, sizeof n->varying[2].text, "unknown");
}

static ikt_status inherit(const ikt_aligned *a, inheritance *in, notes *n) {
    IKT_TRY(ikt_result_configuration(a->file, &in->configuration));
    IKT_TRY(ikt_result_read_text(a->file, "label_names", &in->names));
    IKT_TRY(ikt_result_read_marked(a->file, &in->marked, &in->n_marked));
    return ikt_result_notes(a->file, visit_note, n);
}

static ikt_status write_result(ikt_context *ctx, const ikt_aligned *a, const notes *n,
                               const inheritance *in, const char *path, bool overwrite) {
    const ikt_result_column column = {"displacement", IKT_COLUMN_DOUBLE, a->displacement};
    const ikt_result result = {.map = a->map,
                               .q = a->motion.q,
                               .embedding = a->y,
                               .labels = a->labels,
                               .label_names = in->names,
                               .marked = in->marked,
                               .n_marked = in->n_marked,
                               .value_name = "kl",
                               .configuration = in->configuration ? in->configuration : "",
                               .facts = n->fact,
                               .n_facts = n->count,
                               .circumstances = n->varying,
                               .n_circumstances = 3,
                               .columns = &column,
                               .n_columns = 1};
    return ikt_result_write(ctx, path, overwrite, &result);
}

ikt_status ikt_align_write(ikt_context *ctx, const ikt_align_request *request,
                           const ikt_aligned *aligned, const char *path, bool overwrite) {
    notes *n = NULL;
    inheritance in = {NULL, NULL, NULL, 0};
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &n, 1, sizeof *n, "provenance"));
    if (st == IKT_OK) st = inherit(aligned, &in, n);
    if (st == IKT_OK) {
        describe(ctx, request, aligned, n);
        ikt_broadcast(ctx, n, (int64_t)sizeof *n, 0); /* HDF5 wants equal attributes */
        st = write_result(ctx, aligned, n, &in, path, overwrite);
    }
    ikt_free(&n);
    ikt_free(&in.configuration);
    ikt_free(&in.names);
    ikt_free(&in.marked);
    return st;
}
