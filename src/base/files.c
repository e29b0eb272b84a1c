/* One list of what is read and written. See files.h. */
#define _GNU_SOURCE
#include "base/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/comm.h"
#include "base/context.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "base/part_file.h"

/* --- the list --------------------------------------------------------------------------------- */

void ikt_files_add(ikt_files *files, ikt_file_use use, const char *role, const char *name) {
    if (!name || !name[0] || files->status != IKT_OK) return;
    for (int64_t i = 0; i < files->count; i++)
        if (files->file[i].role == role && strcmp(files->file[i].path, name) == 0) return;
    if (strlen(name) >= IKT_PATH_MAX)
        files->status = ikt_fail(files->ctx, IKT_ERR_FILE, "%.200s...: the path is too long", name);
    else
        files->status =
            ikt_resize(files->ctx, &files->file, files->count + 1, sizeof *files->file, "files");
    if (files->status != IKT_OK) return;
    ikt_file *f = &files->file[files->count++];
    f->role = role;
    f->use = use;
    f->what = f->endings = NULL;
    f->is_map = false;
    strcpy(f->path, name);
}

static void add_named(ikt_files *files, ikt_file_use use, const char *role, const char *name,
                      const char *what, const char *endings, bool is_map) {
    const int64_t before = files->count;
    ikt_files_add(files, use, role, name);
    if (files->count == before) return;
    files->file[before].what = what;
    files->file[before].endings = endings;
    files->file[before].is_map = is_map;
}

void ikt_files_add_written(ikt_files *files, const char *role, const char *name, const char *what,
                           const char *endings) {
    add_named(files, IKT_FILE_WRITTEN, role, name, what, endings, false);
}

void ikt_files_add_picture(ikt_files *files, const char *role, const char *name) {
    ikt_files_add_written(files, role, name, "a picture", ".png .svg .pdf");
}

void ikt_files_add_page(ikt_files *files, const char *role, const char *name) {
    ikt_files_add_written(files, role, name, "an HTML page", ".html .htm");
}

void ikt_files_add_hdf5(ikt_files *files, ikt_file_use use, const char *role, const char *name,
                        const char *ending, bool is_map) {
    add_named(files, use, role, name, "an HDF5 file", ending, is_map);
}

void ikt_files_add_list(ikt_files *files, const char *role, const char *list) {
    char name[IKT_PATH_MAX];
    for (const char *at = list; *at; at += at[0] == ',') {
        const size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (strpbrk(name, ":.")) ikt_files_add(files, IKT_FILE_READ, role, name);
        at += length;
    }
}

void ikt_files_destroy(ikt_files *files) {
    ikt_free(&files->file);
    files->count = 0;
}

/* --- which file a name stands for ------------------------------------------------------------- */

/* LOCAL. The folder and the last name of what `path` leads to, or would lead to: of a file that is
 * not there, as atomic_file.h would write it. */
static ikt_status look_at_folder(ikt_context *ctx, ikt_file *f) {
    struct stat about;
    char target[IKT_PATH_MAX];
    char *known = f->is_there ? realpath(f->path, NULL) : NULL;
    ikt_status st = IKT_OK;
    if (known)
        snprintf(target, sizeof target, "%s", known);
    else
        st = ikt_atomic_target(ctx, f->path, target);
    free(known);
    if (st != IKT_OK) return st;
    const char *slash = strrchr(target, '/');
    snprintf(f->last, sizeof f->last, "%.255s", slash ? slash + 1 : target);
    if (!slash)
        strcpy(target, ".");
    else
        target[slash == target ? 1 : slash - target] = '\0';
    if (stat(target, &about) == 0) {
        f->folder_device = (uint64_t)about.st_dev;
        f->folder_inode = (uint64_t)about.st_ino;
    } else {
        f->last[0] = '\0'; /* nothing can be written there, which is told elsewhere */
    }
    return IKT_OK;
}

