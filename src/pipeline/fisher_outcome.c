/* What a run has learned of the classes, and what is written of it. See fisher_line.h. */
#include <stdio.h>

#include "base/memory.h"
#include "pipeline/early_outputs.h"
#include "pipeline/fisher_line.h"

void ikt_class_outcome_destroy(ikt_class_outcome *outcome) {
    ikt_class_rows_destroy(&outcome->classes);
    ikt_class_support_destroy(&outcome->support);
    ikt_free_all(&outcome->posterior, &outcome->held_out.row, &outcome->used.row);
    outcome->is_there = false;
}

void ikt_class_outcome_resolve(const ikt_class_outcome *o, ikt_settings *settings) {
    if (o->is_there) settings->affinity.fisher.euclidean = o->euclidean;
}

static void note_figures(const ikt_label_figures *f, const char *of, ikt_notes *n) {
    const struct {
        const char *name;
        double value;
    } figure[] = {{"posterior_error", f->posterior},
                  {"space_1nn_error", f->space_nearest},
                  {"space_vote_error", f->space_votes},
                  {"map_1nn_error", f->map_nearest},
                  {"map_vote_error", f->map_votes}};
    char name[64];
    snprintf(name, sizeof name, "fisher_%s_rows", of);
    ikt_note_fact(n, name, "%lld, of which %lld were asked", (long long)f->rows,
                  (long long)f->sample);
    for (size_t e = 0; f->sample > 0 && e < sizeof figure / sizeof *figure; e++) {
        snprintf(name, sizeof name, "fisher_%s_%s", of, figure[e].name);
        ikt_note_share(n, name, figure[e].value);
    }
}

void ikt_class_outcome_note(const ikt_class_outcome *o, ikt_notes *n) {
    if (!o->is_there) return;
    ikt_note_fact(n, "labels_used", "%slabels of %lld rows of the support (fisher/support)",
                  o->is_permuted ? "permuted " : "", (long long)o->support.m);
    ikt_note_int(n, "fisher_train_rows", o->classes.trained);
    ikt_note_int(n, "fisher_labelled_rows", o->classes.labelled);
    ikt_note_real(n, "fisher_sigma", o->sigma.sigma);
    ikt_note_real(n, "fisher_log_likelihood", o->sigma.log_likelihood);
    ikt_note_share(n, "fisher_certain", o->certain);
    ikt_note_share(n, "fisher_chance", o->chance);
    ikt_note_share(n, "fisher_proved", o->proved);
    ikt_note_int(n, "fisher_votes", o->used.votes);
    note_figures(&o->held_out, "held_out", n);
    note_figures(&o->used, "used", n);
}

int64_t ikt_class_outcome_parts(const ikt_class_outcome *o, const ikt_rows *rows,
                                ikt_part part[IKT_CLASS_PARTS]) {
    if (!o->is_there) return 0;
    part[0] = ikt_part_rows("posterior", IKT_PART_F32, rows, o->classes.classes, o->posterior);
    part[1] = ikt_part_shared("classes", IKT_PART_I64, o->classes.classes, o->classes.value);
    part[2] = ikt_part_shared("support", IKT_PART_I64, o->support.m, o->support.row);
    part[3] = ikt_part_shared("held_out", IKT_PART_I64, o->held_out.sample, o->held_out.row);
    return o->held_out.sample > 0 ? IKT_CLASS_PARTS : IKT_CLASS_PARTS - 1;
}

ikt_status ikt_class_model_write(ikt_context *ctx, ikt_model_writer *w, ikt_dataset *data,
                                 const ikt_fisher_rows *of, const ikt_class_columns *support,
                                 const ikt_layout_settings *layout) {
    const ikt_class_support *s = of->support;
    const ikt_rows *rows = &of->rows;
    const double numbers[2] = {support->sigma, of->euclidean};
    const ikt_model_shared parts[] = {{IKT_MODEL_SUPPORT, s->m, s->row},
                                      {IKT_MODEL_SUPPORT_CLASS, s->m, s->of},
                                      {IKT_MODEL_SUPPORT_SELF, s->m, support->self},
                                      {IKT_MODEL_CLASS_NUMBERS, 2, numbers},
                                      {IKT_MODEL_SUPPORT_ROWS, s->m, support->x}};
    ikt_model_shape shape = {.n = rows->n,
                             .q = layout->dimensions,
                             .placing = IKT_PLACING_CLASSES,
                             .has_rows = of->euclidean > 0,
                             .support = s->m,
                             .classes = s->shape.classes,
                             .lanes = s->shape.lanes,
                             .is_of_similarities = support->x == NULL,
                             .d = s->m,
                             .columns = s->m};
    return ikt_run_model_parts(ctx, w, data, rows, &shape, parts, sizeof parts / sizeof *parts,
                               IKT_MODEL_WEIGHTS, of->weight);
}
