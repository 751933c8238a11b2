/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler in the running kernel, on children that burn CPU time in known functions; by BPF,
 * or by perf with that as an argument. */
#include "base/clock.h"
#include "child_time.h"
#include "plain_consumer.h"
#include "tested_backend.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define FREQUENCY_HZ 500
#define RUN_NS (NSEC_PER_SEC / 2)
#define CHILD_NS (NSEC_PER_SEC / 5) /* of CPU time: 100 samples */
#define WAIT_NS (100 * NSEC_PER_MSEC)
#define LATE_NS (20 * NSEC_PER_SEC) /* on a busy machine */
#define IO_BYTES ((size_t)64 << 20)

/* Counts of one run. */
struct seen {
	pid_t wanted; /* samples of this process are looked at, others only counted */
	uint64_t nr_wanted;
	uint64_t nr_others;
	uint64_t nr_idle;
	uint64_t nr_elsewhere; /* not on the first CPU */
	uint64_t nr_kernel_frames;
	uint64_t nr_user_frames;
	uint64_t nr_without_registers;
	uint64_t nr_in_hot; /* leaf in burn() or spin_for_test() */
	uint64_t nr_bad_start; /* start time not the same in all samples */
};

static struct sample_event last_sample; /* of the wanted process; without its frames */
static volatile uint64_t sink;

/* Not static and not inlined: the test knows their addresses. */
__attribute__((noinline)) void burn(void);
__attribute__((noinline)) void spin_for_test(void);

void burn(void)
{
	for (int i = 0; i < 100000; i++)
		sink += (uint64_t)i;
}

void spin_for_test(void)
{
	for (;;) {
		burn();
		sink++;
	}
}

static void syscalls_for_test(void)
{
	char page[4096];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (read(fd, page, sizeof(page)) > 0)
		sink++;
}

static void *map_ring(int fd, size_t bytes, off_t offset)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
}

/* Has a thread of the kernel read again and again, and sleeps. */
static void read_in_io_worker(void)
{
	struct io_uring_params params = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 1, &params);
	char *ring = map_ring(fd, params.sq_off.array + sizeof(uint32_t), IORING_OFF_SQ_RING);
	struct io_uring_sqe *entry = map_ring(fd, sizeof(*entry), IORING_OFF_SQES);
	struct io_uring_sqe read_zeros = { .opcode = IORING_OP_READ,
					   .flags = IOSQE_ASYNC,
					   .fd = open("/dev/zero", O_RDONLY | O_CLOEXEC),
					   .addr = (uintptr_t)malloc(IO_BYTES),
					   .len = IO_BYTES };

	for (uint32_t tail = 1;; tail++) {
		*entry = read_zeros;
		__atomic_store_n((uint32_t *)(void *)(ring + params.sq_off.tail), tail,
				 __ATOMIC_RELEASE);
		if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
			return;
		__atomic_store_n((uint32_t *)(void *)(ring + params.cq_off.head), tail,
				 __ATOMIC_RELEASE);
	}
}

static bool has_io_uring(void)
{
	struct io_uring_params params = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 1, &params);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static pid_t start_child(void (*body)(void), const char *comm)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, comm);
		body();
		_exit(0);
	}
	assert_true(pid > 0);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool is_in(uint64_t address, void (*function)(void))
{
	return address >= (uintptr_t)function && address < (uintptr_t)function + 256;
}

static void look_at(const struct sample_event *event, struct seen *seen)
{
	const __u64 *user = event->frames + event->nr_kernel;

	if (seen->nr_wanted++ > 0 && last_sample.start_ns != event->start_ns)
		seen->nr_bad_start++;
	seen->nr_kernel_frames += event->nr_kernel;
	seen->nr_user_frames += event->nr_user;
	seen->nr_without_registers += event->unwind_result == UNWIND_NO_REGISTERS;
	if (event->nr_user >= 1 && (is_in(user[0], burn) || is_in(user[0], spin_for_test)))
		seen->nr_in_hot++;
	memcpy(&last_sample, event, offsetof(struct sample_event, frames));
}

static void on_sample(const struct sample_event *event, void *data)
{
	struct seen *seen = data;

	seen->nr_elsewhere += event->cpu != 0;
	if (event->tid == 0)
		seen->nr_idle++;
	else if (event->pid == (uint32_t)seen->wanted)
		look_at(event, seen);
	else
		seen->nr_others++;
}

/* Takes what is there. No process is ever bound. */
static void poll_into(struct sample_source *source, struct seen *seen)
{
	const struct sample_consumer consumer = plain_consumer(on_sample, seen);

	sample_source_poll(source, &consumer);
}

