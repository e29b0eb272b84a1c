/* Writes an HDF5 data set /X of 40 x 3 float32 with a NaN in row 17, column 1, as other programs do
 * (serial, contiguous): write_h5 FILE. write_h5 FILE finite: without the NaN. */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 2 && argc != 3) return 2;
    float rows[40][3];
    for (int i = 0; i < 40; i++)
        for (int c = 0; c < 3; c++)
            rows[i][c] = (float)(i * (c + 1) % 11);
    if (argc == 2) rows[17][1] = NAN;
    const hsize_t size[2] = {40, 3};
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, size, NULL);
    hid_t data =
        H5Dcreate2(file, "X", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int bad = H5Dwrite(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) < 0;
    bad |= H5Dclose(data) < 0 || H5Sclose(space) < 0 || H5Fclose(file) < 0;
    return bad;
}
