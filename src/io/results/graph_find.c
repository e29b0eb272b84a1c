/* The sparse matrices of a file. See graph_find.h. */
#include "io/results/graph_find.h"

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/input_file.h"
#include "io/hdf5/csr_group.h"
#include "io/hdf5/h5.h"
#include "io/results/graph_form.h"

enum { DEPTH_MOST = 3, OBJECTS_MOST = 10000, PATH_SIZE = 512 };

size_t ikt_graph_name_split(ikt_context *ctx, const char *name) {
    int64_t length = ikt_rank(ctx) == 0 ? (int64_t)ikt_file_name_length(name) : 0;
    ikt_broadcast(ctx, &length, (int64_t)sizeof length, 0);
    return (size_t)length;
}

/* What a walk through the groups has found. */
typedef struct {
    int depth, objects, found;
    char path[PATH_SIZE];  /* of the group that the walk is in, ended by a slash; "" at the root */
    char first[PATH_SIZE]; /* found first */
    char names[PATH_SIZE]; /* of all that were found, as far as there is room */
} walk;

static void note(walk *w, const char *path) {
    const char *between = w->found > 0 ? ", " : "";
    const size_t used = strlen(w->names), gap = strlen(between), length = strlen(path);
    if (w->found++ == 0) snprintf(w->first, sizeof w->first, "%s", path);
    if (used + gap + length >= sizeof w->names) return;
    memcpy(w->names + used, between, gap);
    memcpy(w->names + used + gap, path, length + 1);
}

static bool is_group(hid_t object) {
    return object >= 0 && H5Iget_type(object) == H5I_GROUP;
}

static bool is_square(hid_t group) {
    int64_t shape[2];
    return ikt_csr_group_shape(group, shape) && shape[0] == shape[1];
}

static bool has_matrix(hid_t file, const char *path) {
    hid_t object = ikt_h5_open_object(file, path);
    const bool has = is_group(object) && ikt_csr_group_is(object);
    ikt_h5_close(object);
    return has;
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *info, void *target) {
    walk *w = target;
    const size_t length = strlen(w->path);
    if (info->type == H5L_TYPE_EXTERNAL || ++w->objects > OBJECTS_MOST) return 0;
    if (length + strlen(name) + 2 > sizeof w->path) return 0;
    hid_t object = ikt_h5_open_object(group, name);
    if (is_group(object)) {
        snprintf(w->path + length, sizeof w->path - length, "%s", name);
        if (ikt_csr_group_is(object)) {
            if (is_square(object)) note(w, w->path);
        } else if (w->depth < DEPTH_MOST) {
            strcat(w->path, "/");
            w->depth++;
            H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, w);
            w->depth--;
        }
        w->path[length] = '\0';
    }
    ikt_h5_close(object);
    return 0;
}

ikt_status ikt_graph_find(ikt_context *ctx, hid_t file, const char *file_name, char *path,
                          size_t size) {
    walk w = {.depth = 1};
    snprintf(path, size, "%s", IKT_GRAPH_GROUP);
    if (has_matrix(file, IKT_GRAPH_GROUP)) return IKT_OK;
    H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, &w);
    snprintf(path, size, "%s", w.first);
    if (w.found == 1) return IKT_OK;
    if (w.found == 0)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s has no square sparse matrix (a group with data, indices and indptr): "
                        "no graph to be found",
                        file_name);
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s has %d square sparse matrices (%s): say which one, as "
                    "input.graph=FILE:%s",
                    file_name, w.found, w.names, w.first);
}
