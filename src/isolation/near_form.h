/* What rows, and the points that are near to them, are compared as: as the kernel of the codes has
 * them, or rows of float32 as bytes. A search and its trial are of either form. */
#ifndef IKT_ISOLATION_NEAR_FORM_H
#define IKT_ISOLATION_NEAR_FORM_H

#include "isolation/codes_kernel.h"
#include "metric/near_bytes.h"

typedef struct {
    const ikt_codes_kernel *kernel;
    const ikt_near_bytes_kernel *bytes; /* NULL: the kernel of the codes compares */
    const float *mean;                  /* [d] that is taken away of bytes; borrowed */
    int64_t d;
    int64_t words; /* of a row */
} ikt_near_form;

/* Points in one of the forms. */
typedef struct {
    ikt_centres plain;
    ikt_near_bytes bytes;
} ikt_near_points;

/* LOCAL. Writes rows x [count * d] as words [count * words]. */
static inline void ikt_near_rows_write(const ikt_near_form *form, const void *x, int64_t count,
                                       int32_t *word) {
    if (form->bytes)
        ikt_near_bytes_rows(x, count, form->d, form->mean, word);
    else
        ikt_row_words_write(form->kernel, x, count, form->d, word);
}

/* LOCAL. As ikt_codes_kernel.score_chosen, of either form. */
static inline void ikt_near_score(const ikt_near_form *form, const ikt_near_points *points,
                                  const int32_t *word, const uint32_t *row, int64_t count,
                                  int64_t first, int64_t end, void *value, int64_t stride) {
    if (form->bytes)
        form->bytes->score_chosen(word, row, count, &points->bytes, first, end, value, stride);
    else
        form->kernel->score_chosen(word, row, count, &points->plain, first, end, value, stride);
}

#endif
