/* Reading, checking and writing back the configuration that the sections of key.h describe.
 *
 * Every rank holds the same values: rank 0 reads a file, its text is broadcast and every rank
 * parses it. Errors name file, line and the nearest key.
 */
#ifndef IKT_CONFIG_CONFIG_H
#define IKT_CONFIG_CONFIG_H

#include <stdbool.h>

#include "base/status.h"
#include "config/key.h"

/* A section and the settings struct its keys are members of. */
typedef struct {
    const ikt_section *section;
    void *settings;
} ikt_config_part;

/* SAME-ARGS. Sets every member to its default. Errors: IKT_ERR_INTERNAL for a default that its own
 * key does not allow (a defect of a table). */
ikt_status ikt_config_defaults(ikt_context *ctx, const ikt_config_part *parts, size_t n);

/* COLLECTIVE. Reads a YAML file of two levels, `section: {key: value}`, over the values that are
 * there: keys that the file does not name keep theirs. Rank 0 reads, every rank parses.
 * Errors: IKT_ERR_FILE (cannot be read, larger than 1 MiB), IKT_ERR_USAGE with file, line and what
 * is possible: unknown or repeated sections and keys, a value that is missing, of the wrong type or
 * out of range, lists, deeper levels, anchors, aliases, tags, a second document, bytes that are no
 * text. After a failure some values may be set. */
ikt_status ikt_config_load(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                           const char *path);

/* SAME-ARGS. The same from text; `name` stands for the file in messages. */
ikt_status ikt_config_parse_text(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                 const char *name, const char *text);

/* SAME-ARGS. Applies one `section.key=value`; the value is taken as it stands, without YAML's
 * quotes, and may be empty for a string. Errors: IKT_ERR_USAGE. */
ikt_status ikt_config_override(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                               const char *assignment);

/* LOCAL. The configuration as YAML that parses back to the same values. *text is freed with
 * ikt_free. Errors: IKT_ERR_RESOURCE; IKT_ERR_USAGE for a string that is not UTF-8, which only a
 * caller that fills the struct itself can have. */
ikt_status ikt_config_print(ikt_context *ctx, const ikt_config_part *parts, size_t n, char **text);

/* LOCAL. The same with what every section and key means as comments, in lines of at most 100
 * characters: a file to start from. And all sections and keys with type, default, range and help,
 * for people; as Markdown: a heading of the second level and a table for each section. As above. */
ikt_status ikt_config_print_commented(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                      char **text);
ikt_status ikt_config_describe(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                               char **text);
ikt_status ikt_config_describe_markdown(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                        char **text);

/* LOCAL. The key of a section, or NULL with a message that names the nearest key of any section. */
const ikt_key *ikt_config_find_key(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                   const ikt_config_part *part, const char *where,
                                   const char *name);

/* LOCAL. The key of "section.key" and the part that it is in; NULL with a message that names the
 * nearest section or key. *part is NULL where there is no such section. */
const ikt_key *ikt_config_find(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                               const char *where, const char *name, const ikt_config_part **part);

/* LOCAL. Address of a key's member in a part's settings. */
void *ikt_config_member(const ikt_config_part *part, const ikt_key *key);

/* COLLECTIVE. The text of a file of at most 1 MiB, on every rank, ended by a zero byte.
 *   text   receives it; freed with ikt_free; NULL on failure.
 * Errors: IKT_ERR_FILE (unreadable, too large), IKT_ERR_USAGE (a zero byte), IKT_ERR_RESOURCE. */
ikt_status ikt_text_file_load(ikt_context *ctx, const char *path, char **text);

/* --- what is said to someone who writes a name that there is none of (hints.c) -----------------
 *
 * Two kinds of help: the nearest right name, where one is near enough to be what was meant; and,
 * for names that other programs give to what this one calls otherwise (openTSNE, scikit-learn,
 * FIt-SNE, Rtsne, umap-learn, scanpy), one sentence with the name here, or why there is none. */

/* The nearest of the names that were offered so far, where one is near enough. */
typedef struct {
    const char *wanted;
    char name[160]; /* "" while none is near */
    int distance;   /* of that name */
    char text[360];
} ikt_nearest;

/* LOCAL. Begins with the wrong name, which is borrowed. */
ikt_nearest ikt_nearest_begin(const char *wanted);

/* LOCAL. Offers a right name. Where several are equally near the first one stays. */
void ikt_nearest_offer(ikt_nearest *nearest, const char *name);

/* LOCAL. Offers a right name that is called `full` ("layout.init") and lies `apart` farther away
 * than its letters say, such as in another section. */
void ikt_nearest_offer_as(ikt_nearest *nearest, const char *name, const char *full, int apart);

/* LOCAL. The end of a message: "; did you mean 'NAME'?", or "" where none was near. Held by
 * `nearest`. */
const char *ikt_nearest_say(ikt_nearest *nearest);

/* LOCAL, pure. The sentence on a name that other programs use, without its full stop; NULL for any
 * other name. Large letters and - in place of _ do not matter. */
const char *ikt_peer_hint(const char *name);

/* LOCAL, pure. i-th sentence of the table, NULL beyond the last: for tests. */
const char *ikt_peer_hint_at(int i);

/* LOCAL. Offers all settings, "section.key", as what a wrong name may have meant. */
void ikt_config_offer(ikt_nearest *nearest, const ikt_config_part *parts, size_t n);

#endif
