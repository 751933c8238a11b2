/* SPDX-License-Identifier: Apache-2.0 */
/* One exporter for each destination that the options name, so that a destination that is down does
 * not hold up the others. */
#ifndef AGENT_EXPORTERS_H
#define AGENT_EXPORTERS_H

#include "base/cleanup.h"
#include "config/options.h"
#include "otlp/delivery/exporter.h"

#include <stddef.h>
#include <stdint.h>

#define EXPORTERS_MAX 9

struct exporters;

/* Names the loss if the program is ended by force; for signals_setup(). */
#define EXPORTERS_LOSS "undelivered profiles are lost, except those in --queue-dir"

/* Starts all exporters. `interval_ns` is as in struct exporter_opts. On failure `reterr_msg`
 * names the destination, and says why it cannot be used. Errors: those of exporter_start(). */
int exporters_start(const struct options *options, uint64_t interval_ns, struct strbuf *reterr_msg,
		    struct exporters **ret_exporters) must_check;

/* Stops and frees all exporters; profiles that they still hold are kept or dropped as by
 * exporters_finish() without time left. NULL is fine. */
void exporters_stop(struct exporters *exporters);
DEFINE_FREEP(struct exporters, exporters_stop)

/* Call exporter_push() and exporter_push_wait() for each exporter. */
void exporters_push(struct exporters *exporters, struct profile *profile);
void exporters_push_wait(struct exporters *exporters, struct profile *profile);

/* Closes all exporters (exporter_close()), then joins their threads, so that they end at the same
 * time. `deadline_ns` is a time of CLOCK_MONOTONIC. */
void exporters_finish(struct exporters *exporters, uint64_t deadline_ns);

/* The number of destinations. */
size_t exporters_nr(const struct exporters *exporters);

/* Returns the sums over all exporters: a sample counts once for each destination. For any
 * thread. */
struct exporter_stats exporters_get_stats(struct exporters *exporters);

/* Appends the metrics of each destination, if there are several. For any thread. */
void exporters_expose(struct exporters *exporters, struct strbuf *out);

#endif
