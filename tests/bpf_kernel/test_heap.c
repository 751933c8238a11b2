/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations that a child tells of by probes of this program, and those of a child that tells of
 * none, by its calls of the C library. */
#include "base/clock.h"
#include "bpf/shared/stats.h"
#include "capture/bpf/capture_bpf.h"
#include "elf/elf_allocators.h"
#include "elf/elf_probes.h"
#include "heap/probes.h"
#include "plain_consumer.h"
#include "tested_backend.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define POLL_NS (20 * NSEC_PER_MSEC)
#define NR_TOLD 200
#define NR_CALLS 20 /* of each way */
#define MAX_POLLS 1000
#define SIZE 100
#define WEIGHT(i) (UINT64_C(1000) + (i))

struct scene {
	struct sample_source *source;
	uint64_t nr_allocs, nr_frees, nr_wrong;
};

static const void *address_of(uint64_t i)
{
	return (const void *)(uintptr_t)(0x1000 + 16 * i);
}

/* Tells of allocations, some of which cannot be, and of their ends. */
__attribute__((noinline)) static void tell_all(void)
{
	for (uint64_t i = 0; i < NR_TOLD; i++) {
		probes_tell_alloc(address_of(i), SIZE, WEIGHT(i));
		probes_tell_alloc(address_of(i), SIZE, HEAP_MAX_WEIGHT + 1 + i);
		probes_tell_free(address_of(i));
	}
}

static void on_record(const struct sample_event *event, void *data)
{
	struct scene *scene = data;
	uintptr_t address = (uintptr_t)address_of(scene->nr_frees);

	if (event->kind == RECORD_ALLOC) {
		scene->nr_wrong += event->address != address || event->alloc_bytes != SIZE ||
				   event->grown_bytes != WEIGHT(scene->nr_frees);
		scene->nr_allocs++;
	} else if (event->kind == RECORD_FREE) {
		scene->nr_wrong += event->address != address;
		scene->nr_frees++;
	}
}

static int find_probes(int fd, struct heap_probes *probes)
{
	struct elf_reader reader;
	int r = elf_reader_init(&reader, fd);

	if (r < 0)
		return r;
	r = elf_probes_find(&reader, probes);
	elf_reader_done(&reader);
	return r;
}

static void attach(struct scene *scene)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct heap_probes probes = { 0 };

	assert_int_equal(find_probes(fd, &probes), 0);
	assert_int_equal(probes.nr, 3);
	assert_int_equal(probes_alloc_readers, 0);
	assert_int_equal(sample_source_attach_heap(scene->source, fd, &probes), probes.nr);
	assert_int_equal(sample_source_attach_heap(scene->source, fd, &probes), 0);
	assert_int_not_equal(probes_alloc_readers, 0);
	assert_int_not_equal(probes_free_readers, 0);
}

static void run_child(const struct scene *scene)
{
	int go[2];
	char byte = 0;

	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (read(go[0], &byte, 1) == 1)
			tell_all();
		_exit(0);
	}
	assert_int_equal(sample_source_add_pid(scene->source, (uint32_t)child), 0);
	assert_int_equal(write(go[1], &byte, 1), 1);
	close(go[0]);
	close(go[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void allocations_come_with_their_weights_and_ends(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	struct scene scene = { 0 };
	const struct sample_consumer consumer = plain_consumer(on_record, &scene);
	const uint32_t pids[] = { 1 };
	const struct capture_opts opts = { .frequency_hz = 19,
					   .poll_interval_ns = POLL_NS,
					   .pids = pids,
					   .nr_pids = 1,
					   .allocations = true,
					   .frees = true };
	struct capture_stats stats;

	(void)state;
	assert_int_equal(tested_backend_open(opts, &message, &scene.source), 0);
	attach(&scene);
	run_child(&scene);
	tell_all(); /* of a process that is no target */
	sample_source_poll(scene.source, &consumer);
	sample_source_get_stats(scene.source, &stats);
	assert_int_equal(scene.nr_allocs, NR_TOLD);
	assert_int_equal(scene.nr_frees, NR_TOLD);
	assert_int_equal(scene.nr_wrong, 0);
	assert_int_equal(stats.bpf[STAT_ALLOC_SENT], NR_TOLD);
	assert_int_equal(stats.bpf[STAT_ALLOC_TOO_LARGE], NR_TOLD);
	assert_int_equal(stats.bpf[STAT_ALLOC_LOST] + stats.bpf[STAT_FREE_LOST], 0);
	sample_source_close(scene.source);
	assert_int_equal(probes_alloc_readers, 0);
	assert_int_equal(probes_free_readers, 0);
}

/* Calls. */

enum { BY_MALLOC, BY_CALLOC, BY_REALLOC, NR_WAYS };
static const size_t sizes[NR_WAYS] = { 40, 3 * 100, 700 };

struct calls {
	uint32_t pid;
	uint64_t nr[NR_WAYS];
	uint64_t first_frame[NR_WAYS];
	uint64_t nr_wrong;
};

__attribute__((noreturn)) static void allocate_forever(void)
{
	void *volatile none = NULL; /* realloc(NULL, …) would be compiled as malloc() */
	void *volatile memory;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if the test fails */
	for (;;) {
		memory = malloc(sizes[BY_MALLOC]);
		free(memory);
		memory = calloc(3, 100);
		free(memory);
		memory = realloc(none, sizes[BY_REALLOC]);
		free(memory);
		usleep(200);
	}
}

/* All records of a size come from the same function. realloc(NULL, size) may call malloc(size). */
static void on_call(const struct sample_event *event, void *data)
{
	struct calls *calls = data;
	size_t way = 0;

	if (event->kind != RECORD_ALLOC)
		return;
	while (way < NR_WAYS && sizes[way] != event->alloc_bytes)
		way++;
	if (way == NR_WAYS || event->pid != calls->pid || event->address != 0 ||
	    event->grown_bytes == 0 || event->nr_user == 0) {
		calls->nr_wrong++;
		return;
	}
	if (calls->nr[way]++ == 0)
		calls->first_frame[way] = event->frames[0];
	calls->nr_wrong += calls->first_frame[way] != event->frames[0];
}

static void find_c_library(struct call_target *target)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	Dl_info info;

	assert_int_not_equal(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &info), 0);
	target->fd = open(info.dli_fname, O_RDONLY | O_CLOEXEC);
	assert_true(target->fd >= 0);
	assert_int_equal(elf_reader_init(&reader, target->fd), 0);
	assert_int_equal(elf_allocators_find(&reader, &target->probes), 0);
}