static bool find(ikt_file *f, const char *path) {
    struct stat about;
    f->is_there = stat(path, &about) == 0;
    if (f->is_there) {
        f->is_regular = S_ISREG(about.st_mode);
        f->is_folder = S_ISDIR(about.st_mode);
        f->device = (uint64_t)about.st_dev;
        f->inode = (uint64_t)about.st_ino;
        f->bytes = (int64_t)about.st_size;
        f->changed = (int64_t)about.st_ctim.tv_sec * 1000000000 + about.st_ctim.tv_nsec;
    }
    return f->is_there;
}

static ikt_status look(ikt_context *ctx, ikt_file *f) {
    if (f->use == IKT_FILE_READ) f->path[ikt_file_name_length(f->path)] = '\0';
    find(f, f->path);
    return f->use == IKT_FILE_READ && !f->is_there ? IKT_OK : look_at_folder(ctx, f);
}

ikt_status ikt_files_look(ikt_files *files) {
    ikt_status st = files->status;
    for (int64_t i = 0; i < files->count && st == IKT_OK && ikt_rank(files->ctx) == 0; i++)
        st = look(files->ctx, &files->file[i]);
    IKT_TRY(ikt_agree(files->ctx, st));
    for (int64_t i = 0; i < files->count; i++) { /* texts are addresses of this process */
        const ikt_file own = files->file[i];
        ikt_broadcast(files->ctx, &files->file[i], (int64_t)sizeof *files->file, 0);
        files->file[i].role = own.role;
        files->file[i].what = own.what;
        files->file[i].endings = own.endings;
    }
    return IKT_OK;
}

/* --- names of other formats ------------------------------------------------------------------- */

/* Endings by which programs know formats, and the verb that makes such a file of an embedding. */
static const struct {
    const char *ending, *format, *verb;
} known[] = {{".npy", "NPY", "export"},     {".npz", "NPZ", NULL},
             {".csv", "CSV", "export"},     {".tsv", "TSV", "export"},
             {".txt", "text", NULL},        {".json", "JSON", NULL},
             {".jsonl", "JSON", NULL},      {".yaml", "YAML", NULL},
             {".yml", "YAML", NULL},        {".png", "PNG", "plot"},
             {".svg", "SVG", "plot"},       {".pdf", "PDF", "plot"},
             {".html", "HTML", "view"},     {".htm", "HTML", "view"},
             {".parquet", "Parquet", NULL}, {".arrow", "Arrow", NULL},
             {".feather", "Feather", NULL}, {".mtx", "Matrix Market", NULL},
             {".mat", "MATLAB", NULL},      {".idx", "IDX", NULL},
             {"-ubyte", "IDX", NULL},       {".libsvm", "LIBSVM", NULL},
             {".svm", "LIBSVM", NULL},      {".safetensors", "safetensors", NULL},
             {".fvecs", "vectors", NULL},   {".bvecs", "vectors", NULL},
             {".ivecs", "vectors", NULL},   {".fbin", "vectors", NULL},
             {".f16bin", "vectors", NULL},  {".u8bin", "vectors", NULL},
             {".i8bin", "vectors", NULL},   {".ibin", "vectors", NULL},
             {".h5", "HDF5", NULL},         {".hdf5", "HDF5", NULL},
             {".h5ad", "HDF5", NULL},       {".hdf", "HDF5", NULL},
             {".vtkhdf", "HDF5", NULL},     {".loom", "HDF5", NULL},
             {".jpg", "JPEG", NULL},        {".jpeg", "JPEG", NULL},
             {".gif", "GIF", NULL},         {".bmp", "BMP", NULL},
             {".tif", "TIFF", NULL},        {".tiff", "TIFF", NULL},
             {".webp", "WebP", NULL},       {".eps", "PostScript", NULL},
             {".ps", "PostScript", NULL},   {".zip", "ZIP", NULL},
             {".gz", "gzip", NULL}}; /* the last one */
enum { KNOWN = sizeof known / sizeof *known, GZIP = KNOWN - 1 };

/* LOCAL, pure. The length of a name without that ending; that of all of it where it has another. */
static size_t length_without(const char *name, size_t length, const char *ending) {
    const size_t size = strlen(ending);
    const bool has = length > size && name[length - size - 1] != '/' &&
                     strncasecmp(name + length - size, ending, size) == 0;
    return has ? length - size : length;
}

