/* Names, sizes and types of the data sets of a model file. */
#include "io/results/model_parts.h"

ikt_model_layout ikt_model_layout_of(const ikt_model_shape *s, ikt_model_part part) {
    const hid_t code = ikt_model_code_bytes(s) == 1 ? H5T_NATIVE_UINT8 : H5T_NATIVE_UINT16;
    const hid_t row = s->is_u8 ? H5T_NATIVE_UINT8 : H5T_NATIVE_FLOAT;
    const ikt_model_layout layouts[IKT_MODEL_PARTS] = {
        [IKT_MODEL_SHIFT] = {"preprocess/shift", H5T_NATIVE_DOUBLE, s->d, 0, 0},
        [IKT_MODEL_SCALE] = {"preprocess/scale", H5T_NATIVE_DOUBLE, s->d, 0, 0},
        [IKT_MODEL_MEAN] = {"preprocess/mean", H5T_NATIVE_DOUBLE, s->d, 0, 0},
        [IKT_MODEL_COMPONENTS] = {"preprocess/components", H5T_NATIVE_DOUBLE, s->columns, s->d, 0},
        [IKT_MODEL_CENTRES] = {"centres", row, s->centres, s->columns, 0},
        [IKT_MODEL_PARTITIONINGS] = {"partitionings", H5T_NATIVE_INT32, s->t, s->psi, 0},
        [IKT_MODEL_CODES] = {"codes", code, s->n, s->t, 0},
        [IKT_MODEL_EMBEDDING] = {"embedding", H5T_NATIVE_FLOAT, s->n, s->q, 0},
        [IKT_MODEL_LABELS] = {"labels", H5T_NATIVE_INT64, s->n, 0, 0}};
    ikt_model_layout layout = layouts[part];
    layout.row_bytes = H5Tget_size(layout.type) * (size_t)(layout.d > 0 ? layout.d : 1);
    return layout;
}

bool ikt_model_part_needed(const ikt_model_shape *shape, ikt_model_part part) {
    switch (part) {
    case IKT_MODEL_SHIFT:
    case IKT_MODEL_SCALE:
        return shape->is_shifted;
    case IKT_MODEL_MEAN:
    case IKT_MODEL_COMPONENTS:
        return shape->is_reduced;
    default:
        return part != IKT_MODEL_LABELS;
    }
}

const char *const ikt_model_number_name[IKT_MODEL_NUMBERS] = {
    "rows", "dimensions",    "input_columns", "columns",    "distinct_centres", "t",
    "psi",  "rows_of_bytes", "is_shifted",    "is_reduced", "unit_length"};

void ikt_model_shape_pack(const ikt_model_shape *s, int64_t number[IKT_MODEL_NUMBERS]) {
    const int64_t numbers[IKT_MODEL_NUMBERS] = {s->n,          s->q,          s->d,      s->columns,
                                                s->centres,    s->t,          s->psi,    s->is_u8,
                                                s->is_shifted, s->is_reduced, s->is_unit};
    for (int i = 0; i < IKT_MODEL_NUMBERS; i++)
        number[i] = numbers[i];
}

void ikt_model_shape_unpack(const int64_t number[IKT_MODEL_NUMBERS], ikt_model_shape *shape) {
    *shape = (ikt_model_shape){.n = number[0],
                               .q = number[1],
                               .d = number[2],
                               .columns = number[3],
                               .centres = number[4],
                               .t = number[5],
                               .psi = number[6],
                               .is_u8 = number[7] != 0,
                               .is_shifted = number[8] != 0,
                               .is_reduced = number[9] != 0,
                               .is_unit = number[10] != 0};
}
