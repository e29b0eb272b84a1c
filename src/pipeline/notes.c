/* Facts for the provenance of a result file. */
#define _POSIX_C_SOURCE 200809L
#include "pipeline/notes.h"

#include <assert.h>
#include <stdio.h>
#include <unistd.h>

#include "base/comm.h"
#include "config/value.h"
#include "iktsne/build.h"

static void set(ikt_note *note, const char *name, const char *text) {
    snprintf(note->name, sizeof note->name, "%s", name);
    snprintf(note->text, sizeof note->text, "%s", text);
}

void ikt_note_text(ikt_notes *n, const char *name, const char *text) {
    assert(n->count < IKT_NOTES_MOST);
    set(&n->fact[n->count++], name, text);
}

void ikt_note_int(ikt_notes *n, const char *name, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    ikt_note_text(n, name, text);
}

void ikt_note_hash(ikt_notes *n, const char *name, uint64_t hash) {
    char text[32];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
    ikt_note_text(n, name, text);
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
    ikt_note_text(n, name, text);
}

void ikt_notes_program(ikt_notes *n) {
    ikt_note_text(n, "version", IKT_VERSION);
    ikt_note_text(n, "commit", IKT_COMMIT);
    ikt_note_text(n, "compiler", IKT_COMPILER " " IKT_COMPILE_FLAGS);
}

void ikt_notes_share(ikt_context *ctx, ikt_notes *n) {
    char text[sizeof n->varying->text];
    snprintf(text, sizeof text, "%d", ikt_size(ctx));
    set(&n->varying[0], "ranks", text);
    snprintf(text, sizeof text, "%d", ikt_threads(ctx));
    set(&n->varying[1], "threads", text);
    set(&n->varying[2], "directory", getcwd(text, sizeof text) ? text : "unknown");
    ikt_broadcast(ctx, n, (int64_t)sizeof *n, 0);
}
