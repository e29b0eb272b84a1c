/* A program that calls the library and has a locale of its own, as those of Qt, GTK and R have.
 *   locale_host LOCALE FOLDER    reads FOLDER/run.yaml and writes map.h5, map.svg, map.pdf,
 * map.html and facts.txt there; 2 where the locale cannot be had
 */
#include <iktsne/iktsne.h>

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ikt_context *ctx;

static void expect(ikt_status status) {
    if (status == IKT_OK) return;
    fprintf(stderr, "%s\n", ikt_message(ctx));
    exit(1);
}

/* Numbers as bits: this program's own printf has the comma. */
static void put_number(FILE *file, const char *name, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    fprintf(file, "%s %016" PRIx64 "\n", name, bits);
}

static void put_facts(ikt_embedding *embedding, ikt_parameters *parameters) {
    const char *yaml;
    char text[64];
    FILE *file = fopen("facts.txt", "w");
    if (!file) exit(1);
    expect(ikt_parameters_yaml(parameters, &yaml));
    expect(ikt_parameters_get(parameters, "layout.final_momentum", text, sizeof text));
    fprintf(file, "%016" PRIx64 "\n%s\n%s\n%s\n", ikt_embedding_hash(embedding), text, yaml,
            ikt_embedding_yaml(embedding));
    for (int64_t i = 0; i < ikt_embedding_measures(embedding); i++) {
        const ikt_embedding_measure m = ikt_embedding_measure_at(embedding, i);
        put_number(file, m.name, m.value);
        fprintf(file, "%s\n", m.note);
    }
    if (fclose(file) != 0) exit(1);
}

int main(int argc, char **argv) {
    ikt_parameters *parameters = NULL;
    ikt_embedding *embedding = NULL;
    const char *why;
    double *column;
    if (argc != 3 || !setlocale(LC_ALL, argv[1])) return 2;
    if (strcmp(argv[1], "C") != 0 && localeconv()->decimal_point[0] != ',') return 2;
    if (chdir(argv[2]) != 0 || ikt_context_create_single(2, &ctx, &why) != IKT_OK) return 1;
    expect(ikt_parameters_create(ctx, &parameters));
    expect(ikt_parameters_load(parameters, "run.yaml"));
    expect(ikt_parameters_set(parameters, "layout.momentum", "0.55"));
    expect(ikt_embed_file(ctx, parameters, &embedding));
    const int64_t count = ikt_embedding_count(embedding);
    if (!(column = malloc((size_t)count * sizeof *column))) return 1;
    for (int64_t i = 0; i < count; i++)
        column[i] = (double)i / 7;
    const ikt_view_column columns = {.name = "a number", .numbers = column};
    expect(ikt_embedding_write(embedding, "map.h5", false));
    expect(ikt_embedding_draw(embedding, "map.svg", false, "A map"));
    expect(ikt_embedding_draw(embedding, "map.pdf", false, "A map"));
    expect(ikt_embedding_view(embedding, "map.html", false, "A map", &columns, 1));
    put_facts(embedding, parameters);
    if (strcmp(argv[1], "C") != 0 && localeconv()->decimal_point[0] != ',') return 3;
    free(column);
    ikt_embedding_destroy(&embedding);
    ikt_parameters_destroy(&parameters);
    ikt_context_destroy(&ctx);
    return 0;
}
