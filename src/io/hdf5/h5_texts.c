/* Texts in HDF5 data sets. */
#include "io/hdf5/h5_texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/encoding.h"
#include "base/log.h"
#include "base/memory.h"
#include "io/hdf5/h5.h"

enum { BLOCK = 1024, TEXT_MOST = 1024 };
static const int64_t fixed_most = 1 << 16; /* bytes of a string of fixed length */

void ikt_h5_warn_latin1(ikt_context *ctx, const char *name) {
    ikt_warn(ctx, "%s holds texts that are not UTF-8; they are read as Latin-1 (ISO 8859-1)", name);
}

/* How a data set is read. */
typedef struct {
    ikt_context *ctx;
    hid_t dataset, type; /* type: of the elements in memory */
    H5T_class_t class;
    bool is_variable;
    bool *is_utf8; /* set to false by a text that is not */
    bool is_whole; /* texts of any length, line breaks and all */
    char *text;    /* [capacity] of an element */
    int64_t capacity;
    char name[512];
} texts;

int64_t ikt_h5_length(hid_t dataset) {
    hsize_t length = 0;
    hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset);
    bool is_list = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                   H5Sget_simple_extent_dims(space, &length, NULL) == 1;
    ikt_h5_close(space);
    return is_list ? (int64_t)length : -1;
}

bool ikt_h5_is_text(hid_t dataset) {
    hid_t type = dataset < 0 ? -1 : H5Dget_type(dataset);
    bool is_text = type >= 0 && H5Tget_class(type) == H5T_STRING;
    ikt_h5_close(type);
    return is_text;
}

/* Numbers come as double or int64; strings as they are, of fixed length with one byte more for a
 * zero. */
static hid_t memory_type(texts *t, hid_t stored) {
    t->class = stored < 0 ? H5T_NO_CLASS : H5Tget_class(stored);
    t->is_variable = t->class == H5T_STRING && H5Tis_variable_str(stored) > 0;
    if (t->class == H5T_FLOAT) return H5Tcopy(H5T_NATIVE_DOUBLE);
    if (t->class == H5T_INTEGER || t->class == H5T_ENUM) return H5Tcopy(H5T_NATIVE_INT64);
    if (t->class != H5T_STRING) return -1;
    const size_t length = H5Tget_size(stored);
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0 || H5Tset_cset(type, H5Tget_cset(stored)) < 0 ||
        (!t->is_variable && length >= (size_t)fixed_most) ||
        H5Tset_size(type, t->is_variable ? H5T_VARIABLE : length + 1) < 0) {
        ikt_h5_close(type);
        return -1;
    }
    return type;
}

/* Makes t->text the text of an element. */
static ikt_status text_of(texts *t, const char *element) {
    const char *string = element;
    int64_t whole = 0;
    double real = 0;
    if (t->is_variable) memcpy(&string, element, sizeof string);
    if (!string) string = "";
    memcpy(&whole, element, t->class == H5T_STRING ? 0 : sizeof whole);
    memcpy(&real, element, t->class == H5T_FLOAT ? sizeof real : 0);
    int64_t needed = TEXT_MOST;
    if (t->is_whole && t->class == H5T_STRING) needed += 2 * (int64_t)strlen(string);
    if (needed > t->capacity) {
        IKT_TRY(ikt_resize(t->ctx, &t->text, needed, 1, "texts"));
        t->capacity = needed;
    }
    if (t->class == H5T_STRING)
        *t->is_utf8 &= ikt_utf8_copy(string, t->text, (size_t)needed);
    else if (t->class == H5T_FLOAT)
        snprintf(t->text, TEXT_MOST, "%.10g", real);
    else
        snprintf(t->text, TEXT_MOST, "%" PRId64, whole);
    if (!t->is_whole) ikt_make_printable(t->text);
    return IKT_OK;
}