/* LOCAL, pure. Which format a name says, KNOWN where none.
 *   stem   receives the length of the name without the ending, and without .gz after it */
static size_t format_of(const char *name, size_t *stem) {
    const size_t length = length_without(name, strlen(name), known[GZIP].ending);
    for (size_t k = 0; k < KNOWN; k++) {
        *stem = length_without(name, length, known[k].ending);
        if (*stem < length) return k;
    }
    *stem = length;
    return length < strlen(name) ? (size_t)GZIP : (size_t)KNOWN;
}

/* LOCAL, pure. Whether a list such as ".csv .txt" has an ending of that format. */
static bool has_format(const char *endings, const char *format) {
    for (const char *at = endings; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        for (size_t k = 0; k < KNOWN; k++)
            if (strlen(known[k].ending) == length && strncmp(known[k].ending, at, length) == 0 &&
                strcmp(known[k].format, format) == 0)
                return true;
        at += length;
    }
    return false;
}

/* LOCAL. Refuses a file under a name that says another format than that which is written. */
static ikt_status check_name(ikt_context *ctx, const ikt_file *f) {
    char better[IKT_PATH_MAX + 16], from[4 * IKT_PATH_MAX], to[4 * IKT_PATH_MAX];
    char how[8 * IKT_PATH_MAX + 64] = "";
    size_t stem;
    size_t k = f->what ? format_of(f->path, &stem) : (size_t)KNOWN;
    if (k == KNOWN) return IKT_OK;
    if (has_format(f->endings, known[k].format)) {
        const bool is_packed =
            length_without(f->path, strlen(f->path), known[GZIP].ending) < strlen(f->path);
        if (!is_packed || has_format(f->endings, known[GZIP].format)) return IKT_OK;
        k = GZIP; /* x.h5.gz */
    }
    const size_t first = strcspn(f->endings, " ");
    snprintf(better, sizeof better, "%.*s%.*s", (int)stem, f->path, (int)first, f->endings);
    for (const char *at = f->endings + first; *at; at += 1 + strcspn(at + 1, " "))
        ikt_join(how, sizeof how, "", "%s%.*s", how[0] ? ", " : " (or ", (int)strcspn(at + 1, " "),
                 at + 1);
    if (how[0]) ikt_join(how, sizeof how, "", ")");
    if (f->is_map && known[k].verb)
        snprintf(how, sizeof how, "; `iktsne %s %s %s` makes that of it", known[k].verb,
                 ikt_shell_word(better, from, sizeof from), ikt_shell_word(f->path, to, sizeof to));
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%s is %s, and by the name %s programs would take it for %s: name it %s%s",
                    f->role, f->what, f->path, known[k].format, better, how);
}

/* --- two roles -------------------------------------------------------------------------------- */

static bool is_in_same_folder(const ikt_file *a, const ikt_file *b) {
    return a->last[0] && b->last[0] && a->folder_device == b->folder_device &&
           a->folder_inode == b->folder_inode;
}

static bool is_same(const ikt_file *a, const ikt_file *b) {
    if (a->is_there && b->is_there) return a->device == b->device && a->inode == b->inode;
    return a->is_there == b->is_there && is_in_same_folder(a, b) && strcmp(a->last, b->last) == 0;
}

/* Whether `b` has a name that `a` may have until it is complete. */
static bool is_part(const ikt_file *a, const ikt_file *b) {
    if (a->use == IKT_FILE_FOLDER || !is_in_same_folder(a, b)) return false;
    const size_t length = ikt_part_length(b->last, a->last);
    return length > 0 && b->last[length] == '\0';
}

/* Whether `b` lies in the folder `a`. */
static bool is_inside(const ikt_file *a, const ikt_file *b) {
    return a->use == IKT_FILE_FOLDER && a->is_there && b->last[0] &&
           a->device == b->folder_device && a->inode == b->folder_inode;
}

