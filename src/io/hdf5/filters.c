/* Filters of chunks that HDF5 lacks: LZF built in, and a sentence for the others. See h5.h.
 *
 * LZF is what h5py, and with it AnnData, compress by where they are asked for speed. Only unpacking
 * is here. Its format (liblzf by M. Lehmann): a byte below 32 is followed by one byte more than it
 * says, as they are; of any other one, the three upper bits are a length less two (seven: the next
 * byte is added), and the lower five with the byte that follows a distance back, less one. */
#include <stdio.h>
#include <string.h>

#include "io/hdf5/h5.h"

enum { LZF = 32000, LZF_GROWTH_MOST = 4096 };

/* Unpacks `from` into at most `most` bytes. Returns how many these are, or 0: they are more
 * (*is_short), or no such bytes. */
static size_t unpack(const unsigned char *from, size_t bytes, unsigned char *to, size_t most,
                     bool *is_short) {
    size_t in = 0, out = 0;
    *is_short = false;
    while (in < bytes) {
        const unsigned head = from[in++];
        size_t length = head < 32 ? head + 1 : head >> 5, back = 0;
        if (head < 32 && length > bytes - in) return 0;
        if (head >= 32) {
            if (length == 7 && in < bytes) length += from[in++];
            if (in == bytes) return 0;
            back = ((size_t)(head & 31) << 8) + from[in++] + 1;
            length += 2;
            if (back > out) return 0;
        }
        *is_short = length > most - out;
        if (*is_short) return 0;
        if (back == 0) {
            memcpy(to + out, from + in, length);
            in += length;
        }
        for (size_t i = 0; i < length && back > 0; i++) /* which may overlap */
            to[out + i] = to[out + i - back];
        out += length;
    }
    return out;
}

/* As H5Z_func_t: the third number of h5py's filter is the size of a chunk. */
static size_t lzf(unsigned flags, size_t count, const unsigned values[], size_t bytes, size_t *size,
                  void **buffer) {
    if (!(flags & H5Z_FLAG_REVERSE)) return 0;
    bool is_short = true;
    size_t room = count >= 3 && values[2] > 0 ? values[2] : *size, got = 0;
    const size_t most = bytes < SIZE_MAX / LZF_GROWTH_MOST ? bytes * LZF_GROWTH_MOST : SIZE_MAX;
    for (void *made = NULL; is_short && room <= most; room *= 2) {
        made = H5allocate_memory(room, false);
        if (!made) return 0;
        got = unpack(*buffer, bytes, made, room, &is_short);
        if (got == 0) {
            H5free_memory(made);
            continue;
        }
        H5free_memory(*buffer);
        *buffer = made;
        *size = room;
    }
    return got;
}

void ikt_h5_add_filters(void) {
    static const H5Z_class2_t class = {H5Z_CLASS_T_VERS, LZF, 0, 1, "lzf", NULL, NULL, lzf};
    if (H5Zfilter_avail(LZF) <= 0) (void)H5Zregister(&class); /* what fails is told when it reads */
    H5Eclear2(H5E_DEFAULT);
}

/* --- those that are missing ------------------------------------------------------------------- */

/* By the list of registered filters of the HDF Group. */
static const char *known_name(H5Z_filter_t id) {
    static const struct {
        H5Z_filter_t id;
        const char *name;
    } known[] = {{307, "bzip2"},        {32001, "Blosc"}, {32004, "LZ4"},
                 {32008, "bitshuffle"}, {32013, "ZFP"},   {32015, "Zstd"},
                 {32017, "SZ"},         {32024, "SZ3"},   {32026, "Blosc2"}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].id == id) return known[k].name;
    return "unknown here";
}

ikt_status ikt_h5_check_filters(ikt_context *ctx, hid_t dataset, const char *name) {
    const hid_t list IKT_AT_END(ikt_h5_end) = H5Dget_create_plist(dataset);
    const int count = list < 0 ? 0 : H5Pget_nfilters(list);
    for (int k = 0; k < count; k++) {
        unsigned flags, config;
        size_t values = 0;
        const H5Z_filter_t id =
            H5Pget_filter2(list, (unsigned)k, &flags, &values, NULL, 0, NULL, &config);
        if (id < 0 || H5Zfilter_avail(id) > 0) continue;
        H5Eclear2(H5E_DEFAULT);
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s is compressed by the filter %lld (%s), which the HDF5 library does not "
                        "have: set HDF5_PLUGIN_PATH to the folder of its plugin (of Python: pip "
                        "install hdf5plugin; hdf5plugin.PLUGIN_PATH), or write the file with gzip",
                        name, (long long)id, known_name(id));
    }
    return IKT_OK;
}
