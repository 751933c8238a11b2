/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a record of two hosts, whose every sample is known:
 *
 *	make_record DIR			into DIR/node-1 and DIR/node-2
 *	make_record --live DIR		node-1 only, into DIR: standard input has lines "FIRST NUMBER"
 *
 * For eight minutes, node-1 has three programs that do the same in each second; node-2 has one of
 * them. In one second of node-1, a pod runs a function that it never runs otherwise. A live record
 * has the seconds that it was told to write so far, in which the programs do the same. Of node-1,
 * it is known as well where the threads of a pod wait. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "profile/builder.h"
#include "profile/wait_reason.h"
#include "store/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define START UINT64_C(1795528800) /* 2026-11-24T14:00:00Z */
#define NR_SECONDS 480
#define BURST 300 /* after the start */
#define HZ 100
#define MAX_BYTES ((size_t)1 << 20)
#define MAX_FRAMES 8
#define PATH_BYTES 4096
#define NR_CPUS 4

/* Samples of each second, or of the burst only. Frames are root first. */
struct load {
	const char *pod; /* "": of no pod */
	const char *comm;
	const char *frames[MAX_FRAMES];
	enum frame_kind kind;
	uint32_t cpu, first_ms, count;
	bool is_burst, is_on_both;
};

static const struct load loads[] = {
	{ "web-1", "web", { "main", "serve", "parse" }, FRAME_NATIVE, 0, 0, 25, false, true },
	{ "web-1", "web", { "main", "serve", "write" }, FRAME_NATIVE, 0, 200, 15, false, true },
	{ "db-1",
	  "db",
	  { "main", "query", "</script><script>injected=1</script>" },
	  FRAME_NATIVE,
	  1,
	  100,
	  20,
	  false,
	  false },
	{ "",
	  "kworker/1:0",
	  { "ret_from_fork", "worker_thread", "flush" },
	  FRAME_KERNEL,
	  2,
	  0,
	  5,
	  false,
	  false },
	{ "web-1",
	  "web",
	  { "main", "serve", "find_needle" },
	  FRAME_NATIVE,
	  3,
	  0,
	  100,
	  true,
	  false },
};

/* Of each second. */
static const struct {
	const char *frames[MAX_FRAMES];
	enum wait_reason reason;
	uint64_t ns;
} waits[] = {
	{ { "main", "serve", "hold_the_lock", "pthread_mutex_lock" },
	  REASON_FUTEX,
	  1500 * NSEC_PER_MSEC },
	{ { "main", "serve", "epoll_wait" }, REASON_POLL, 400 * NSEC_PER_MSEC },
	{ { "main", "serve", "load" }, REASON_DISK, 100 * NSEC_PER_MSEC },
};

static int add_stack(struct builder *builder, const char *const *frames, enum frame_kind kind,
		     uint32_t *ret_id)
{
	uint32_t leaf_first[MAX_FRAMES];
	size_t nr = 0;
	int r = 0;

	while (nr < MAX_FRAMES && frames[nr])
		nr++;
	for (size_t i = 0; i < nr && r == 0; i++) {
		const struct profile_location location = { .address = i + 1, .kind = kind };
		struct profile_function function = { 0 };
		struct profile_line line = { 0 };

		r = builder_add_string(builder, frames[i], &function.name);
		if (r == 0)
			r = builder_add_function(builder, &function, &line.function);
		if (r == 0)
			r = builder_add_named_location(builder, &location, &line, 1,
						       &leaf_first[nr - 1 - i]);
	}
	return r < 0 ? r : builder_add_stack(builder, leaf_first, nr, ret_id);
}

