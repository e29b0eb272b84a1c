/* Arrays as data sets. See parts.h. */
#include "io/hdf5/parts.h"

#include "io/hdf5/parts_h5.h"

ikt_part ikt_part_rows(const char *name, ikt_part_type type, const ikt_rows *distribution,
                       int64_t d, void *rows) {
    return (ikt_part){
        name, type, distribution->n, d, false, distribution->first, distribution->count, rows};
}

ikt_part ikt_part_shared(const char *name, ikt_part_type type, int64_t n, void *values) {
    return (ikt_part){name, type, n, 0, true, 0, n, values};
}

size_t ikt_part_type_size(ikt_part_type type) {
    static const size_t sizes[] = {
        [IKT_PART_U8] = 1,  [IKT_PART_U16] = 2, [IKT_PART_I32] = 4, [IKT_PART_U32] = 4,
        [IKT_PART_I64] = 8, [IKT_PART_F32] = 4, [IKT_PART_F64] = 8};
    return sizes[type];
}

static hid_t type_of(const ikt_part *part) {
    switch (part->type) {
    case IKT_PART_U8:
        return H5T_NATIVE_UINT8;
    case IKT_PART_U16:
        return H5T_NATIVE_UINT16;
    case IKT_PART_I32:
        return H5T_NATIVE_INT32;
    case IKT_PART_U32:
        return H5T_NATIVE_UINT32;
    case IKT_PART_I64:
        return H5T_NATIVE_INT64;
    case IKT_PART_F32:
        return H5T_NATIVE_FLOAT;
    default:
        return H5T_NATIVE_DOUBLE;
    }
}

int64_t ikt_parts_bytes(const ikt_part *parts, int64_t count) {
    int64_t bytes = 0;
    for (int64_t p = 0; p < count; p++) {
        const int64_t columns = parts[p].d > 0 ? parts[p].d : 1;
        const int64_t element = (int64_t)H5Tget_size(type_of(&parts[p]));
        bytes += ikt_h5_rows_bytes(parts[p].n, columns * element);
    }
    return bytes;
}

ikt_status ikt_parts_write(ikt_context *ctx, hid_t group, bool is_plain, const ikt_part *parts,
                           int64_t count) {
    for (const ikt_part *part = parts; part < parts + count; part++) {
        const hid_t type = type_of(part);
        const bool is_idle = part->is_shared && ikt_rank(ctx) != 0; /* all hold it; one writes it */
        hid_t dataset;
        ikt_status st =
            is_plain ? ikt_h5_create_plain(ctx, group, part->name, type, part->n, part->d, &dataset)
                     : ikt_h5_create_rows(ctx, group, part->name, type, part->n, part->d, &dataset);
        if (st == IKT_OK && part->n > 0)
            st = ikt_h5_write_rows(ctx, dataset, type, part->first, is_idle ? 0 : part->count,
                                   part->rows);
        ikt_h5_close(dataset);
        IKT_TRY(st);
    }
    return IKT_OK;
}

ikt_status ikt_parts_read(ikt_context *ctx, hid_t group, const ikt_part *parts, int64_t count) {
    for (const ikt_part *part = parts; part < parts + count; part++) {
        hid_t dataset;
        char name[512];
        ikt_status st = IKT_OK;
        if (!ikt_h5_open_rows(group, part->name, type_of(part), part->n, part->d, &dataset))
            st = ikt_fail(ctx, IKT_ERR_DATA, "%s/%s is missing or has another size than expected",
                          ikt_h5_name(group, name, sizeof name), part->name);
        st = ikt_agree(ctx, st);
        if (st == IKT_OK && part->n > 0)
            st =
                ikt_h5_read_rows(ctx, dataset, type_of(part), part->first, part->count, part->rows);
        ikt_h5_close(dataset);
        IKT_TRY(st);
    }
    return IKT_OK;
}
