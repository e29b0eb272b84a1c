/* The header of NPY. See npy_header.h. */
#include "io/formats/npy_header.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { LENGTH_MOST = 1 << 16, VERSION_MOST = 3 };

typedef struct {
    ikt_context *ctx;
    const char *path;
    ikt_bytes *bytes;
    ikt_npy_header *header;
} parser;

static ikt_status malformed(const parser *p, const char *what) {
    return ikt_fail(p->ctx, IKT_ERR_DATA, "%s: its NPY header has no usable %s", p->path, what);
}

static ikt_status take(parser *p, void *data, int64_t count) {
    int64_t got;
    IKT_TRY(ikt_bytes_read(p->bytes, data, count, &got));
    p->header->bytes += got;
    if (got == count) return IKT_OK;
    return ikt_fail(p->ctx, IKT_ERR_FILE, "%s is truncated: it ends in its header", p->path);
}

/* What follows 'name': in the dictionary, or "". */
static const char *value_of(const char *header, const char *name) {
    const char *at = strstr(header, name);
    if (!at) return "";
    at += strlen(name);
    at += strspn(at, "'\" ");
    if (*at != ':') return "";
    return at + 1 + strspn(at + 1, " ");
}

/* "'<f4'": order of bytes, kind, bytes. A list, of fields, is a type that is not numeric. */
static ikt_status parse_type(const parser *p, const char *text) {
    ikt_npy_header *header = p->header;
    if (*text == '[') {
        snprintf(header->type, sizeof header->type, "'fields' (descr)");
        return IKT_OK;
    }
    if (*text != '\'' && *text != '"') return malformed(p, "element type (descr)");
    const size_t length = strcspn(text + 1, "'\"");
    if (text[length + 1] != *text) return malformed(p, "element type (descr)");
    snprintf(header->type, sizeof header->type, "%.*s", (int)(length < 20 ? length : 20), text + 1);
    const char order = text[1], kind = length == 3 ? text[2] : '?';
    const char bytes = length == 3 ? text[3] : '?';
    header->numeric = strchr("<>|=", order) && strchr("uifb", kind) && strchr("1248", bytes) &&
                      !(kind == 'f' && bytes < '4') && !(kind == 'b' && bytes != '1') &&
                      !(order == '|' && bytes != '1');
    if (header->numeric) header->element = (ikt_element){kind, bytes - '0', order == '>'};
    return IKT_OK;
}

/* "(1797, 64)". */
static ikt_status parse_shape(const parser *p, const char *text) {
    ikt_npy_header *header = p->header;
    if (*text != '(') return malformed(p, "shape");
    for (text += 1 + strspn(text + 1, " "); *text != ')'; header->axes++) {
        char *end;
        if (header->axes == IKT_NPY_AXES_MOST || !isdigit((unsigned char)*text))
            return malformed(p, "shape");
        header->shape[header->axes] = strtoll(text, &end, 10);
        text = end + strspn(end, " ");
        if (*text == ',')
            text += 1 + strspn(text + 1, " ");
        else if (*text != ')')
            return malformed(p, "shape");
    }
    return IKT_OK;
}

static ikt_status parse(const parser *p, const char *text) {
    const char *order = value_of(text, "fortran_order");
    p->header->fortran = strncmp(order, "True", 4) == 0;
    if (!p->header->fortran && strncmp(order, "False", 5) != 0)
        return malformed(p, "order (fortran_order)");
    IKT_TRY(parse_type(p, value_of(text, "descr")));
    return parse_shape(p, value_of(text, "shape"));
}

ikt_status ikt_npy_header_read(ikt_bytes *bytes, const char *path, ikt_npy_header *header) {
    unsigned char head[12] = {0};
    char *text = NULL;
    parser p = {bytes->ctx, path, bytes, header};
    *header = (ikt_npy_header){.axes = 0};
    IKT_TRY(take(&p, head, 8));
    if (memcmp(head, "\x93NUMPY", 6) != 0)
        return ikt_fail(p.ctx, IKT_ERR_DATA, "%s is no array of NPY", path);
    if (head[6] < 1 || head[6] > VERSION_MOST)
        return ikt_fail(p.ctx, IKT_ERR_DATA, "%s has NPY version %d; 1 to %d are read", path,
                        head[6], VERSION_MOST);
    IKT_TRY(take(&p, head + 8, head[6] == 1 ? 2 : 4));
    const int64_t length = head[8] | head[9] << 8 | head[10] << 16 | (int64_t)head[11] << 24;
    if (length > LENGTH_MOST) return malformed(&p, "length");
    IKT_TRY(ikt_alloc(p.ctx, &text, length + 1, 1, "reader"));
    ikt_status st = take(&p, text, length);
    if (st == IKT_OK) st = parse(&p, text);
    ikt_free(&text);
    return st;
}
