/* What the options of columns, labels and texts name. See place.h. */
#include "io/sources/place.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/comm.h"
#include "io/formats/reader.h"
#include "io/sources/source.h"

static ikt_status look(ikt_context *ctx, ikt_place *p) {
    ikt_reader_content content;
    IKT_TRY(ikt_input_check(ctx, p->file));
    p->is_hdf5 = ikt_source_is_hdf5(p->file);
    if (p->is_hdf5) return IKT_OK;
    IKT_TRY(ikt_reader_guess(ctx, p->file, &content));
    p->is_csv = content.format == &ikt_reader_csv;
    return IKT_OK;
}

ikt_status ikt_place_find(ikt_context *ctx, const char *name, ikt_place *place) {
    struct stat about;
    ikt_status st = IKT_OK;
    *place = (ikt_place){.file = ""};
    if (ikt_rank(ctx) == 0 && strlen(name) < IKT_PATH_MAX) {
        const size_t length = ikt_file_name_length(name);
        snprintf(place->file, IKT_PATH_MAX, "%.*s", (int)length, name);
        snprintf(place->part, IKT_PATH_MAX, "%s", name[length] ? name + length + 1 : "");
        if (stat(place->file, &about) == 0)
            st = look(ctx, place);
        else
            place->file[0] = '\0';
    }
    IKT_TRY(ikt_agree(ctx, st));
    ikt_broadcast(ctx, place, sizeof *place, 0);
    return IKT_OK;
}
