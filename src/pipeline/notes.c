/* The facts of a run. See notes.h. */
#define _POSIX_C_SOURCE 200809L
#include "pipeline/notes.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/comm.h"
#include "config/value.h"
#include "iktsne/build.h"

static void set(ikt_note *note, const char *name, const char *format, va_list values) {
    snprintf(note->name, sizeof note->name, "%s", name);
    vsnprintf(note->text, sizeof note->text, format, values);
}

void ikt_note_fact(ikt_notes *n, const char *name, const char *format, ...) {
    va_list values;
    assert(n->n_facts < IKT_FACTS_MOST);
    va_start(values, format);
    set(&n->fact[n->n_facts++], name, format, values);
    va_end(values);
}

void ikt_note_circumstance(ikt_notes *n, const char *name, const char *format, ...) {
    va_list values;
    assert(n->n_circumstances < IKT_CIRCUMSTANCES_MOST);
    va_start(values, format);
    set(&n->circumstance[n->n_circumstances++], name, format, values);
    va_end(values);
}

/* The fact that was added last has a value. */
static void set_value(ikt_notes *n, int kind, double number) {
    n->value[n->n_facts - 1] = (ikt_fact_value){kind, number};
}

void ikt_note_int(ikt_notes *n, const char *name, int64_t value) {
    ikt_note_fact(n, name, "%lld", (long long)value);
    set_value(n, IKT_FACT_INT, (double)value);
}

void ikt_note_bool(ikt_notes *n, const char *name, bool value) {
    ikt_note_fact(n, name, value ? "yes" : "no");
    set_value(n, IKT_FACT_BOOL, value);
}

void ikt_note_real(ikt_notes *n, const char *name, double value) {
    ikt_note_fact(n, name, "%.17g", value);
    set_value(n, IKT_FACT_REAL, value);
}

void ikt_note_share(ikt_notes *n, const char *name, double value) {
    ikt_note_fact(n, name, "%.6f", value);
    set_value(n, IKT_FACT_REAL, value);
}

void ikt_note_hash(ikt_notes *n, const char *name, uint64_t hash) {
    ikt_note_fact(n, name, "%016llx", (unsigned long long)hash);
}

void ikt_note_cells(ikt_notes *n, const ikt_code_check *cells) {
    if (cells->sample == 0) return;
    ikt_note_share(n, "cells_differing", cells->differing);
    ikt_note_int(n, "cell_sample", cells->sample);
}

/* "0.5 0.25" */
void ikt_note_reals(ikt_notes *n, const char *name, const double *values, int count) {
    char text[sizeof n->fact->text] = "";
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        char one[IKT_REAL_TEXT];
        ikt_real_print(values[i], one);
        assert(used + IKT_REAL_TEXT < sizeof text);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? " " : "", one);
    }
    ikt_note_fact(n, name, "%s", text);
    if (count == 1) set_value(n, IKT_FACT_REAL, values[0]);
}

void ikt_notes_program(ikt_notes *n) {
    ikt_note_fact(n, "version", "%s", IKT_VERSION);
    ikt_note_fact(n, "commit", "%s", IKT_COMMIT);
    ikt_note_fact(n, "compiler", "%s %s", IKT_COMPILER, IKT_COMPILE_FLAGS);
}

void ikt_notes_share(ikt_context *ctx, ikt_notes *n) {
    char folder[sizeof n->circumstance->text];
    ikt_note_circumstance(n, "ranks", "%d", ikt_size(ctx));
    ikt_note_circumstance(n, "threads", "%d", ikt_threads(ctx));
    ikt_note_circumstance(n, "directory", "%s", getcwd(folder, sizeof folder) ? folder : "unknown");
    ikt_broadcast(ctx, n, (int64_t)sizeof *n, 0);
}
