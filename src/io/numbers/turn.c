/* Turning a tile of a matrix that stands by columns into rows. */
#include "io/numbers/turn.h"

enum { BLOCK_ROWS = 512 };

int64_t ikt_turn(ikt_element element, const void *stored, int64_t columns, int64_t count,
                 void *values, int64_t d) {
    const char *from = stored;
    char *to = values;
    const int64_t size = element.bytes, value = (int64_t)ikt_type_size(ikt_element_type(element));
    for (int64_t first = 0; first < count; first += BLOCK_ROWS) {
        const int64_t rows = count - first < BLOCK_ROWS ? count - first : BLOCK_ROWS;
        for (int64_t c = 0; c < columns; c++) {
            const int64_t at = c * count + first;
            const int64_t good = ikt_elements_convert(element, from + at * size, rows,
                                                      to + (first * d + c) * value, d);
            if (good < rows) return at + good;
        }
    }
    return -1;
}
