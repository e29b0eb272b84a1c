/* The labels of a table in text: integers where all of them are, else names of classes.
 *
 * That is not known before the last row, so labels are learnt in a pass of their own. Names are
 * kept in UTF-8: a label that is not UTF-8 is taken for Latin-1 (ISO 8859-1), of which one warning
 * tells.
 */
#ifndef IKT_IO_FORMATS_CSV_LABELS_H
#define IKT_IO_FORMATS_CSV_LABELS_H

#include "io/formats/csv_classes.h"

/* An all-zero struct has learnt nothing. */
typedef struct {
    ikt_csv_classes classes;
    bool are_text;   /* some label is not an integer of 32 bits */
    bool are_many;   /* more than there is room for */
    bool are_latin1; /* some are not UTF-8 */
    char *text;      /* [room] a label as UTF-8 */
    int64_t room;
} ikt_csv_labels;

/* LOCAL. Takes note of a label. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_csv_labels_learn(ikt_context *ctx, ikt_csv_labels *labels, const char *text);

/* LOCAL. Takes note of the names that another part of the file has, "a\nb\n", which is spoilt.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_csv_labels_merge(ikt_context *ctx, ikt_csv_labels *labels, char *names);

/* LOCAL. The names of text labels, with a warning on rank 0 where some were taken for Latin-1;
 * "a\nb\n", freed with ikt_free; NULL where labels are integers. Errors: IKT_ERR_DATA (texts, and
 * more than IKT_CLASSES_MAX different ones; `path` for the message), IKT_ERR_RESOURCE. */
ikt_status ikt_csv_labels_list(ikt_context *ctx, const char *path, const ikt_csv_labels *labels,
                               char **text);

/* LOCAL. Number of a label that has been learnt. */
int32_t ikt_csv_labels_number(const ikt_csv_labels *labels, const char *text);

/* LOCAL. Frees what has been learnt. */
void ikt_csv_labels_free(ikt_csv_labels *labels);

#endif
