/* Formats that are known and not read. See foreign.h. */
#include "io/formats/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

typedef struct {
    const char *magic;
    size_t length;
    const char *what;
} format;

/* ARFF is text: comments of %, then @relation. */
static bool is_arff(const char *at, const char *end) {
    static const char word[] = "@relation";
    while (at < end && (*at == '%' || *at == '\n' || *at == '\r')) {
        while (at < end && *at != '\n')
            at++;
        at += at < end;
    }
    return end - at >= 9 && strncasecmp(at, word, 9) == 0;
}

const char *ikt_foreign_text(const unsigned char *head, int64_t bytes) {
    const char *at = (const char *)head;
    if (!is_arff(at, at + bytes)) return NULL;
    return "is an ARFF file, which is not read: what follows @DATA is CSV, and what stands before "
           "it "
           "can be deleted";
}

const char *ikt_foreign_format(const unsigned char *head, int64_t bytes) {
    static const format known[] = {
        {"PAR1", 4,
         "is a Parquet file, which no library that this program uses reads: export its numbers as "
         "NPY, for example in Python with pandas: df = pandas.read_parquet(FILE); "
         "numpy.save('x.npy', df.to_numpy('float32'))"},
        {"ARROW1", 6,
         "is an Arrow or Feather file, which is not read: export its numbers as NPY, for example "
         "in Python with pandas: df = pandas.read_feather(FILE); "
         "numpy.save('x.npy', df.to_numpy('float32'))"},
        {"FEA1", 4,
         "is a Feather file, which is not read: export its numbers as NPY, for example in Python "
         "with pandas: df = pandas.read_feather(FILE); "
         "numpy.save('x.npy', df.to_numpy('float32'))"},
        {"RDX3\n", 5,
         "is a file of R, which is not read: export its numbers as text with write.csv(x, "
         "'x.csv', row.names = FALSE)"},
        {"X\n\0\0\0", 5,
         "is a file of R (RDS), which is not read: export its numbers as text with write.csv(x, "
         "'x.csv', row.names = FALSE)"},
        {"\x80\x02", 2, "is a Python pickle, which is not read: export its arrays with numpy.save"},
        {"\x80\x03", 2, "is a Python pickle, which is not read: export its arrays with numpy.save"},
        {"\x80\x04", 2, "is a Python pickle, which is not read: export its arrays with numpy.save"},
        {"\x80\x05", 2, "is a Python pickle, which is not read: export its arrays with numpy.save"},
        {"\xD0\xCF\x11\xE0", 4, "is a file of Excel, which is not read: save the table as CSV"},
        {"7z\xBC\xAF", 4, "is a 7z archive: unpack it, or compress the file with gzip"},
        {"BZh91AY&SY", 10, "is compressed with bzip2: unpack it, or compress it with gzip"},
        {"\xFD"
         "7zXZ",
         5, "is compressed with xz: unpack it, or compress it with gzip"},
        {"\x28\xB5\x2F\xFD", 4, "is compressed with zstd: unpack it, or compress it with gzip"},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (bytes >= (int64_t)known[k].length && memcmp(head, known[k].magic, known[k].length) == 0)
            return known[k].what;
    return NULL;
}
