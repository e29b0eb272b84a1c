/* What the page knows of its data: an object of JSON in a <script> element. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/encoding.h"
#include "viewer/parts.h"

enum { RAMP_STEPS = 64, FORMAT_VERSION = 2 };

/* JavaScript rounds whole numbers beyond this, 2^53: they are texts as well. */
#define WHOLE_MOST (INT64_C(1) << 53)

/* The first `count` bytes of the text in quotes. `<` could end the element that the object stands
 * in, or begin a comment. */
static void add_part(ikt_text *out, const char *text, int64_t count) {
    const char *end = text + count;
    char bytes[5];
    ikt_text_add(out, "\"");
    for (uint32_t point; text < end && (point = ikt_utf8_next(&text)) != 0 && text <= end;) {
        ikt_utf8_encode(point, bytes);
        if (point == '"' || point == '\\')
            ikt_text_add(out, "\\%s", bytes);
        else if (point < 32 || point == 0x7f || strchr("<>&", bytes[0]) || point == 0x2028 ||
                 point == 0x2029)
            ikt_text_add(out, "\\u%04x", (unsigned)point);
        else
            ikt_text_add(out, "%s", bytes);
    }
    ikt_text_add(out, "\"");
}

static void add_text(ikt_text *out, const char *name, const char *text) {
    ikt_text_add(out, "\"%s\":", name);
    add_part(out, text, (int64_t)strlen(text));
    ikt_text_add(out, ",");
}

static void add_number(ikt_text *out, const char *name, double number) {
    if (isfinite(number))
        ikt_text_add(out, "\"%s\":%.17g,", name, number);
    else
        ikt_text_add(out, "\"%s\":null,", name);
}

static void add_colour(ikt_text *out, ikt_rgb colour) {
    ikt_text_add(out, "\"#%02x%02x%02x\",", colour.r, colour.g, colour.b);
}

/* Lists end with a comma that JSON does not allow. */
static void end_list(ikt_text *out, const char *bracket) {
    if (out->data && out->data[out->length - 1] == ',') out->data[--out->length] = '\0';
    ikt_text_add(out, "%s", bracket);
}

/* Line `number` of the text and its length; NULL where there is none or it is empty. */
static const char *line_of(const char *text, int64_t number, int64_t *length) {
    if (!text || number < 0) return NULL;
    for (; number > 0 && text; number--) {
        text = strchr(text, '\n');
        if (text) text++;
    }
    *length = text ? (int64_t)strcspn(text, "\r\n") : 0;
    return *length > 0 ? text : NULL;
}

/* Label, count, colour on white and on black, and the name if there is one. Colours that came with
 * the data are the same on both. */
static void add_class(ikt_text *out, const ikt_viewer_column *column,
                      const ikt_viewer_legend *legend, int64_t c) {
    const ikt_colouring *classes = &legend->colouring;
    const int64_t label = classes->classes[c].label;
    const bool is_given = label >= 0 && label < column->n_colours && column->colours[label] >= 0;
    int64_t length = 0;
    const char *name = line_of(column->names, label, &length);
    char digits[32];
    if (!name && (label > WHOLE_MOST || label < -WHOLE_MOST)) {
        length = snprintf(digits, sizeof digits, "%" PRId64, label);
        name = digits;
    }
    ikt_text_add(out, "[%" PRId64 ",%" PRId64 ",", label, classes->classes[c].count);
    for (int black = 0; black < 2; black++) {
        if (is_given)
            ikt_text_add(out, "\"#%06x\",", (unsigned)column->colours[label]);
        else
            add_colour(out, ikt_palette_class(legend->colour[c], classes->n_classes, black));
    }
    if (name) add_part(out, name, length);
    end_list(out, "],");
}

