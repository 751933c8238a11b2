/* SPDX-License-Identifier: Apache-2.0 */
/* Reports how many files of this host's processes have probes of allocations. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "doctor/doctor.h"
#include "probes/probe_finder.h"

#include <fcntl.h>
#include <string.h>

#define NAME "allocation probes"
#define REMEDY "--kind alloc and --kind heap show nothing of programs at present"
#define WAIT_NS (5 * NSEC_PER_SEC)

static void count(int fd, const struct heap_probes *probes, void *data)
{
	(void)fd;
	(void)probes;
	(*(size_t *)data)++;
}

/* Looks into the files that processes map. Errors: those of open(2) and probe_finder_new(). */
static int count_files(const char *proc_dir, size_t *ret_nr)
{
	_cleanup_close_ int proc_fd = open(proc_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(probe_finder_freep) struct probe_finder *finder = NULL;
	size_t nr = 0;
	const struct probe_finder_opts opts = { .proc_fd = proc_fd, .found = count, .data = &nr };

	if (proc_fd < 0)
		return -errno;
	int r = probe_finder_new(&opts, &finder);
	if (r < 0)
		return r;
	probe_finder_scan_all(finder);
	probe_finder_wait(finder, clock_mono_ns() + WAIT_NS);
	*ret_nr = nr;
	return 0;
}

void check_probes(const struct doctor_host *host, struct doctor_report *report)
{
	size_t nr = 0;

	int r = count_files(host->proc_dir, &nr);
	if (r < 0)
		doctor_report_add(report, FINDING_WARN, NAME, REMEDY, "cannot look for them: %s",
				  strerror(-r));
	else if (nr == 0)
		doctor_report_ok(report, NAME,
				 "no program has them at present; libflamelet-heap.so adds them "
				 "(docs/memory.md)");
	else
		doctor_report_ok(report, NAME, "%zu file%s that programs map %s them", nr,
				 nr == 1 ? "" : "s", nr == 1 ? "has" : "have");
}