/* Whether `a` takes the place of a file that is read with the matrix, or folder of one, `b`. */
static bool is_beside_matrix(const ikt_file *a, const ikt_file *b) {
    static const char *const names[] = {"matrix.mtx", "barcodes.tsv", "features.tsv", "genes.tsv"};
    bool is_in_folder = a->folder_device == b->device && a->folder_inode == b->inode;
    bool is_named = false;
    if (!b->is_folder)
        is_in_folder = is_in_same_folder(a, b) && strncmp(b->last, names[0], strlen(names[0])) == 0;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const size_t length = strlen(names[k]);
        is_named |= strncmp(a->last, names[k], length) == 0 &&
                    (!a->last[length] || strcmp(a->last + length, ".gz") == 0);
    }
    return a->is_there && is_in_folder && is_named;
}

/* Refuses two entries of which `a` is written.
 *   b   read, or written, too */
static ikt_status check_pair(ikt_context *ctx, const ikt_file *a, const ikt_file *b) {
    const bool is_read = b->use == IKT_FILE_READ;
    if (is_read && (!b->is_there || !(b->is_regular || b->is_folder))) return IKT_OK;
    if (b->is_there && !b->is_regular && !b->is_folder) return IKT_OK;
    if (is_read && a->use == IKT_FILE_ADDED_TO) return IKT_OK;
    if (is_same(a, b))
        return ikt_fail(ctx, IKT_ERR_USAGE, "%s and %s are the same file: %s%s", a->role, b->role,
                        a->path, is_read ? " is read and cannot be the output, too" : "");
    if (is_read && is_beside_matrix(a, b))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s is %s, which is read with %s and cannot be the output, too", a->role,
                        a->path, b->role);
    if (is_part(a, b))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s has the name %s, and %s is written to a file of such a name until it "
                        "is complete: rename one of them",
                        b->role, b->path, a->role);
    if (is_inside(a, b) && is_read)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s is %s, and files in the folder of %s are replaced and removed: move it "
                        "to another folder",
                        b->role, b->path, a->role);
    return IKT_OK;
}

/* LOCAL. For ikt_files_replace. A plain array of the context, as its counts are. */
static ikt_status note_replaced(const ikt_files *files) {
    ikt_context *ctx = files->ctx;
    ctx->replaced_count = 0;
    if (files->count == 0) return IKT_OK;
    ikt_file_id *id = realloc(ctx->replaced, (size_t)files->count * sizeof *id);
    if (!id) return ikt_fail(ctx, IKT_ERR_RESOURCE, "out of memory for a list of files");
    ctx->replaced = id;
    for (int64_t i = 0; i < files->count; i++) {
        const ikt_file *f = &files->file[i];
        if (f->use == IKT_FILE_WRITTEN && f->is_there)
            id[ctx->replaced_count++] = (ikt_file_id){f->device, f->inode, f->changed};
    }
    return IKT_OK;
}

bool ikt_files_replace(const ikt_context *ctx, const char *path) {
    ikt_file f = {.use = IKT_FILE_READ};
    bool is_one = false;
    if (ctx->replaced_count == 0 || !find(&f, path)) return false;
    for (int64_t i = 0; i < ctx->replaced_count; i++)
        is_one |= ctx->replaced[i].device == f.device && ctx->replaced[i].inode == f.inode &&
                  ctx->replaced[i].changed == f.changed;
    return is_one;
}

/* From the last entry on, so that messages name an output before what stands in the list above it.
 */
ikt_status ikt_files_check(ikt_files *files) {
    ikt_status st = ikt_files_look(files);
    for (int64_t i = files->count - 1; i >= 0; i--)
        for (int64_t j = 0; j < files->count && st == IKT_OK; j++)
            if (i != j && files->file[i].use != IKT_FILE_READ)
                st = check_pair(files->ctx, &files->file[i], &files->file[j]);
    for (int64_t i = 0; i < files->count && st == IKT_OK; i++)
        st = check_name(files->ctx, &files->file[i]);
    if (st == IKT_OK) st = ikt_agree(files->ctx, note_replaced(files));
    ikt_files_destroy(files);
    return st;
}
