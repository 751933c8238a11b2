/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/self_stats.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/heartbeat.h"
#include "base/parse.h"
#include "process/proc_stat.h"

#include <fcntl.h>
#include <sys/resource.h>

#define STATM_MAX_BYTES 256

/* Reads the second number of /proc/PID/statm, which counts pages. */
static uint64_t read_resident_bytes(void)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(STATM_MAX_BYTES);
	uint64_t nr_pages = 0;

	if (file_read_at(AT_FDCWD, "/proc/self/statm", &text) < 0)
		return 0;
	const char *cursor = strbuf_str(&text);
	const char *end = cursor + text.len;
	if (parse_digits(&cursor, end, 10, &nr_pages) < 0 || *cursor++ != ' ' ||
	    parse_digits(&cursor, end, 10, &nr_pages) < 0)
		return 0;
	return nr_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t count_open_fds(void)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	uint64_t nr = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		nr += entry->d_name[0] != '.';
	return nr - 1; /* the directory itself */
}

struct self_stats self_stats_read(void)
{
	struct rlimit files = { 0 };

	(void)getrlimit(RLIMIT_NOFILE, &files);
	return (struct self_stats){
		.cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID),
		.resident_bytes = read_resident_bytes(),
		.nr_open_fds = count_open_fds(),
		.max_fds = files.rlim_cur,
		.nr_late_beats = heartbeat_nr_late(),
	};
}

int self_stats_start_ns(uint64_t *ret_start_ns)
{
	_cleanup_close_ int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct proc_stat stat;

	if (proc_fd < 0)
		return -errno;
	int r = proc_stat_read(proc_fd, (uint32_t)getpid(), &stat);
	if (r < 0)
		return r;
	uint64_t since_boot_ns = stat.start_ticks * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
	*ret_start_ns = clock_real_ns() - clock_read_ns(CLOCK_BOOTTIME) + since_boot_ns;
	return 0;
}
