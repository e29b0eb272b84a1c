/* Writes a small file as anndata and MATLAB do, for tests that must not need them: write_h5ad FILE.
 *
 *   X                    40 x 3 float32
 *   obs/kind             codes and categories, as anndata writes them from 0.8 on
 *   obs/old              codes, whose attribute refers to the categories, as before
 *   obs/text, obs/flag   texts of variable length; truth values
 *   M                    40 x 3 as MATLAB stores it, behind a block of 512 bytes */
#include <hdf5.h>
#include <stdint.h>

enum { N = 40, D = 3, K = 3 };
static const char *const names[K] = {"b cell", "t cell", "stem cell"};

static hid_t create(hid_t file, const char *name, hid_t type, int dimensions, hsize_t n,
                    hsize_t d) {
    const hsize_t size[2] = {n, d};
    hid_t space = H5Screate_simple(dimensions, size, NULL);
    hid_t data = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Sclose(space);
    return data;
}

static void put(hid_t file, const char *name, hid_t type, int dimensions, hsize_t n, hsize_t d,
                const void *values) {
    hid_t data = create(file, name, type, dimensions, n, d);
    H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(data);
}

static void set_attribute(hid_t file, const char *object, const char *name, hid_t type,
                          const void *value) {
    hid_t space = H5Screate(H5S_SCALAR), on = H5Oopen(file, object, H5P_DEFAULT);
    hid_t attribute = H5Acreate2(on, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, value);
    H5Aclose(attribute), H5Oclose(on), H5Sclose(space);
}

static void write_labels(hid_t file, hid_t text) {
    int8_t codes[N], no = 0, yes = 1;
    const char *texts[N];
    hobj_ref_t reference;
    hid_t truth = H5Tenum_create(H5T_NATIVE_INT8);
    H5Tenum_insert(truth, "FALSE", &no), H5Tenum_insert(truth, "TRUE", &yes);
    for (int i = 0; i < N; i++) {
        codes[i] = (int8_t)(i % (K + 1) - 1);
        texts[i] = names[i % K];
    }
    put(file, "obs/kind/codes", H5T_NATIVE_INT8, 1, N, 0, codes);
    put(file, "obs/kind/categories", text, 1, K, 0, names);
    put(file, "obs/__categories/old", text, 1, K, 0, names);
    put(file, "obs/old", H5T_NATIVE_INT8, 1, N, 0, codes);
    H5Rcreate(&reference, file, "obs/__categories/old", H5R_OBJECT, -1);
    set_attribute(file, "obs/old", "categories", H5T_STD_REF_OBJ, &reference);
    put(file, "obs/text", text, 1, N, 0, texts);
    for (int i = 0; i < N; i++)
        codes[i] = (int8_t)(i % 2);
    put(file, "obs/flag", truth, 1, N, 0, codes);
    H5Tclose(truth);
}

int main(int argc, char **argv) {
    static const char *const groups[] = {"obs", "obs/kind", "obs/__categories", "var"};
    float rows[N][D], turned[D][N];
    if (argc != 2) return 2;
    for (int i = 0; i < N; i++)
        for (int c = 0; c < D; c++)
            rows[i][c] = turned[c][i] = (float)(i * (c + 1) % 11);
    hid_t list = H5Pcreate(H5P_FILE_CREATE), text = H5Tcopy(H5T_C_S1), single = H5Tcopy(H5T_C_S1);
    H5Pset_userblock(list, 512), H5Tset_size(text, H5T_VARIABLE), H5Tset_size(single, 6);
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, list, H5P_DEFAULT);
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        H5Gclose(H5Gcreate2(file, groups[g], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put(file, "X", H5T_NATIVE_FLOAT, 2, N, D, rows);
    put(file, "M", H5T_NATIVE_FLOAT, 2, D, N, turned);
    set_attribute(file, "M", "MATLAB_class", single, "single");
    write_labels(file, text);
    H5Tclose(text), H5Tclose(single), H5Pclose(list);
    return file < 0 || H5Fclose(file) < 0;
}
