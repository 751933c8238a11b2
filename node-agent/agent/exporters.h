/* SPDX-License-Identifier: Apache-2.0 */
/* All receivers of profiles that the options name, an exporter each: one that is away does not hold up the others. */
#ifndef AGENT_EXPORTERS_H
#define AGENT_EXPORTERS_H

#include "base/cleanup.h"
#include "config/options.h"
#include "otlp/delivery/exporter.h"

#include <stddef.h>
#include <stdint.h>

#define EXPORTERS_MAX 9

struct exporters;

/* What a forced end costs, for signals_setup(). */
#define EXPORTERS_LOSS "what was not delivered yet is lost, except what waits in --queue-dir"

/* `interval_ns` as in struct exporter_opts. On failure `reterr_msg` says which one and why. Errors: those of
 * exporter_start(). */
int exporters_start(const struct options *options, uint64_t interval_ns, struct strbuf *reterr_msg,
		    struct exporters **ret_exporters) must_check;

/* NULL is fine. */
void exporters_stop(struct exporters *exporters);
DEFINE_FREEP(struct exporters, exporters_stop)

/* As exporter_push() and exporter_push_wait(), to each of them. */
void exporters_push(struct exporters *exporters, struct profile *profile);
void exporters_push_wait(struct exporters *exporters, struct profile *profile);

/* As exporter_close() and exporter_join(), all at the same time. */
void exporters_finish(struct exporters *exporters, uint64_t deadline_ns);

size_t exporters_nr(const struct exporters *exporters);

/* Sums: a sample counts once for each receiver. From any thread. */
struct exporter_stats exporters_get_stats(struct exporters *exporters);

/* Appends what Prometheus is told of each of them, where they are several. From any thread. */
void exporters_expose(struct exporters *exporters, struct strbuf *out);

#endif