static struct seen run(struct capture_opts opts, pid_t wanted, struct capture_stats *ret_stats)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	_cleanup_(sample_source_closep) struct sample_source *source = NULL;
	struct seen seen = { .wanted = wanted };
	struct cpu_set_bits restarted;

	opts.frequency_hz = FREQUENCY_HZ;
	opts.poll_interval_ns = RUN_NS;
	assert_int_equal(tested_backend_open(opts, &message, &source), 0);
	assert_int_equal(sample_source_follow_cpus(source, &restarted), 0);
	struct timespec duration = clock_timespec(RUN_NS);
	nanosleep(&duration, NULL);
	if (wanted > 0)
		child_time_wait(wanted, CHILD_NS);
	assert_int_equal(sample_source_follow_cpus(source, &restarted), 0);
	assert_memory_equal(&restarted, &(struct cpu_set_bits){ 0 }, sizeof(restarted));
	sample_source_stop(source);
	poll_into(source, &seen);
	sample_source_get_stats(source, ret_stats);
	return seen;
}

static void a_busy_process_is_sampled_in_its_hot_function(void **state)
{
	pid_t pid = start_child(spin_for_test, "hot");
	struct capture_stats stats;
	struct seen seen = run((struct capture_opts){ 0 }, pid, &stats);

	(void)state;
	end_child(pid);
	assert_true(seen.nr_wanted > 20);
	assert_true(seen.nr_in_hot * 10 > seen.nr_wanted * 9);
	assert_int_equal(seen.nr_bad_start, 0);
	assert_string_equal(last_sample.thread_comm, "hot");
	assert_int_equal(stats.nr_bad_records, 0);
	assert_int_equal(stats.bpf[STAT_SENT], seen.nr_wanted + seen.nr_others);
}

/* No code binds the process here, so that no frame but the leaf is known. */
static void a_process_that_is_not_bound_wakes_the_agent_once(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	_cleanup_(sample_source_closep) struct sample_source *source = NULL;
	pid_t pid = start_child(spin_for_test, "new");
	const uint32_t pids[] = { (uint32_t)pid };
	const struct capture_opts opts = {
		.frequency_hz = FREQUENCY_HZ, .poll_interval_ns = RUN_NS, .pids = pids, .nr_pids = 1
	};
	struct cpu_set_bits restarted;
	struct seen seen = { .wanted = pid };

	(void)state;
	if (tested_backend == CAPTURE_PERF) {
		end_child(pid);
		skip(); /* it is woken by full buffers alone */
	}
	assert_int_equal(tested_backend_open(opts, &message, &source), 0);
	assert_int_equal(sample_source_follow_cpus(source, &restarted), 0);
	assert_true(sample_source_wait(source, clock_mono_ns() + LATE_NS));
	assert_false(sample_source_wait(source, clock_mono_ns() + RUN_NS));
	child_time_wait(pid, CHILD_NS);
	sample_source_stop(source);
	poll_into(source, &seen);
	end_child(pid);
	assert_true(seen.nr_wanted > 20);
	assert_int_equal(last_sample.nr_user, 1);
	assert_int_equal(last_sample.unwind_result, UNWIND_NEW_PROCESS);
}

/* Opens a source that samples no process, so that nothing wakes the agent. */
static struct sample_source *open_quiet(void)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	const uint32_t nobody = 0;
	struct capture_opts opts = {
		.frequency_hz = 19, .poll_interval_ns = RUN_NS, .pids = &nobody, .nr_pids = 1
	};
	struct sample_source *source;

	assert_int_equal(tested_backend_open(opts, &message, &source), 0);
	return source;
}

static void waiting_ends_at_the_deadline(void **state)
{
	_cleanup_(sample_source_closep) struct sample_source *source = open_quiet();
	uint64_t begin_ns = clock_mono_ns();

	(void)state;
	assert_false(sample_source_wait(source, begin_ns + WAIT_NS));
	assert_in_range(clock_mono_ns() - begin_ns, WAIT_NS, WAIT_NS + LATE_NS);
}

static void a_deadline_in_the_past_is_not_waited_for(void **state)
{
	_cleanup_(sample_source_closep) struct sample_source *source = open_quiet();
	uint64_t begin_ns = clock_mono_ns();

	(void)state;
	assert_false(sample_source_wait(source, begin_ns));
	assert_false(sample_source_wait(source, 0));
	assert_in_range(clock_mono_ns() - begin_ns, 0, LATE_NS);
}

static void ignore(int number)
{
	(void)number;
}

static void a_signal_ends_waiting(void **state)
{
	_cleanup_(sample_source_closep) struct sample_source *source = open_quiet();
	const struct sigaction action = { .sa_handler = ignore };
	const struct itimerval soon = { .it_value = { .tv_usec = WAIT_NS / 1000 } };
	uint64_t begin_ns = clock_mono_ns();

	(void)state;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	assert_false(sample_source_wait(source, begin_ns + 60 * NSEC_PER_SEC));
	assert_in_range(clock_mono_ns() - begin_ns, WAIT_NS - NSEC_PER_MSEC, WAIT_NS + LATE_NS);
}

static void every_sent_sample_has_one_stop_reason(void **state)
{
	pid_t pid = start_child(spin_for_test, "hot");
	struct capture_stats stats;
	uint64_t nr_reasons = 0;

	(void)state;
	(void)run((struct capture_opts){ 0 }, pid, &stats);
	end_child(pid);
	for (size_t i = STAT_UNWIND_FIRST; i < STAT_NR; i++)
		nr_reasons += stats.bpf[i];
	assert_int_equal(nr_reasons, stats.bpf[STAT_SENT] + stats.bpf[STAT_RING_FULL]);
}

