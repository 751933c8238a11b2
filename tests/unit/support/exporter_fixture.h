/* SPDX-License-Identifier: Apache-2.0 */
/* Exporters to a server of the test's own, and profiles for them. */
#ifndef TESTS_UNIT_EXPORTER_FIXTURE_H
#define TESTS_UNIT_EXPORTER_FIXTURE_H

#include "base/strbuf.h"
#include "otlp/delivery/exporter.h"

#include <stdint.h>

#define EXPORTER_FIXTURE_BYTES (1 << 20) /* plenty */
#define EXPORTER_FIXTURE_PATIENCE_NS (20 * NSEC_PER_SEC)

/* Start and stop the server, for a group of tests. */
int exporter_fixture_start_server(void **state);
int exporter_fixture_stop_server(void **state);
uint16_t exporter_fixture_port(void);

/* Asks the server for something, or tells it something. */
void exporter_fixture_get(const char *path, struct strbuf *body);

/* Starts an exporter whose requests are answered as `mode` says (tests/standin/standin.h). A NULL
 * directory is none. */
struct exporter *exporter_fixture_start_with(const char *mode, uint64_t interval_ns,
					     const char *queue_dir);
struct exporter *exporter_fixture_start(const char *mode, uint64_t interval_ns);

/* Starts one that has sent its first window, with two samples: what comes now is merged for an
 * hour. */
struct exporter *exporter_fixture_start_merging(void);

/* Returns a profile with `count` samples in each of two resources. */
struct profile *exporter_fixture_profile_of(uint32_t count);
void exporter_fixture_push(struct exporter *exporter, uint32_t count);

/* Returns how many samples were sent or dropped. */
uint64_t exporter_fixture_nr_settled(const struct exporter_stats *stats);

/* Waits until all that was pushed has been accounted for, once, under one heading or another. */
struct exporter_stats exporter_fixture_settle(struct exporter *exporter);
void exporter_fixture_await_sent(struct exporter *exporter, uint64_t nr);

/* Ends an exporter. Returns its last statistics. */
struct exporter_stats exporter_fixture_end(struct exporter *exporter, uint64_t patience_ns);

/* Asserts what the last request has (tests/oracle/formats/otlp_text.h). */
void exporter_fixture_assert_last_text(const char *expected);

#endif