static int add_load(struct builder *builder, uint64_t second, const struct load *load)
{
	const struct attribute attributes[] = {
		{ "k8s.namespace.name", load->pod[0] ? "shop" : NULL },
		{ "k8s.pod.name", load->pod },
		{ "k8s.container.name", load->pod[0] ? load->comm : NULL },
	};
	struct profile_sample sample = { .pid = 100 + load->cpu,
					 .tid = 100 + load->cpu,
					 .cpu = load->cpu,
					 .cgroup_id = 1000 + load->cpu,
					 .count = load->count };

	int r = add_stack(builder, load->frames, load->kind, &sample.stack);
	if (r == 0)
		r = builder_add_resource(builder, attributes, array_len(attributes),
					 &sample.resource);
	if (r == 0)
		r = builder_add_string(builder, load->comm, &sample.process_comm);
	sample.thread_comm = sample.process_comm;
	for (uint32_t i = 0; i < load->count; i++)
		slots_add(builder_slots(builder),
			  second * NSEC_PER_SEC +
				  (load->first_ms + i * 1000 / HZ) % 1000 * NSEC_PER_MSEC,
			  1);
	return r < 0 ? r : builder_add_sample(builder, &sample);
}

static bool is_part(const struct load *load, uint64_t second, bool is_first)
{
	return (is_first || load->is_on_both) && (!load->is_burst || second == START + BURST);
}

static int make_second(uint64_t second, bool is_first, struct profile **ret_profile)
{
	_cleanup_(builder_freep) struct builder *builder = NULL;

	int r = builder_new(MAX_BYTES, &builder);
	if (r < 0)
		return r;
	builder_set_time(builder, second * NSEC_PER_SEC, NSEC_PER_SEC, NSEC_PER_SEC / HZ);
	for (size_t i = 0; i < array_len(loads) && r == 0; i++)
		if (is_part(&loads[i], second, is_first))
			r = add_load(builder, second, &loads[i]);
	if (r < 0)
		return r;
	*ret_profile = builder_seal(take_ptr(builder));
	return *ret_profile ? 0 : -ENOMEM;
}

static int add_wait(struct builder *builder, size_t number)
{
	static const struct attribute attributes[] = {
		{ "k8s.namespace.name", "shop" },
		{ "k8s.pod.name", "web-1" },
		{ "k8s.container.name", "web" },
	};
	struct profile_sample sample = { .pid = 100,
					 .cpu = PROFILE_CPU_UNKNOWN,
					 .cgroup_id = 1000,
					 .reason = waits[number].reason,
					 .count = waits[number].ns };

	int r = add_stack(builder, waits[number].frames, FRAME_NATIVE, &sample.stack);
	if (r == 0)
		r = builder_add_resource(builder, attributes, array_len(attributes),
					 &sample.resource);
	if (r == 0)
		r = builder_add_string(builder, "web", &sample.process_comm);
	return r < 0 ? r : builder_add_sample(builder, &sample);
}

static int make_waits(uint64_t second, struct profile **ret_profile)
{
	_cleanup_(builder_freep) struct builder *builder = NULL;

	int r = builder_new(MAX_BYTES, &builder);
	for (size_t i = 0; i < array_len(waits) && r == 0; i++)
		r = add_wait(builder, i);
	if (r < 0)
		return r;
	builder_set_type(builder, PROFILE_OFF_CPU);
	builder_set_time(builder, second * NSEC_PER_SEC, NSEC_PER_SEC, 0);
	*ret_profile = builder_seal(take_ptr(builder));
	return *ret_profile ? 0 : -ENOMEM;
}

static int write_waits(struct recorder *recorder, uint64_t second)
{
	struct profile *profile = NULL;
	int r = make_waits(second, &profile);

	if (r < 0)
		return r;
	recorder_add(recorder, profile);
	profile_unref(profile);
	return 0;
}

