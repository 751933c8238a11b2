/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/wait_reasons.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "bpf/shared/off_cpu.h"

#include <string.h>

#include "kernel_list.h"
#include "unit.h"

#define BASE 0xffffffff81000000
#define FUNCTION_BYTES 0x100

/* Names of different kernels; the number of a name is that of its function. */
static const char *const names[] = {
	"__schedule",
	"futex_do_wait",
	"futex_wait_queue_me",
	"__futex_wait",
	"do_futex",
	"ep_poll",
	"do_poll.constprop.0",
	"anon_pipe_read",
	"sk_wait_data",
	"tcp_recvmsg_locked",
	"folio_wait_bit_common",
	"filemap_fault",
	"handle_mm_fault",
	"rwsem_down_read_slowpath",
	"do_nanosleep",
	"worker_thread",
	"process_one_work",
	"kthread",
	"kthread_stop",
	"try_to_free_pages",
	"do_wait",
	"do_waitid_none",
	"x64_sys_call",
	"__mutex_lock.constprop.0",
};

static uint64_t address_of(const char *name)
{
	size_t i = 0;

	while (strcmp(names[i], name) != 0)
		assert_true(++i < array_len(names));
	return BASE + i * FUNCTION_BYTES + 0x10;
}

static void read_list(const char *list, struct kernel_ranges *reasons)
{
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = kernel_list_read(list);

	wait_reasons_init(reasons, symbols);
}

static void read_names(struct kernel_ranges *reasons)
{
	_cleanup_(strbuf_done) struct strbuf list = strbuf_with_max(SIZE_MAX);

	for (size_t i = 0; i < array_len(names); i++)
		strbuf_appendf(&list, "%llx t %s\n",
			       (unsigned long long)(BASE + i * FUNCTION_BYTES), names[i]);
	read_list(strbuf_str(&list), reasons);
}

static struct sample_event *event_with(const char *const *frames, uint8_t flags)
{
	static struct sample_event event;

	event.wait_flags = flags;
	event.nr_kernel = 0;
	while (frames[event.nr_kernel]) {
		event.frames[event.nr_kernel] = address_of(frames[event.nr_kernel]);
		event.nr_kernel++;
	}
	return &event;
}

static void the_nearest_function_of_the_kernel_decides(void **state)
{
	static const struct {
		const char *frames[5]; /* leaf first; the first one is the scheduler's */
		uint8_t flags;
		enum wait_reason reason;
	} cases[] = {
		{ { "__schedule", "futex_do_wait", "__futex_wait" }, 0, REASON_FUTEX },
		{ { "__schedule", "futex_wait_queue_me", "do_futex" }, 0, REASON_FUTEX },
		{ { "__schedule", "__futex_wait", "do_futex" }, 0, REASON_FUTEX },
		{ { "__schedule", "ep_poll" }, 0, REASON_POLL },
		{ { "__schedule", "do_poll.constprop.0" }, 0, REASON_POLL },
		{ { "__schedule", "anon_pipe_read" }, 0, REASON_PIPE },
		{ { "__schedule", "x64_sys_call", "sk_wait_data" }, 0, REASON_NETWORK },
		{ { "__schedule", "tcp_recvmsg_locked" }, 0, REASON_NETWORK },
		{ { "__schedule", "folio_wait_bit_common" }, 0, REASON_DISK },
		{ { "__schedule", "folio_wait_bit_common", "filemap_fault", "handle_mm_fault" },
		  WAIT_FLAG_IO,
		  REASON_PAGE_FAULT },
		{ { "__schedule", "rwsem_down_read_slowpath", "handle_mm_fault" },
		  0,
		  REASON_KERNEL_LOCK },
		{ { "__schedule", "__mutex_lock.constprop.0" }, 0, REASON_KERNEL_LOCK },
		{ { "__schedule", "try_to_free_pages", "handle_mm_fault" }, 0, REASON_RECLAIM },
		{ { "__schedule", "do_nanosleep" }, 0, REASON_SLEEP },
		{ { "__schedule", "do_wait" }, 0, REASON_CHILD },
		{ { "__schedule", "worker_thread", "kthread" }, 0, REASON_IDLE },
		{ { "__schedule", "process_one_work", "worker_thread", "kthread" },
		  0,
		  REASON_OTHER },
		{ { "__schedule", "x64_sys_call" }, WAIT_FLAG_IO, REASON_DISK },
		{ { "__schedule", "do_nanosleep" }, WAIT_FLAG_PREEMPTED, REASON_PREEMPTED },
		{ { "__schedule", "do_nanosleep" },
		  WAIT_FLAG_PREEMPTED | WAIT_FLAG_THROTTLED,
		  REASON_THROTTLED },
		{ { "__schedule", "x64_sys_call" }, 0, REASON_OTHER },
		{ { "__schedule", "kthread_stop" }, 0, REASON_OTHER },
		{ { "__schedule", "do_waitid_none" }, 0, REASON_OTHER },
		{ { "__schedule" }, 0, REASON_OTHER },
	};
	struct kernel_ranges reasons;

	(void)state;
	read_names(&reasons);
	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(
			wait_reasons_of(&reasons, event_with(cases[i].frames, cases[i].flags), 1),
			cases[i].reason);
}

static void skipped_frames_have_no_reason(void **state)
{
	static const char *const frames[] = { "do_nanosleep", "ep_poll", NULL };
	struct kernel_ranges reasons;

	(void)state;
	read_names(&reasons);
	assert_int_equal(wait_reasons_of(&reasons, event_with(frames, 0), 1), REASON_POLL);
	assert_int_equal(wait_reasons_of(&reasons, event_with(frames, 0), 2), REASON_OTHER);
}

static void without_names_only_the_flags_tell(void **state)
{
	static const char *const frames[] = { "__schedule", "ep_poll", NULL };
	struct kernel_ranges reasons;

	(void)state;
	read_list("", &reasons);
	assert_int_equal(wait_reasons_of(&reasons, event_with(frames, 0), 0), REASON_OTHER);
	assert_int_equal(wait_reasons_of(&reasons, event_with(frames, WAIT_FLAG_IO), 0),
			 REASON_DISK);
	assert_int_equal(wait_reasons_of(&reasons, event_with(frames, WAIT_FLAG_PREEMPTED), 0),
			 REASON_PREEMPTED);
}

static void too_many_functions_are_left_out(void **state)
{
	_cleanup_(strbuf_done) struct strbuf list = strbuf_with_max(SIZE_MAX);
	struct kernel_ranges reasons;

	(void)state;
	for (unsigned int i = 0; i < KERNEL_RANGES_MAX + 10; i++)
		strbuf_appendf(&list, "%llx t rwsem_down_%u\n",
			       (unsigned long long)(BASE + i * FUNCTION_BYTES), i);
	read_list(strbuf_str(&list), &reasons);
	assert_int_equal(reasons.nr, KERNEL_RANGES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_function_of_the_kernel_decides),
		cmocka_unit_test(skipped_frames_have_no_reason),
		cmocka_unit_test(without_names_only_the_flags_tell),
		cmocka_unit_test(too_many_functions_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
