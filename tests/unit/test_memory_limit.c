/* Limits of memory: control groups of both versions, in trees of files like those of Linux, and
 * what Slurm says in the environment. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "support/ikt_test.h"

static void put(const char *folder, const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void group(const char *folder, const char *limit, const char *used) {
    mkdir(folder, 0777);
    put(folder, "memory.max", limit);
    put(folder, "memory.current", used);
}

/* The least of a group and those above it; files that can be given back are not counted as used. */
static void test_version_2(void **state) {
    (void)state;
    mkdir("unit-limit-v2", 0777);
    remove("unit-limit-v2/job/memory.stat"); /* of a test before */
    put("unit-limit-v2", "self", "0::/job/step\n");
    group("unit-limit-v2/job", "1000000\n", "600000\n");
    group("unit-limit-v2/job/step", "max\n", "500000\n");
    assert_int_equal(ikt_group_memory_left("unit-limit-v2/self", "unit-limit-v2"), 400000);
    put("unit-limit-v2/job", "memory.stat", "anon 350000\nfile 250000\ninactive_file 200000\n");
    assert_int_equal(ikt_group_memory_left("unit-limit-v2/self", "unit-limit-v2"), 600000);
    group("unit-limit-v2/job/step", "550000\n", "500000\n");
    assert_int_equal(ikt_group_memory_left("unit-limit-v2/self", "unit-limit-v2"), 50000);
    group("unit-limit-v2/job/step", "400000\n", "500000\n");
    assert_int_equal(ikt_group_memory_left("unit-limit-v2/self", "unit-limit-v2"), 0);
}

/* Seen from inside a container: the group's own folder is not there, the root is the container. */
static void test_version_1(void **state) {
    (void)state;
    mkdir("unit-limit-v1", 0777);
    mkdir("unit-limit-v1/memory", 0777);
    put("unit-limit-v1", "self", "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/y\n");
    put("unit-limit-v1/memory", "memory.limit_in_bytes", "1000\n");
    put("unit-limit-v1/memory", "memory.usage_in_bytes", "700\n");
    put("unit-limit-v1/memory", "memory.stat", "inactive_file 1\ntotal_inactive_file 100\n");
    assert_int_equal(ikt_group_memory_left("unit-limit-v1/self", "unit-limit-v1"), 400);
}

static void test_no_groups(void **state) {
    (void)state;
    assert_true(ikt_group_memory_left("unit-limit-none", "unit-limit-none") == INT64_MAX);
    put(".", "unit-limit-odd", "no colon\n1:memory\n:::\n3:hugememory:/a\n");
    assert_true(ikt_group_memory_left("unit-limit-odd", "unit-limit-none") == INT64_MAX);
}

static void test_slurm(void **state) {
    (void)state;
    unsetenv("SLURM_MEM_PER_NODE");
    unsetenv("SLURM_MEM_PER_CPU");
    assert_true(ikt_slurm_memory() == INT64_MAX);
    setenv("SLURM_MEM_PER_CPU", "100", 1);
    setenv("SLURM_CPUS_ON_NODE", "4", 1);
    assert_int_equal(ikt_slurm_memory(), (int64_t)400 << 20);
    setenv("SLURM_MEM_PER_NODE", "0", 1); /* all of it */
    assert_int_equal(ikt_slurm_memory(), (int64_t)400 << 20);
    setenv("SLURM_MEM_PER_NODE", "250", 1);
    assert_int_equal(ikt_slurm_memory(), (int64_t)250 << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_2), cmocka_unit_test(test_version_1),
        cmocka_unit_test(test_no_groups), cmocka_unit_test(test_slurm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