/* What the kernel would have counted. */
static void make_vitals(uint64_t second, bool is_first, struct vitals *ret_vitals)
{
	uint64_t user = 0, system = 0;

	for (size_t i = 0; i < array_len(loads); i++) {
		uint64_t ns = loads[i].count * (NSEC_PER_SEC / HZ);

		if (is_part(&loads[i], second, is_first))
			*(loads[i].kind == FRAME_KERNEL ? &system : &user) += ns;
	}
	*ret_vitals = (struct vitals){ 0 };
	vitals_set(ret_vitals, VITAL_USER, user);
	vitals_set(ret_vitals, VITAL_SYSTEM, system);
	vitals_set(ret_vitals, VITAL_IDLE, NR_CPUS * NSEC_PER_SEC - user - system);
	vitals_set(ret_vitals, VITAL_RUNNABLE, second == START + BURST ? 6 : 2);
	vitals_set(ret_vitals, VITAL_MEMORY_TOTAL, UINT64_C(8) << 30);
	vitals_set(ret_vitals, VITAL_MEMORY_AVAILABLE, (UINT64_C(6) << 30) - (second % 60 << 24));
	vitals_set(ret_vitals, VITAL_PSI_MEMORY, 0);
	vitals_set(ret_vitals, VITAL_PSI_IO, second % 20 * NSEC_PER_MSEC);
}

static int write_second(struct recorder *recorder, uint64_t second, bool is_first)
{
	struct profile *profile = NULL;
	struct vitals vitals;

	int r = make_second(second, is_first, &profile);
	if (r < 0)
		return r;
	make_vitals(second, is_first, &vitals);
	recorder_add(recorder, profile);
	profile_unref(profile);
	if (is_first)
		r = write_waits(recorder, second);
	recorder_add_vitals(recorder, second, &vitals);
	recorder_tick(recorder, second + 1);
	return r;
}

static int open_recorder(const char *dir, const char *host, struct recorder **ret_recorder)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(PATH_BYTES);
	const struct recorder_opts opts = {
		.dir = dir,
		.host = host,
		.max_bytes = UINT64_C(1) << 30,
		.max_age_s = UINT64_C(1) << 40, /* the record is of a fixed time */
	};

	int r = recorder_new(&opts, &message, ret_recorder);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", dir, strbuf_str(&message));
	return r;
}

static int write_seconds(struct recorder *recorder, uint64_t first_s, uint64_t nr, bool is_first)
{
	int r = 0;

	for (uint64_t i = 0; i < nr && r == 0; i++)
		r = write_second(recorder, first_s + i, is_first);
	return r;
}

static int write_host(const char *parent, const char *host, bool is_first)
{
	_cleanup_(recorder_closep) struct recorder *recorder = NULL;
	char dir[PATH_BYTES];

	if (snprintf(dir, sizeof(dir), "%s/%s", parent, host) >= (int)sizeof(dir))
		return -ENAMETOOLONG;
	int r = open_recorder(dir, host, &recorder);
	return r < 0 ? r : write_seconds(recorder, START, NR_SECONDS, is_first);
}

/* Each line is answered when its seconds are written. */
static int write_live(const char *dir)
{
	_cleanup_(recorder_closep) struct recorder *recorder = NULL;
	uint64_t first_s, nr;

	int r = open_recorder(dir, "node-1", &recorder);
	while (r == 0 && scanf("%" SCNu64 " %" SCNu64, &first_s, &nr) == 2) {
		r = write_seconds(recorder, first_s, nr, true);
		puts("written");
		fflush(stdout);
	}
	return r;
}

static int write_hosts(const char *dir)
{
	int r = write_host(dir, "node-1", true);

	return r < 0 ? r : write_host(dir, "node-2", false);
}

int main(int argc, char **argv)
{
	bool is_live = argc == 3 && strcmp(argv[1], "--live") == 0;

	if (argc != 2 && !is_live) {
		fputs("usage: make_record [--live] DIR\n", stderr);
		return 2;
	}
	int r = is_live ? write_live(argv[2]) : write_hosts(argv[1]);
	if (r < 0)
		fprintf(stderr, "make_record: %s\n", strerror(-r));
	return r < 0 ? 1 : 0;
}
