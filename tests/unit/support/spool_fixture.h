/* SPDX-License-Identifier: Apache-2.0 */
/* Spools in a directory of their own, and requests that differ by a number. */
#ifndef TESTS_UNIT_SPOOL_FIXTURE_H
#define TESTS_UNIT_SPOOL_FIXTURE_H

#include "otlp/delivery/spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_FIXTURE_FORMAT 7
#define SPOOL_FIXTURE_PATH_BYTES 512

struct spool_fixture {
	char path[64]; /* of the directory; not made yet */
	struct spool_opts opts; /* 64 MiB, of which 1 MiB in memory */
	struct spool *spool; /* the test's; closed at the end */
};

int spool_fixture_setup(void **state);
int spool_fixture_teardown(void **state);

/* Opens fixture->spool, and closes the one that is open: as a restart does that saved nothing. */
void spool_fixture_open(struct spool_fixture *fixture);

/* The item and the body of a request: as many samples as its number says, and a body that hardly
 * compresses and differs from any other's. */
struct spool_item spool_fixture_item(uint32_t number);
void spool_fixture_body(uint32_t number, size_t len, struct strbuf *body);

void spool_fixture_append(struct spool_fixture *fixture, uint32_t number, size_t len);
/* Asserts that the oldest is this one and can be read. */
void spool_fixture_assert_first(struct spool_fixture *fixture, uint32_t number, size_t len);

/* Returns the number of files in the directory whose name has this end, without "." and "..". */
size_t spool_fixture_count(const struct spool_fixture *fixture, const char *suffix);

/* The path of the first or the last, by name, of the requests there. */
void spool_fixture_path(const struct spool_fixture *fixture, bool is_last,
			char ret_path[static SPOOL_FIXTURE_PATH_BYTES]);

#endif
