/* SPDX-License-Identifier: Apache-2.0 */
/* Finds programs that tell of their allocations, and attaches the sample source to them. Belongs to
 * one thread. */
#ifndef AGENT_ALLOCATION_PROBES_H
#define AGENT_ALLOCATION_PROBES_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "capture/sample_source.h"
#include "config/options.h"
#include "probes/probe_finder.h"

#include <stdint.h>

struct allocation_probes_stats {
	uint64_t nr_files; /* that the source is attached to */
	uint64_t nr_refused; /* files with probes that it could not be attached to */
	struct probe_finder_stats finder;
};

struct allocation_probes {
	struct sample_source *source; /* borrowed */
	struct probe_finder *finder; /* owned; NULL: allocations are not wanted */
	uint64_t nr_files, nr_refused; /* as in the statistics */
	int refusal; /* of the last file that it could not be attached to; 0: none */
};

/* Attaches to what processes map now, the targets or all, and to --heap-library, if allocations
 * are wanted. Has the calls of targets sampled that tell nothing (allocator_calls.h). Errors:
 * -ENOENT that library has no probes, the kernel's refusal to attach to it, and -ENOMEM. */
int allocation_probes_start(struct allocation_probes *probes, const struct options *options,
			    int proc_fd, struct sample_source *source, struct strbuf *reterr_msg)
	must_check;

/* Follows what processes map from then on. Both do nothing if allocations are not wanted. */
void allocation_probes_follow(const struct allocation_probes *probes,
			      const struct proc_event *event);
void allocation_probes_tick(const struct allocation_probes *probes);

struct allocation_probes_stats allocation_probes_get_stats(const struct allocation_probes *probes);

void allocation_probes_stop(struct allocation_probes *probes);

#endif