static void add_column(ikt_text *out, const ikt_viewer_column *column,
                       const ikt_viewer_legend *legend) {
    static const char *const uses[] = {"both", "colour", "hover", "untold"};
    ikt_text_add(out, "\n{");
    add_text(out, "name", column->name);
    ikt_text_add(out, "\"use\":\"%s\",\"block\":%" PRId64 ",\"bytes\":%d,", uses[column->use],
                 legend->per_block, legend->bytes);
    if (column->texts) {
        ikt_text_add(out, "\"kind\":\"texts\",\"missing\":%" PRId64 "},", legend->range.missing);
        return;
    }
    if (column->values) {
        ikt_text_add(out, "\"kind\":\"numbers\",");
        add_number(out, "least", legend->range.least);
        add_number(out, "largest", legend->range.largest);
        add_number(out, "leastAboveZero", legend->range.least_above_zero);
        ikt_text_add(out, "\"missing\":%" PRId64 "},", legend->range.missing);
        return;
    }
    ikt_text_add(out, "\"kind\":\"classes\",\"classes\":[");
    for (int64_t c = 0; c < legend->colouring.n_classes; c++)
        add_class(out, column, legend, c);
    end_list(out, "]},");
}

static void add_themes(ikt_text *out) {
    ikt_text_add(out, "\n\"themes\":[");
    for (int black = 0; black < 2; black++) {
        const ikt_theme theme = ikt_theme_get(black);
        ikt_text_add(out, "{\"plain\":");
        add_colour(out, theme.plain);
        ikt_text_add(out, "\"missing\":");
        add_colour(out, theme.missing);
        ikt_text_add(out, "\"ramp\":[");
        for (int step = 0; step < RAMP_STEPS; step++)
            add_colour(out, ikt_palette_value((double)step / (RAMP_STEPS - 1), black));
        end_list(out, "]},");
    }
    end_list(out, "]");
}

static void add_map(ikt_text *out, const ikt_viewer_points *points) {
    ikt_text_add(out, "\n{");
    add_text(out, "name", points->map.name);
    ikt_text_add(out, "\"dimensions\":%d,\"block\":%d,", points->map.q, IKT_POINTS_PER_BLOCK);
    ikt_text_add(out, "\"corner\":[%.17g,%.17g,%.17g],\"side\":%.17g},", points->box.corner[0],
                 points->box.corner[1], points->box.corner[2], points->box.side);
}

void ikt_viewer_about(const ikt_viewer_settings *settings, const ikt_viewer_content *content,
                      const ikt_viewer_parts *parts, ikt_text *out) {
    static const char *const grounds[] = {"null", "false", "true"};
    const ikt_pictures *pictures = &parts->pictures;
    ikt_text_add(out, "{\"format\":\"iktsne-view\",\"version\":%d,\"rows\":%" PRId64 ",",
                 FORMAT_VERSION, content->rows->n);
    add_text(out, "title", settings->title);
    add_text(out, "note", settings->note);
    ikt_text_add(out, "\"black\":%s,\"marked\":[", grounds[settings->ground]);
    for (int64_t m = 0; m < content->n_marked; m++)
        ikt_text_add(out, "%" PRId64 ",", content->marked[m]);
    end_list(out, "],\n");
    ikt_text_add(out, "\"maps\":[");
    for (int m = 0; m < parts->n_maps; m++)
        add_map(out, &parts->points[m]);
    end_list(out, "],\n");
    ikt_text_add(out, "\"columns\":[");
    for (int c = 0; c < content->n_columns; c++)
        add_column(out, &content->column[c], &parts->legend[c]);
    end_list(out, "],");
    if (content->pictures)
        ikt_text_add(out,
                     "\n\"pictures\":{\"count\":%" PRId64 ",\"height\":%" PRId64
                     ",\"width\":%" PRId64 ",\"channels\":%" PRId64 ",\"block\":%" PRId64 "},",
                     pictures->n, pictures->height, pictures->width, pictures->channels,
                     pictures->per_block);
    add_themes(out);
    ikt_text_add(out, "}");
}