static bool have_enough(const struct calls *calls)
{
	for (size_t i = 0; i < NR_WAYS; i++)
		if (calls->nr[i] < NR_CALLS)
			return false;
	return true;
}

static void calls_are_sampled_of_one_process(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	struct call_target target = { .pid = (uint32_t)fork() };
	(void)state;

	if (target.pid == 0)
		allocate_forever();
	struct calls calls = { .pid = target.pid };
	const struct sample_consumer consumer = plain_consumer(on_call, &calls);
	const struct capture_opts opts = { .frequency_hz = 19,
					   .poll_interval_ns = POLL_NS,
					   .pids = &target.pid,
					   .nr_pids = 1,
					   .allocations = true };
	struct sample_source *source;

	find_c_library(&target);
	assert_int_equal(tested_backend_open(opts, &message, &source), 0);
	int r = sample_source_sample_calls(source, &target, 1);
	close(target.fd);
	for (int i = 0; r == 0 && i < MAX_POLLS && !have_enough(&calls); i++) {
		free(malloc(123)); /* of a process that is no target */
		usleep(POLL_NS / NSEC_PER_USEC);
		sample_source_poll(source, &consumer);
	}
	sample_source_close(source);
	assert_int_equal(kill((pid_t)target.pid, SIGKILL), 0);
	assert_int_equal(waitpid((pid_t)target.pid, NULL, 0), target.pid);
	if (r == -EOPNOTSUPP)
		skip();
	assert_int_equal(r, 0);
	assert_true(have_enough(&calls));
	assert_int_equal(calls.nr_wrong, 0);
}

static void processes_that_have_ended_are_told(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	static struct call_target targets[CALL_TARGETS_MAX + 1];
	(void)state;

	targets[0].pid = (uint32_t)fork();
	if (targets[0].pid == 0)
		_exit(0);
	assert_int_equal(waitpid((pid_t)targets[0].pid, NULL, 0), targets[0].pid);
	const struct capture_opts opts = { .frequency_hz = 19,
					   .poll_interval_ns = POLL_NS,
					   .pids = &targets[0].pid,
					   .nr_pids = 1,
					   .allocations = true };
	struct sample_source *source;

	find_c_library(&targets[0]);
	assert_int_equal(tested_backend_open(opts, &message, &source), 0);
	int r = sample_source_sample_calls(source, targets, 1);
	if (r != -EOPNOTSUPP) {
		assert_int_equal(r, -ESRCH);
		assert_int_equal(sample_source_sample_calls(source, targets, CALL_TARGETS_MAX + 1),
				 -ENOSPC);
	}
	close(targets[0].fd);
	sample_source_close(source);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allocations_come_with_their_weights_and_ends),
		cmocka_unit_test(calls_are_sampled_of_one_process),
		cmocka_unit_test(processes_that_have_ended_are_told),
	};

	if (geteuid() != 0) {
		fputs("SKIP: loading BPF programs needs root\n", stderr);
		return 77;
	}
	tested_backend_choose(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
