/* Checksums of what a study reads. See checksums.h. */
#include "study/checksums.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "base/shared_file.h"

static ikt_status append(ikt_checksums *c, const ikt_known_file *file) {
    IKT_TRY(ikt_resize(c->ctx, &c->known, c->count + 1, sizeof *c->known, "study"));
    c->known[c->count++] = *file;
    return IKT_OK;
}

/* LOCAL, rank 0. Lines that are cut off are passed over. */
static ikt_status read_lines(ikt_checksums *c) {
    ikt_locked_file file;
    IKT_TRY(ikt_locked_open(c->ctx, c->path, &file));
    ikt_status st = IKT_OK;
    for (char *line = file.text, *end; st == IKT_OK && (end = strchr(line, '\n')); line = end + 1) {
        ikt_known_file of = {.bytes = 0};
        char space;
        *end = '\0';
        if (sscanf(line, "%" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64 "%c", &of.hash,
                   &of.device, &of.inode, &of.bytes, &of.changed, &space) == 6)
            st = append(c, &of);
    }
    ikt_locked_close(&file);
    return st;
}

ikt_status ikt_checksums_open(ikt_context *ctx, const char *output, ikt_checksums *out) {
    *out = (ikt_checksums){.ctx = ctx};
    snprintf(out->path, sizeof out->path, "%.1000s/checksums", output);
    ikt_status st = ikt_rank(ctx) == 0 ? read_lines(out) : IKT_OK;
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        ikt_broadcast(ctx, &out->count, (int64_t)sizeof out->count, 0);
        if (ikt_rank(ctx) != 0)
            st = ikt_resize(ctx, &out->known, out->count, sizeof *out->known, "study");
        st = ikt_agree(ctx, st);
    }
    if (st == IKT_OK)
        ikt_broadcast(ctx, out->known, out->count * (int64_t)sizeof *out->known, 0);
    else
        ikt_checksums_close(out);
    return st;
}

void ikt_checksums_close(ikt_checksums *checksums) {
    ikt_free(&checksums->known);
    checksums->count = 0;
}

static bool is_known(const ikt_known_file *known, const ikt_file *file) {
    return known->device == file->device && known->inode == file->inode &&
           known->bytes == file->bytes && known->changed == file->changed;
}

/* COLLECTIVE. Reads a file and remembers its checksum. */
static ikt_status compute(ikt_checksums *c, const ikt_file *file, ikt_known_file *out) {
    char line[IKT_PATH_MAX + 128];
    ikt_locked_file lines;
    *out = (ikt_known_file){0, file->device, file->inode, file->bytes, file->changed};
    IKT_TRY(ikt_file_hash(c->ctx, file->path, &out->hash));
    ikt_status st = append(c, out);
    if (st == IKT_OK && ikt_rank(c->ctx) == 0) {
        snprintf(line, sizeof line,
                 "%016" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %s\n", out->hash,
                 out->device, out->inode, out->bytes, out->changed, file->path);
        st = ikt_locked_open(c->ctx, c->path, &lines);
        if (st == IKT_OK) {
            st = ikt_locked_append(&lines, line);
            ikt_locked_close(&lines);
        }
    }
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
