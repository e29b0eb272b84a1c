/* The file of an aligned embedding. */
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "pipeline/notes.h"
#include "transform/align.h"

/* What the run's own file says and the new one repeats; its copies, freed as one. */
typedef struct {
    char *configuration, *names;
    int64_t *marked, n_marked;
} inheritance;

static void visit_note(void *self, const char *name, const char *text, bool varying) {
    static const char *const kept[] = {"input", "input_shape", "input_fingerprint"};
    ikt_notes *n = self;
    for (int i = 0; i < 3 && !varying; i++)
        if (strcmp(kept[i], name) == 0) ikt_note_text(n, name, text);
}

static void describe_motion(const ikt_procrustes *motion, ikt_notes *n) {
    const int q = motion->q;
    const double angle = ikt_procrustes_angle(motion);
    ikt_note_reals(n, "scale", &motion->scale, 1);
    ikt_note_reals(n, "rotation_degrees", &angle, 1);
    ikt_note_text(n, "mirrored", motion->is_mirrored ? "yes" : "no");
    ikt_note_reals(n, "rotation", motion->turn, q * q);
    ikt_note_reals(n, "centre_before", motion->from, q);
    ikt_note_reals(n, "centre_after", motion->to, q);
}

static void describe(const ikt_align_request *request, const ikt_aligned *a, ikt_notes *n) {
    ikt_notes_program(n);
    ikt_note_text(n, "made_by",
                  "iktsne align: scale * (row - centre_before) * rotation + centre_after");
    ikt_note_text(n, "aligned", request->run);
    ikt_note_hash(n, "aligned_hash", a->run_hash);
    ikt_note_text(n, "reference", request->reference);
    ikt_note_hash(n, "reference_hash", a->reference_hash);
    ikt_note_int(n, "rows_matched", a->rows);
    describe_motion(&a->motion, n);
    ikt_note_reals(n, "residual", &a->residual, 1);
    ikt_note_hash(n, "embedding_hash", a->hash);
}

static ikt_status inherit(const ikt_aligned *a, inheritance *in, ikt_notes *n) {
    IKT_TRY(ikt_result_configuration(a->file, &in->configuration));
    IKT_TRY(ikt_result_read_text(a->file, "label_names", &in->names));
    IKT_TRY(ikt_result_read_marked(a->file, &in->marked, &in->n_marked));
    return ikt_result_notes(a->file, visit_note, n);
}

static ikt_status write_result(ikt_context *ctx, const ikt_aligned *a, const ikt_notes *n,
                               const inheritance *in, const char *path, bool overwrite) {
    const ikt_result_column column = {"displacement", IKT_COLUMN_DOUBLE, a->displacement};
    const ikt_result result = {.rows = a->distribution,
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
                               .n_circumstances = IKT_NOTES_VARYING,
                               .columns = &column,
                               .n_columns = 1};
    return ikt_result_write(ctx, path, overwrite, &result);
}

ikt_status ikt_align_write(ikt_context *ctx, const ikt_align_request *request,
                           const ikt_aligned *aligned, const char *path, bool overwrite) {
    ikt_notes *n = NULL;
    inheritance in = {NULL, NULL, NULL, 0};
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &n, 1, sizeof *n, "provenance"));
    if (st == IKT_OK) st = inherit(aligned, &in, n);
    if (st == IKT_OK) {
        describe(request, aligned, n);
        ikt_notes_share(ctx, n);
        st = write_result(ctx, aligned, n, &in, path, overwrite);
    }
    ikt_free(&n);
    ikt_free(&in.configuration);
    ikt_free(&in.names);
    ikt_free(&in.marked);
    return st;
}
