/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor's look at the directory where profiles wait for an endpoint that is away. */
#include "base/cleanup.h"
#include "cli/doctor.h"

#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static void add_failure(const char *path, int error, struct doctor_report *report)
{
	doctor_report_add(report, FINDING_FAIL, "queue",
			  "mount a directory that can be written there, or see --queue-dir",
			  "%s: %s", path, strerror(error));
}

static void check_space(const char *path, uint64_t wanted, struct doctor_report *report)
{
	struct statvfs fs;

	if (statvfs(path, &fs) < 0) {
		add_failure(path, errno, report);
		return;
	}
	uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (free_bytes < wanted)
		doctor_report_add(
			report, FINDING_WARN, "queue", "make room there, or lower --queue-max",
			"%s has %" PRIu64 " MB free, less than --queue-max (%" PRIu64 " MB)", path,
			free_bytes >> 20, wanted >> 20);
	else
		doctor_report_add(report, FINDING_OK, "queue", NULL, "%s can be written", path);
}

void check_queue(const struct doctor_host *host, struct doctor_report *report)
{
	const struct options *options = host->options;
	_cleanup_free_ char *copy = NULL;
	const char *path = options->queue_dir;

	if (!path) {
		doctor_report_add(report, FINDING_OK, "queue", NULL,
				  "in memory (--queue-dir): what waits at the end is lost");
		return;
	}
	if (access(path, F_OK) < 0 && errno == ENOENT) {
		copy = strdup(path);
		if (!copy) {
			add_failure(path, ENOMEM, report);
			return;
		}
		path = dirname(copy); /* the agent makes the last directory itself */
	}
	if (access(path, W_OK | X_OK) < 0)
		add_failure(path, errno, report);
	else
		check_space(path, options->queue_max, report);
}
