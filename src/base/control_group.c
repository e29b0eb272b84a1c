/* Control groups of the system, whose limits a container or a job has. See control_group.h. */
#include "base/control_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"

enum { PATH_LENGTH = 4096, LINE_LENGTH = 4400 };

int64_t ikt_number_after(const char *folder, const char *file, const char *key) {
    char path[3 * PATH_LENGTH], line[LINE_LENGTH];
    const size_t length = strlen(key);
    int64_t value = -1;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *opened = fopen(path, "r");
    if (!opened) return -1;
    while (value < 0 && fgets(line, sizeof line, opened))
        if (strncmp(line, key, length) == 0) value = strtoll(line + length, NULL, 10);
    fclose(opened);
    return value;
}

void ikt_control_groups(const char *self, const char *root, const char *controller,
                        void (*visit)(void *about, const char *folder, bool is_second),
                        void *about) {
    char line[LINE_LENGTH], framed[LINE_LENGTH + 2], folder[2 * PATH_LENGTH], wanted[64];
    FILE *file = fopen(self, "r");
    if (!file) return;
    snprintf(wanted, sizeof wanted, ",%s,", controller);
    while (fgets(line, sizeof line, file)) { /* number:controllers:group */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = '\0';
        const bool is_second = controllers[1] == '\0';
        snprintf(framed, sizeof framed, ",%s,", controllers + 1); /* ",cpu,memory," */
        if (!is_second && !strstr(framed, wanted)) continue;
        /* From the group up to the root, below which a container may see but a part of the way. */
        const int stem = snprintf(folder, sizeof folder, "%s%s%s", root, is_second ? "" : "/",
                                  is_second ? "" : controller);
        snprintf(folder + stem, sizeof folder - (size_t)stem, "%s", group);
        for (char *slash = folder; slash; slash = strrchr(folder + stem, '/')) {
            if (slash != folder) *slash = '\0';
            visit(about, folder, is_second);
        }
    }
    fclose(file);
}

/* "QUOTA PERIOD" of version 2, "max PERIOD" without a quota; a file each of version 1. */
static void note_quota(void *about, const char *folder, bool is_second) {
    double *least = about;
    long long quota = 0, period = 0;
    if (is_second) {
        char path[3 * PATH_LENGTH];
        snprintf(path, sizeof path, "%s/cpu.max", folder);
        FILE *file = fopen(path, "r");
        if (!file) return;
        if (fscanf(file, "%lld %lld", &quota, &period) != 2) period = 0;
        fclose(file);
    } else {
        quota = ikt_number_after(folder, "cpu.cfs_quota_us", "");
        period = ikt_number_after(folder, "cpu.cfs_period_us", "");
    }
    if (quota <= 0 || period <= 0) return;
    const double processors = (double)quota / (double)period;
    if (*least <= 0 || processors < *least) *least = processors;
}

double ikt_group_processors(const char *self, const char *root) {
    double least = 0;
    ikt_control_groups(self, root, "cpu", note_quota, &least);
    return least;
}
