/* Labels of rows that are texts: integers where all of them are, else names of classes, and so are
 * codes such as 001, which is not 1, and 1e3; and the names of classes in one text, "a\nb\n": line
 * k names class k. Rows that have no class are class -1, which has a name wherever the others have
 * one.
 *
 * Whether labels are integers is not known before the last row, so they are learnt in a pass of
 * their own. Names are kept in UTF-8: a label that is not UTF-8 is taken for Latin-1 (ISO 8859-1),
 * of which one warning tells.
 */
#ifndef IKT_IO_FORMATS_CLASS_LABELS_H
#define IKT_IO_FORMATS_CLASS_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define IKT_LABEL_MISSING (-1)

/* LOCAL, pure. How many classes have names. */
int64_t ikt_label_names_count(const char *names);

/* LOCAL, pure. The name of a class, or its number where it has none; `names` may be NULL. Returns
 * `text`, at most `size` bytes. */
const char *ikt_label_name(const char *names, int64_t label, char *text, size_t size);

/* LOCAL. A class whose name is empty is none: its rows get IKT_LABEL_MISSING.
 *   names    a line a class, or NULL
 *   labels   [count] */
void ikt_labels_leave_unnamed(const char *names, int64_t *labels, int64_t count);

/* LOCAL. Warns where classes are beyond those that have names; NULL names all.
 *   path     of the file, for the message
 *   labels   [count] */
void ikt_label_names_check(ikt_context *ctx, const char *path, const char *names, int64_t count,
                           const int64_t *labels);

/* Different names, numbered 0, 1, ... in the order of their bytes.
 *
 * That order does not depend on the order of the rows, so a shuffled file has the same numbers.
 * Cost: a search by halving for each label, a move of the sorted array for each new name.
 */

/* Beyond this a column of texts is hardly one of classes (names of rows, say). */
enum { IKT_CLASS_NAMES_MAX = 100000 };

/* An all-zero struct has no names. */
typedef struct {
    char **name;   /* [count] sorted */
    int64_t count; /* at most IKT_CLASS_NAMES_MAX */
    int64_t capacity;
} ikt_class_names;

/* LOCAL. Adds a name if it is new; the text is copied.
 *   full   set to true (never to false) where there is no place left for it, which is no error:
 *          labels that turn out to be numbers need no names
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_class_names_add(ikt_context *ctx, ikt_class_names *classes, const char *name,
                               bool *full);

/* COLLECTIVE. Gives every rank the names of all: one list after the other, so that no rank holds
 * all of them twice. What comes out does not depend on which rank has which names.
 *   full   in: as above; out: the same on all ranks, the names are of no use where it is true
 * Errors: IKT_ERR_RESOURCE, agreed. */
ikt_status ikt_class_names_join(ikt_context *ctx, ikt_class_names *classes, bool *full);

/* LOCAL. Adds the names of a text, "a\nb\n", which is spoilt. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_class_names_add_lines(ikt_context *ctx, ikt_class_names *classes, char *lines,
                                     bool *full);

/* LOCAL. Number of a name, or -1 where it has none. Valid when all names have been added. */
int64_t ikt_class_names_find(const ikt_class_names *classes, const char *name);

/* LOCAL. "a\nb\n": the names in order, freed with ikt_free. */
ikt_status ikt_class_names_list(ikt_context *ctx, const ikt_class_names *classes, char **text);

/* LOCAL. Frees the names. */
void ikt_class_names_free(ikt_class_names *classes);

/* LOCAL, pure. Whether a text is digits behind a leading zero, a postal code, the number of a ward;
 * or 12E5, as plates and genes are called: programs write a number with 1e+05. */
bool ikt_label_is_code(const char *text);

/* An all-zero struct has learnt nothing. */
typedef struct {
    ikt_class_names classes;
    bool are_text;   /* some label is a code, or no integer of 32 bits */
    bool are_many;   /* more than IKT_CLASS_NAMES_MAX */
    bool are_latin1; /* some are not UTF-8 */
    char *text;      /* [capacity] a label as UTF-8 */
    int64_t capacity;
} ikt_text_labels;

/* LOCAL. Takes note of a label. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_text_labels_learn(ikt_context *ctx, ikt_text_labels *labels, const char *text);

/* LOCAL. The names of text labels, with a warning on rank 0 where some were taken for Latin-1;
 * "a\nb\n", freed with ikt_free; NULL where labels are integers. Errors: IKT_ERR_DATA (texts, and
 * more than IKT_CLASS_NAMES_MAX different ones; `path` for the message), IKT_ERR_RESOURCE. */
ikt_status ikt_text_labels_list(ikt_context *ctx, const char *path, const ikt_text_labels *labels,
                                char **text);

/* COLLECTIVE. The same of what all ranks have learnt, each of its rows: labels that are integers on
 * all of them stay what they are; names are numbered among those of all. */
ikt_status ikt_text_labels_join(ikt_context *ctx, const char *path, ikt_text_labels *labels,
                                char **text);

/* LOCAL. Number of a label that has been learnt. */
int32_t ikt_text_labels_number(const ikt_text_labels *labels, const char *text);

/* LOCAL. Frees what has been learnt. */
void ikt_text_labels_free(ikt_text_labels *labels);

#endif
