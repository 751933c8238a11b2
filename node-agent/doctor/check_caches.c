/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the directories of --unwind-cache and --debuginfod-cache. */
#include "base/cleanup.h"
#include "base/own_dir.h"
#include "doctor/doctor.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE_MAX_BYTES 8192

static void check_cache(const char *path, const char *remedy, struct doctor_report *report)
{
	_cleanup_(strbuf_done) struct strbuf refusal = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_close_ int fd = -EBADF;

	int r = own_dir_look(path, OWN_DIR_FOR_FILES, &refusal, &fd);
	if (r < 0)
		doctor_report_add(report, FINDING_WARN, "cache", remedy, "%s",
				  strbuf_str(&refusal));
	else if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		doctor_report_add(report, FINDING_WARN, "cache", remedy, "%s: %s", path,
				  strerror(errno));
	else
		doctor_report_ok(report, "cache", "%s is writable", path);
}

void check_caches(const struct doctor_host *host, struct doctor_report *report)
{
	const struct options *options = host->options;

	if (options->unwind_cache_dir)
		check_cache(options->unwind_cache_dir,
			    "unwind tables and source lines are built anew at each start; see "
			    "--unwind-cache",
			    report);
	if (options->debuginfod_urls)
		check_cache(options->debuginfod_cache_dir,
			    "no debug files are downloaded; see --debuginfod-cache", report);
	if (!options->unwind_cache_dir && !options->debuginfod_urls)
		doctor_report_ok(report, "cache",
				 "none in use (--unwind-cache and --debuginfod-urls are not set)");
}