static ikt_status visit_texts(ikt_context *ctx, hid_t dataset, int64_t first, int64_t count,
                              bool is_whole, ikt_text_visitor *visit, void *self) {
    bool is_utf8 = true;
    texts t = {.ctx = ctx, .dataset = dataset, .is_utf8 = &is_utf8, .is_whole = is_whole};
    char *elements = NULL;
    ikt_status st = IKT_OK;
    hid_t stored = H5Dget_type(dataset);
    ikt_h5_name(dataset, t.name, sizeof t.name);
    t.type = memory_type(&t, stored);
    ikt_h5_close(stored);
    if (t.type < 0 || ikt_h5_length(dataset) < 0)
        st = ikt_fail(ctx, IKT_ERR_DATA, "%s is no list of texts or numbers", t.name);
    const size_t size = st == IKT_OK ? H5Tget_size(t.type) : 0;
    if (st == IKT_OK) st = ikt_alloc(ctx, &elements, BLOCK, size, "class names");
    for (int64_t done = 0; done < count && st == IKT_OK; done += BLOCK) {
        const int64_t now = count - done < BLOCK ? count - done : BLOCK;
        const hsize_t start = (hsize_t)(first + done), length = (hsize_t)now;
        char reason[256];
        hid_t space = H5Dget_space(dataset), here = H5Screate_simple(1, &length, NULL);
        memset(elements, 0, (size_t)now * size);
        if (space < 0 || here < 0 ||
            H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &length, NULL) < 0 ||
            H5Dread(dataset, t.type, here, space, H5P_DEFAULT, elements) < 0)
            st = ikt_fail(ctx, IKT_ERR_FILE, "%s: rows %lld to %lld cannot be read: %s", t.name,
                          (long long)(first + done), (long long)(first + done + now - 1),
                          ikt_h5_reason(reason, sizeof reason));
        for (int64_t i = 0; i < now && st == IKT_OK; i++) {
            st = text_of(&t, elements + (size_t)i * size);
            if (st == IKT_OK) st = visit(self, first + done + i, t.text);
        }
        /* HDF5 holds the strings of variable length of a block until they are given back. */
        if (t.is_variable && here >= 0) H5Dvlen_reclaim(t.type, here, H5P_DEFAULT, elements);
        ikt_h5_close(space);
        ikt_h5_close(here);
    }
    if (!is_utf8) ikt_h5_warn_latin1(ctx, t.name);
    ikt_free(&elements);
    ikt_free(&t.text);
    ikt_h5_close(t.type);
    return st;
}

ikt_status ikt_h5_visit_texts(ikt_context *ctx, hid_t dataset, int64_t first, int64_t count,
                              ikt_text_visitor *visit, void *self) {
    return visit_texts(ctx, dataset, first, count, false, visit, self);
}

ikt_status ikt_h5_visit_whole_texts(ikt_context *ctx, hid_t dataset, int64_t first, int64_t count,
                                    ikt_text_visitor *visit, void *self) {
    return visit_texts(ctx, dataset, first, count, true, visit, self);
}

/* Of one byte, as truth values are. */
ikt_status ikt_h5_enum_names(ikt_context *ctx, hid_t dataset, char **names) {
    hid_t type = dataset < 0 ? -1 : H5Dget_type(dataset);
    const int members = type >= 0 && H5Tget_class(type) == H5T_ENUM && H5Tget_size(type) == 1
                            ? H5Tget_nmembers(type)
                            : 0;
    size_t used = 0;
    ikt_status st = IKT_OK;
    *names = NULL;
    if (members > 0 && members <= INT8_MAX)
        st = ikt_alloc(ctx, names, members * (TEXT_MOST + 1) + 1, 1, "class names");
    for (int m = 0; m < members && *names; m++) {
        char stored[TEXT_MOST / 2], name[TEXT_MOST];
        const int8_t value = (int8_t)m;
        if (H5Tenum_nameof(type, &value, stored, sizeof stored) < 0) {
            ikt_free(names); /* its members are not 0, 1, ... */
            break;
        }
        (void)ikt_utf8_copy(stored, name, sizeof name);
        ikt_make_printable(name);
        used += (size_t)snprintf(*names + used, TEXT_MOST + 1, "%s\n", name);
    }
    H5Eclear2(H5E_DEFAULT);
    ikt_h5_close(type);
    return st;
}
