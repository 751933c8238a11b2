/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf_events/perf_open.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct perf_event_attr perf_open_clock_attr(uint32_t frequency_hz)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = frequency_hz,
	};
}

struct perf_event_attr perf_open_switch_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.sample_period = 1,
	};
}

struct perf_event_attr perf_open_tasks_attr(uint64_t sample_type)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = sample_type,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1, /* at half the ring, as no number of bytes is given */
	};
}

/* Removes the youngest attribute of Linux first, so that no attribute is removed that the kernel
 * knows. */
bool perf_open_strip(struct perf_event_attr *attr, unsigned long *flags)
{
	if (attr->read_format & PERF_FORMAT_LOST) { /* Linux 6.0 */
		attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
	} else if (attr->ksymbol) { /* 5.1 */
		attr->ksymbol = 0;
	} else if (attr->use_clockid) { /* 4.1: without it see perf_clock.h */
		attr->use_clockid = 0;
		attr->clockid = 0;
	} else if (attr->comm_exec) { /* 3.16 */
		attr->comm_exec = 0;
	} else if (attr->mmap2) { /* 3.16 */
		attr->mmap2 = 0;
	} else if (*flags & PERF_FLAG_FD_CLOEXEC) { /* 3.14 */
		*flags &= ~PERF_FLAG_FD_CLOEXEC;
	} else if (attr->config ==
		   PERF_COUNT_SW_DUMMY) { /* 3.12; without a period the clock does nothing either */
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
	} else {
		return false;
	}
	return true;
}

/* Returns whether the error means that the kernel does not know an attribute, a flag or the kind of
 * event. */
static bool is_too_new(int error)
{
	return error == EINVAL || error == E2BIG || error == ENOENT;
}

int perf_open(struct perf_event_attr *attr, int pid, int cpu)
{
	struct perf_event_attr tried = *attr;
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	int fd;

	tried.size = PERF_OPEN_ATTR_BYTES;
	do
		fd = (int)syscall(SYS_perf_event_open, &tried, pid, cpu, -1, flags);
	while (fd < 0 && is_too_new(errno) && perf_open_strip(&tried, &flags));
	if (fd < 0)
		return -errno;
	if (!(flags & PERF_FLAG_FD_CLOEXEC))
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	*attr = tried;
	return fd;
}
