/* What a call is expected to return, for tests. */
#ifndef IKT_TEST_EXPECT_H
#define IKT_TEST_EXPECT_H

#include "support/ikt_test.h"

#include <string.h>

/* The call went well; its message otherwise. */
static inline void succeed(ikt_context *ctx, ikt_status st) {
    if (st != IKT_OK) fail_msg("%s", ikt_message(ctx));
}

/* The call failed with this status and a message that holds these words; forgets the message. */
static inline void refuse(ikt_context *ctx, ikt_status st, ikt_status expected, const char *words) {
    assert_int_equal(st, expected);
    if (!strstr(ikt_message(ctx), words)) fail_msg("'%s', not '%s'", ikt_message(ctx), words);
    ikt_clear(ctx);
}

#endif
