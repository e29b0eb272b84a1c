/* Numbers in HDF5 files. See h5_numbers.h. */
#include "io/hdf5/h5_numbers.h"

#include "io/hdf5/h5.h"
#include "io/hdf5/h5_texts.h"

static const int64_t length_most = (int64_t)1 << 48;

static ikt_type type_of(H5T_class_t class, size_t size, H5T_sign_t sign) {
    if (class == H5T_ENUM || (class == H5T_INTEGER && size == 1 && sign == H5T_SGN_NONE))
        return IKT_TYPE_U8;
    return size <= (class == H5T_FLOAT ? 4 : 2) ? IKT_TYPE_F32 : IKT_TYPE_F64;
}

bool ikt_h5_number_of(hid_t type, ikt_h5_number *number) {
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    const size_t size = type < 0 ? 0 : H5Tget_size(type);
    const bool is_truth = class == H5T_ENUM && size == 1;
    if (!is_truth && ((class != H5T_INTEGER && class != H5T_FLOAT) || size > 8)) return false;
    const H5T_sign_t sign = class == H5T_INTEGER ? H5Tget_sign(type) : H5T_SGN_ERROR;
    *number = (ikt_h5_number){.type = type_of(class, size, sign),
                              .is_integer = class == H5T_INTEGER,
                              .is_short = class == H5T_INTEGER &&
                                          (size < 4 || (size == 4 && sign == H5T_SGN_2)),
                              .is_wide = class == H5T_INTEGER && size == 8,
                              .is_truth = is_truth};
    return true;
}

hid_t ikt_h5_memory_type(ikt_type type) {
    return type == IKT_TYPE_U8    ? H5T_NATIVE_UINT8
           : type == IKT_TYPE_F32 ? H5T_NATIVE_FLOAT
                                  : H5T_NATIVE_DOUBLE;
}

ikt_status ikt_h5_list_open(ikt_context *ctx, hid_t group, const char *child, bool is_index,
                            const char *name, ikt_h5_list *out) {
    *out = (ikt_h5_list){.dataset = -1, .length = -1};
    hid_t object = ikt_h5_open_object(group, child);
    if (object >= 0 && H5Iget_type(object) == H5I_DATASET)
        out->dataset = object;
    else
        ikt_h5_close(object);
    hid_t type = out->dataset < 0 ? -1 : H5Dget_type(out->dataset);
    const bool is_number = ikt_h5_number_of(type, &out->number);
    out->length = ikt_h5_length(out->dataset);
    ikt_h5_close(type);
    if (is_number && (!is_index || out->number.is_integer) && out->length >= 0 &&
        out->length <= length_most)
        return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s/%s is not a list of %s of up to 64 bits", name, child,
                    is_index ? "integers" : "numbers");
}