static void kernel_stacks_come_with_the_user_stack_below(void **state)
{
	pid_t pid = start_child(syscalls_for_test, "calls");
	struct capture_stats stats;
	struct seen seen = run((struct capture_opts){ 0 }, pid, &stats);

	(void)state;
	end_child(pid);
	assert_true(seen.nr_wanted > 20);
	assert_true(seen.nr_kernel_frames > seen.nr_wanted);
	assert_int_equal(seen.nr_without_registers, 0);
}

static void a_thread_made_by_the_kernel_has_no_user_stack(void **state)
{
	struct capture_stats stats;

	(void)state;
	if (!has_io_uring())
		skip();
	pid_t pid = start_child(read_in_io_worker, "io-worker");
	struct seen seen = run((struct capture_opts){ 0 }, pid, &stats);

	end_child(pid);
	assert_true(seen.nr_without_registers > 20);
	assert_true(seen.nr_user_frames < seen.nr_wanted / 2);
}

static void a_pid_filter_keeps_everything_else_in_the_kernel(void **state)
{
	pid_t wanted = start_child(spin_for_test, "wanted");
	pid_t other = start_child(spin_for_test, "other");
	const uint32_t pids[] = { (uint32_t)wanted };
	struct capture_stats stats;
	struct seen seen = run((struct capture_opts){ .pids = pids, .nr_pids = 1 }, wanted, &stats);

	(void)state;
	end_child(wanted);
	end_child(other);
	assert_true(seen.nr_wanted > 20);
	assert_int_equal(seen.nr_others, 0);
	assert_true(stats.bpf[STAT_FILTERED] > 20);
}

static void a_comm_filter_matches_the_whole_name(void **state)
{
	pid_t wanted = start_child(spin_for_test, "name");
	pid_t other = start_child(spin_for_test, "name2");
	const char *const comms[] = { "name" };
	struct capture_stats stats;
	struct seen seen = run((struct capture_opts){ .comms = comms, .nr_comms = 1 }, wanted,
			       &stats);

	(void)state;
	end_child(wanted);
	end_child(other);
	assert_true(seen.nr_wanted > 20);
	assert_int_equal(seen.nr_others, 0);
}

static void pid_and_comm_filters_narrow_each_other(void **state)
{
	pid_t pid = start_child(spin_for_test, "one");
	const uint32_t pids[] = { (uint32_t)pid };
	const char *const comms[] = { "two" };
	struct capture_stats stats;
	struct seen seen = run(
		(struct capture_opts){ .pids = pids, .nr_pids = 1, .comms = comms, .nr_comms = 1 },
		pid, &stats);

	(void)state;
	end_child(pid);
	assert_int_equal(seen.nr_wanted + seen.nr_others, 0);
}

static void idle_cpus_are_sampled_only_on_request(void **state)
{
	struct capture_stats stats;

	(void)state;
	assert_int_equal(run((struct capture_opts){ 0 }, 0, &stats).nr_idle, 0);
	struct seen seen = run((struct capture_opts){ .include_idle = true }, 0, &stats);
	assert_int_equal(stats.bpf[STAT_IDLE], 0);
	assert_true(seen.nr_idle + seen.nr_others > 0);
}

static void only_the_asked_for_cpu_is_sampled(void **state)
{
	struct cpu_set_bits cpus = { .words = { 1 } };
	struct capture_stats stats;
	struct seen seen = run((struct capture_opts){ .cpus = &cpus, .include_idle = true }, -1,
			       &stats);

	(void)state;
	assert_true(seen.nr_idle + seen.nr_others > 0);
	assert_int_equal(seen.nr_elsewhere, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_busy_process_is_sampled_in_its_hot_function),
		cmocka_unit_test(a_process_that_is_not_bound_wakes_the_agent_once),
		cmocka_unit_test(waiting_ends_at_the_deadline),
		cmocka_unit_test(a_deadline_in_the_past_is_not_waited_for),
		cmocka_unit_test(a_signal_ends_waiting),
		cmocka_unit_test(every_sent_sample_has_one_stop_reason),
		cmocka_unit_test(kernel_stacks_come_with_the_user_stack_below),
		cmocka_unit_test(a_thread_made_by_the_kernel_has_no_user_stack),
		cmocka_unit_test(a_pid_filter_keeps_everything_else_in_the_kernel),
		cmocka_unit_test(a_comm_filter_matches_the_whole_name),
		cmocka_unit_test(pid_and_comm_filters_narrow_each_other),
		cmocka_unit_test(idle_cpus_are_sampled_only_on_request),
		cmocka_unit_test(only_the_asked_for_cpu_is_sampled),
	};

	if (geteuid() != 0) {
		fputs("SKIP: loading BPF programs needs root\n", stderr);
		return 77;
	}
	tested_backend_choose(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
