/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/allocation_probes.h"

#include "agent/allocator_calls.h"
#include "base/clock.h"
#include "base/log.h"

#include <fcntl.h>
#include <string.h>

#define FIRST_FILES_NS (5 * NSEC_PER_SEC)

static void attach(int fd, const struct heap_probes *found, void *data)
{
	struct allocation_probes *probes = data;

	int r = sample_source_attach_heap(probes->source, fd, found);
	if (r > 0) {
		probes->nr_files++;
		log_debug("attached to %d probes of allocations", r);
		return;
	}
	if (r == 0) /* it is attached already */
		return;
	probes->nr_refused++;
	if (probes->refusal != r) {
		probes->refusal = r;
		log_warn("allocations of some programs are not recorded: cannot attach to their "
			 "probes: %s",
			 strerror(-r));
	}
}

static int add_library(struct allocation_probes *probes, const char *path,
		       struct strbuf *reterr_msg)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	int r = fd < 0 ? -errno : probe_finder_add(probes->finder, fd);
	if (r < 0) {
		strbuf_appendf(reterr_msg, "--heap-library: cannot open %s: %s", path,
			       strerror(-r));
		return r;
	}
	(void)take_fd(fd);
	probe_finder_wait(probes->finder, clock_mono_ns() + FIRST_FILES_NS);
	if (probes->nr_files > 0)
		return 0;
	strbuf_appendf(reterr_msg, "--heap-library: %s %s", path,
		       probes->refusal < 0 ? "cannot be attached to"
					   : "has no probes of allocations");
	return probes->refusal < 0 ? probes->refusal : -ENOENT;
}

int allocation_probes_start(struct allocation_probes *probes, const struct options *options,
			    int proc_fd, struct sample_source *source, struct strbuf *reterr_msg)
{
	const struct probe_finder_opts opts = { .proc_fd = proc_fd,
						.found = attach,
						.data = probes };

	if (!options_want_kind(options, OPTION_KIND_ALLOC) &&
	    !options_want_kind(options, OPTION_KIND_HEAP))
		return 0;
	probes->source = source;
	int r = probe_finder_new(&opts, &probes->finder);
	if (r == 0 && options->heap_library)
		r = add_library(probes, options->heap_library, reterr_msg);
	if (r < 0 || options->command.nr > 0)
		return r;
	for (size_t i = 0; i < options->pids.nr; i++)
		probe_finder_scan(probes->finder, options->pids.items[i]);
	if (options->pids.nr == 0)
		probe_finder_scan_all(probes->finder);
	probe_finder_wait(probes->finder, clock_mono_ns() + FIRST_FILES_NS);
	if (options->pids.nr == 0 || !options_want_kind(options, OPTION_KIND_ALLOC))
		return 0;
	return allocator_calls_start(options->pids.items, options->pids.nr, proc_fd, source);
}

void allocation_probes_follow(const struct allocation_probes *probes,
			      const struct proc_event *event)
{
	if (probes->finder)
		probe_finder_handle(probes->finder, event);
}

void allocation_probes_tick(const struct allocation_probes *probes)
{
	if (probes->finder)
		probe_finder_tick(probes->finder);
}

struct allocation_probes_stats allocation_probes_get_stats(const struct allocation_probes *probes)
{
	struct allocation_probes_stats stats = {
		.nr_files = probes->nr_files,
		.nr_refused = probes->nr_refused,
	};

	if (probes->finder)
		stats.finder = probe_finder_get_stats(probes->finder);
	return stats;
}

void allocation_probes_stop(struct allocation_probes *probes)
{
	probe_finder_free(probes->finder);
	probes->finder = NULL;
}
