/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the directory where profiles wait while a destination is down. */
#include "agent/queue_dirs.h"
#include "base/cleanup.h"
#include "base/own_dir.h"
#include "doctor/doctor.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MESSAGE_MAX_BYTES 8192
#define PATH_MAX_BYTES 4096

static void add_failure(const char *path, int error, struct doctor_report *report)
{
	doctor_report_add(report, FINDING_FAIL, "queue",
			  "mount a writable directory there, or see --queue-dir", "%s: %s", path,
			  strerror(error));
}

static void add_refusal(const struct strbuf *refusal, struct doctor_report *report)
{
	doctor_report_add(report, FINDING_FAIL, "queue",
			  "the agent will not start; --queue-dir must be a directory in which only "
			  "its owner can write (chmod 0700), or the root of a mounted volume",
			  "%s", strbuf_str(refusal));
}

/* Checks the free space. `fd` is the directory, or the one that it will be made in. */
static void check_space(const char *path, int fd, uint64_t wanted, struct doctor_report *report)
{
	struct statvfs fs;

	if (fstatvfs(fd, &fs) < 0) {
		add_failure(path, errno, report);
		return;
	}
	uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (free_bytes < wanted)
		doctor_report_add(
			report, FINDING_WARN, "queue", "free space there, or lower --queue-max",
			"%s has %" PRIu64 " MB free, less than --queue-max (%" PRIu64 " MB)", path,
			free_bytes >> 20, wanted >> 20);
	else
		doctor_report_ok(report, "queue", "%s is writable", path);
}

/* Checks the directory of each destination by the agent's own rules. Returns whether all can be
 * used. */
static bool check_destinations(const struct options *options, struct doctor_report *report)
{
	_cleanup_free_ struct queue_dirs *dirs = calloc(1, sizeof(*dirs));
	bool is_good = true;

	if (!dirs || queue_dirs_add_all(dirs, options) < 0) {
		add_failure(options->queue_dir, ENOMEM, report);
		return false;
	}
	for (size_t i = 0; i < dirs->nr; i++) {
		_cleanup_(strbuf_done) struct strbuf path = strbuf_with_max(PATH_MAX_BYTES);
		_cleanup_(strbuf_done) struct strbuf refusal = strbuf_with_max(MESSAGE_MAX_BYTES);

		if (queue_dirs_check(options->queue_dir, dirs->names[i], &path, &refusal) < 0) {
			add_refusal(&refusal, report);
			is_good = false;
		}
	}
	return is_good;
}

void check_queue(const struct doctor_host *host, struct doctor_report *report)
{
	const struct options *options = host->options;
	_cleanup_(strbuf_done) struct strbuf refusal = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_close_ int fd = -EBADF;
	const char *path = options->queue_dir;

	if (!path) {
		doctor_report_ok(report, "queue",
				 "in memory (--queue-dir is not set): undelivered profiles are "
				 "lost when the agent ends");
		return;
	}
	if (own_dir_look(path, OWN_DIR_FOR_DIRECTORIES, &refusal, &fd) < 0) {
		add_refusal(&refusal, report);
		return;
	}
	if (!check_destinations(options, report))
		return;
	if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		add_failure(path, errno, report);
	else
		check_space(path, fd, options->queue_max, report);
}
