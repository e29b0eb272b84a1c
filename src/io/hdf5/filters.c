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

/* Unpacks `from` into `most` bytes. Returns whether these are exactly as many. */
static bool unpack(const unsigned char *from, size_t bytes, unsigned char *to, size_t most) {
    size_t in = 0, out = 0;
    while (in < bytes) {
        const unsigned head = from[in++];
        size_t length = head < 32 ? head + 1 : head >> 5, back = 0;
        if (head < 32 && length > bytes - in) return false;
        if (head >= 32) {
            if (length == 7 && in < bytes) length += from[in++];
            if (in == bytes) return false;
            back = ((size_t)(head & 31) << 8) + from[in++] + 1;
            length += 2;
            if (back > out) return false;
        }
        if (length > most - out) return false;
        if (back == 0) {
            memcpy(to + out, from + in, length);
            in += length;
        }
        for (size_t i = 0; i < length && back > 0; i++) /* which may overlap */
            to[out + i] = to[out + i - back];
        out += length;
    }
    return out == most;
}

/* As H5Z_func_t: the third number of h5py's filter is the size of a chunk. HDF5 takes a chunk that
 * comes out shorter for a whole one, and what lies behind it in memory for numbers. */
static size_t lzf(unsigned flags, size_t count, const unsigned values[], size_t bytes, size_t *size,
                  void **buffer) {
    const size_t whole = count >= 3 ? values[2] : 0;
    if (!(flags & H5Z_FLAG_REVERSE) || whole == 0 || whole / LZF_GROWTH_MOST > bytes) return 0;
    void *made = H5allocate_memory(whole, false);
    if (!made) return 0;
    if (!unpack(*buffer, bytes, made, whole)) {
        H5free_memory(made);
        return 0;
    }
    H5free_memory(*buffer);
    *buffer = made;
    *size = whole;
    return whole;
}

void ikt_h5_add_filters(void) {
    static const H5Z_class2_t class = {H5Z_CLASS_T_VERS, LZF, 0, 1, "lzf", NULL, NULL, lzf};
    if (H5Zfilter_avail(LZF) <= 0) (void)H5Zregister(&class); /* what fails is told when it reads */
    H5Eclear2(H5E_DEFAULT);
}

/* Whether the size that the filter was given is that of the chunks. */
static bool lzf_has_size(hid_t dataset, hid_t list, unsigned given) {
    hsize_t edge[H5S_MAX_RANK];
    const hid_t type IKT_AT_END(ikt_h5_end) = H5Dget_type(dataset);
    const int rank = H5Pget_chunk(list, H5S_MAX_RANK, edge);
    size_t bytes = type < 0 || rank < 1 ? 0 : H5Tget_size(type);
    for (int k = 0; k < rank; k++)
        bytes *= (size_t)edge[k]; /* chunks are less than 4 GiB */
    return bytes > 0 && bytes == given;
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
    bool is_packed = false; /* before LZF, whose chunks are then of any size */
    IKT_TRY(ikt_h5_check_parts(ctx, dataset, name));
    for (int k = 0; k < count; k++) {
        unsigned flags, config, value[3] = {0};
        size_t values = 3;
        const H5Z_filter_t id =
            H5Pget_filter2(list, (unsigned)k, &flags, &values, value, 0, NULL, &config);
        if (id == LZF && (is_packed || !lzf_has_size(dataset, list, value[2])))
            return ikt_fail(ctx, IKT_ERR_FILE, "%s is compressed by LZF %s; write it with gzip",
                            name,
                            is_packed ? "behind another filter that packs, which is not read here"
                                      : "without the size of its chunks");
        is_packed |= id != H5Z_FILTER_SHUFFLE && id != H5Z_FILTER_FLETCHER32;
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
