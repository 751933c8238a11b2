/* SPDX-License-Identifier: Apache-2.0 */
/* Samples are large. A ring has room for the samples of RING_POLLS polling intervals, as far as
 * all rings together stay below RINGS_MAX_BYTES, and for RING_LEAST_SAMPLES in any case. A ring
 * that is half full wakes the reader early. */
#include "capture/perf_events/ring_room.h"

#include "base/capabilities.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/parse.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define RING_POLLS 8
#define RING_LEAST_SAMPLES 3
#define RINGS_MAX_BYTES (UINT64_C(128) << 20)
#define SAMPLE_EXTRA_BYTES 1536 /* of a sample besides the stack: a long call chain, registers */
#define SYSCTL_MAX_BYTES 64

/* For each CPU: three of the largest samples, records of tasks, and the rings' first pages. */
#define SAMPLES_MIN_ROOM ((uint64_t)384 << 10)

struct perf_ring_size ring_room_wanted(const struct ring_load *load)
{
	uint64_t sample_bytes = load->stack_copy_bytes + SAMPLE_EXTRA_BYTES;
	uint64_t nr_samples = load->frequency_hz * load->poll_interval_ns * RING_POLLS /
			      NSEC_PER_SEC;
	struct perf_ring_size size = {
		.bytes = perf_ring_round_bytes(nr_samples * sample_bytes),
		.min_bytes = perf_ring_round_bytes(RING_LEAST_SAMPLES * sample_bytes),
	};

	while (size.bytes * load->nr_cpus > RINGS_MAX_BYTES)
		size.bytes /= 2;
	if (size.bytes < size.min_bytes)
		size.bytes = size.min_bytes;
	return size;
}

/* Returns whether the limit does not apply: with CAP_IPC_LOCK, or if perf_event_paranoid is -1. */
static bool has_free_hand(int proc_fd)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(SYSCTL_MAX_BYTES);

	return capabilities_include(capabilities_effective(), CAPABILITY(IPC_LOCK)) ||
	       (file_read_at(proc_fd, "sys/kernel/perf_event_paranoid", &text) == 0 &&
		strcmp(strbuf_str(&text), "-1\n") == 0);
}

/* Returns no limit if the file cannot be read: then the kernel refuses a ring that is too large. */
static uint64_t read_cpu_bytes(int proc_fd)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(SYSCTL_MAX_BYTES);
	uint64_t kb;

	if (file_read_at(proc_fd, "sys/kernel/perf_event_mlock_kb", &text) < 0)
		return RING_ROOM_UNBOUNDED;
	const char *at = strbuf_str(&text);
	if (parse_digits(&at, at + text.len, 10, &kb) < 0 || kb > UINT32_MAX)
		return RING_ROOM_UNBOUNDED;
	return kb * 1024;
}

void ring_room_read_limits(int proc_fd, struct ring_limits *limits)
{
	struct rlimit locked = { .rlim_cur = RLIM_INFINITY };

	(void)getrlimit(RLIMIT_MEMLOCK, &locked);
	bool is_free = locked.rlim_cur == RLIM_INFINITY || has_free_hand(proc_fd);
	limits->cpu_bytes = is_free ? RING_ROOM_UNBOUNDED : read_cpu_bytes(proc_fd);
	limits->locked_bytes = locked.rlim_cur;
	limits->nr_cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
}

/* The memory that each CPU's rings may take together. */
static uint64_t room_of(const struct ring_limits *limits)
{
	if (limits->cpu_bytes == RING_ROOM_UNBOUNDED)
		return RING_ROOM_UNBOUNDED;
	return limits->cpu_bytes + limits->locked_bytes / limits->nr_cpus;
}

size_t ring_room_for_sideband(const struct ring_limits *limits, size_t wanted)
{
	return room_of(limits) < wanted + SAMPLES_MIN_ROOM ? wanted / 2 : wanted;
}

size_t ring_room_sideband_bytes(int proc_fd, size_t wanted)
{
	struct ring_limits limits = { 0 };

	ring_room_read_limits(proc_fd, &limits);
	return ring_room_for_sideband(&limits, wanted);
}

void ring_room_fit(const struct ring_limits *limits, struct perf_ring_size *size)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE); /* each ring's first page */

	while (size->bytes / 2 >= size->min_bytes &&
	       size->bytes + page_bytes + limits->others_bytes > room_of(limits))
		size->bytes /= 2;
}
