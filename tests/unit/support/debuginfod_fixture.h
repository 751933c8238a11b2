/* SPDX-License-Identifier: Apache-2.0 */
/* A debuginfod client with its worker, which is the real one, and the server
 * of debuginfod_standin.h. */
#ifndef TESTS_UNIT_DEBUGINFOD_FIXTURE_H
#define TESTS_UNIT_DEBUGINFOD_FIXTURE_H

#include "debuginfod_standin.h"
#include "symbol/debuginfod/debuginfod.h"

#include <stdint.h>

#define MAX_FILE_BYTES ((uint64_t)1 << 20)
#define MAX_CACHE_BYTES ((uint64_t)64 << 20)
#define TIMEOUT_NS (UINT64_C(1) * 1000000000)
#define PATIENCE_NS (UINT64_C(60) * 1000000000)

/* Build ids of the same kind differ in their last digits. */
#define ID(kind, digits) kind "000000000000000000000000000000000000" digits

struct fixture {
	char dir[64];
	char cache_dir[96];
	struct debuginfod_standin standin;
	struct debuginfod_opts opts;
	struct debuginfod *debuginfod;
	uint64_t longest_ns; /* call of debuginfod_next() */
};

/* For cmocka. */
int debuginfod_fixture_setup(void **state);
int debuginfod_fixture_teardown(void **state);

/* Makes the client, as fixture->opts say. */
void start(struct fixture *fixture);
void ask(const struct fixture *fixture, const char *build_id, uint64_t cookie);
struct debuginfod_stats stats_of(const struct fixture *fixture);

/* debuginfod_next(), with a look at the clock. */
int next(struct fixture *fixture, uint64_t *ret_cookie, int *ret_fd);
void sleep_a_step(void);

/* The next file, or -1 when everything was answered without one. */
int wait_for_file(struct fixture *fixture, uint64_t *ret_cookie);
void expect_file(struct fixture *fixture, uint64_t expected_cookie);
void expect_nothing(struct fixture *fixture);

#endif
