/* Quotas of processors: control groups of both versions, in trees of files like those of Linux. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <sys/stat.h>

#include "base/control_group.h"
#include "support/ikt_test.h"

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The least of a group and those above it. */
static void test_version_2(void **state) {
    (void)state;
    mkdir("unit-quota", 0777);
    mkdir("unit-quota/job", 0777);
    mkdir("unit-quota/job/step", 0777);
    put("unit-quota/self", "0::/job/step\n");
    put("unit-quota/job/cpu.max", "max 100000\n");
    put("unit-quota/job/step/cpu.max", "max 100000\n");
    assert_true(ikt_group_processors("unit-quota/self", "unit-quota") == 0);
    put("unit-quota/job/cpu.max", "150000 100000\n");
    assert_true(ikt_group_processors("unit-quota/self", "unit-quota") == 1.5);
    put("unit-quota/job/step/cpu.max", "50000 100000\n");
    assert_true(ikt_group_processors("unit-quota/self", "unit-quota") == .5);
}

/* From inside a container the group's own folder is not there: the root is the container. */
static void test_version_1(void **state) {
    (void)state;
    mkdir("unit-quota-1", 0777);
    mkdir("unit-quota-1/cpu", 0777);
    put("unit-quota-1/self", "5:cpu,cpuacct:/docker/x\n3:cpuset:/\n");
    put("unit-quota-1/cpu/cpu.cfs_period_us", "100000\n");
    put("unit-quota-1/cpu/cpu.cfs_quota_us", "-1\n");
    assert_true(ikt_group_processors("unit-quota-1/self", "unit-quota-1") == 0);
    put("unit-quota-1/cpu/cpu.cfs_quota_us", "200000\n");
    assert_true(ikt_group_processors("unit-quota-1/self", "unit-quota-1") == 2);
}

static void test_no_groups(void **state) {
    (void)state;
    assert_true(ikt_group_processors("unit-quota-none", "unit-quota-none") == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_version_2),
                                       cmocka_unit_test(test_version_1),
                                       cmocka_unit_test(test_no_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
