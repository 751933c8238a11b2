/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of waits. */
#include "base/cleanup.h"
#include "base/fileio.h"
#include "findings/findings.h"
#include "findings/findings_text.h"
#include "stacks.h"
#include "torture.h"

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define SECOND UINT64_C(1000000000) /* the length of a profile */
#define NAME_BYTES 128
#define PAGE_MAX_BYTES (1 << 20)
#define TEXT_MAX_BYTES 65536
#define COLUMNS 100

#define SYSCALL "entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k]"
#define FUTEX SYSCALL ";do_futex_[k];futex_do_wait_[k]"
#define FAULT "asm_exc_page_fault_[k];exc_page_fault_[k]"

/* A wait that a rule must find, and one that it must not find. */
static const struct wait_case {
	const char *id;
	struct wait_line found, not_found;
} cases[] = {
	{ "lock-waits",
	  { "a", "main;serve;___pthread_mutex_lock;__lll_lock_wait;" FUTEX, REASON_FUTEX, SECOND },
	  { "a", "main;next_job;pthread_cond_wait;" FUTEX, REASON_FUTEX, SECOND } },
	{ "mmap-lock-waits",
	  { "a",
	    "main;grow;mmap;" SYSCALL ";vm_mmap_pgoff_[k];down_write_killable_[k];"
	    "rwsem_down_write_slowpath_[k]",
	    REASON_KERNEL_LOCK, SECOND },
	  { "a",
	    "main;write;" SYSCALL ";ext4_write_[k];down_write_[k];rwsem_down_write_slowpath_[k]",
	    REASON_KERNEL_LOCK, SECOND } },
	{ "kernel-lock-waits",
	  { "a", "main;lseek;" SYSCALL ";fdget_pos_[k];__mutex_lock.constprop.0_[k]",
	    REASON_KERNEL_LOCK, SECOND },
	  { "a", "main;bpf;" SYSCALL ";map_update_elem_[k];synchronize_rcu_normal_[k]",
	    REASON_KERNEL_LOCK, SECOND } },
	{ "fsync-waits",
	  { "a", "main;commit;__GI_fsync;" SYSCALL ";do_fsync_[k];submit_bio_wait_[k]", REASON_DISK,
	    SECOND },
	  { "a", "main;load;read;" SYSCALL ";vfs_read_[k];folio_wait_bit_common_[k]", REASON_DISK,
	    SECOND } },
	{ "disk-waits",
	  { "a", "main;load;read;" SYSCALL ";vfs_read_[k];folio_wait_bit_common_[k]", REASON_DISK,
	    SECOND },
	  { "a", "main;load;read;" SYSCALL ";sk_wait_data_[k]", REASON_NETWORK, SECOND } },
	{ "reclaim-waits",
	  { "a", "main;grow;memset;" FAULT ";shrink_lruvec_[k]", REASON_RECLAIM, SECOND },
	  { "a", "main;grow;memset;" FAULT ";shrink_lruvec_[k]", REASON_PREEMPTED, SECOND } },
	{ "file-fault-waits",
	  { "a", "main;look_up;" FAULT ";folio_wait_bit_common_[k]", REASON_PAGE_FAULT, SECOND },
	  { "a", "main;look_up;" FAULT ";folio_wait_bit_common_[k]", REASON_RUN_QUEUE, SECOND } },
};

/* Rules of delay need CPU time. */
#define NR_DELAY_RULES 1

static bool has(const struct findings *findings, const char *id)
{
	for (size_t i = 0; i < findings->nr; i++)
		if (strcmp(findings->items[i].rule->id, id) == 0)
			return true;
	return false;
}

/* Returns whether the rule finds a wait beside another one of the same program. */
static bool finds(const char *id, struct wait_line line, uint64_t time_ns, uint64_t other_ns)
{
	const struct wait_line lines[] = {
		{ line.comm, line.frames, line.reason, time_ns },
		{ line.comm, "main;x_[k]", REASON_KERNEL_LOCK, other_ns },
		{ line.comm, "main;y", REASON_POLL, 100 * SECOND },
		{ line.comm, "main;z", REASON_PREEMPTED, 100 * SECOND },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_waits(lines,
									     array_len(lines));
	_cleanup_(findings_done) struct findings findings = { 0 };

	assert_int_equal(findings_init(&findings, profile), 0);
	return has(&findings, id);
}

static void each_rule_finds_its_wait_and_leaves_another_one(void **state)
{
	(void)state;

	assert_int_equal(array_len(cases) + NR_DELAY_RULES, nr_wait_rules);
	for (size_t i = 0; i < array_len(cases); i++) {
		assert_string_equal(cases[i].id, wait_rules[i + NR_DELAY_RULES].id);
		if (!finds(cases[i].id, cases[i].found, SECOND, 0))
			fail_msg("%s does not find its wait", cases[i].id);
		if (finds(cases[i].id, cases[i].not_found, SECOND, 0))
			fail_msg("%s finds another wait", cases[i].id);
	}
}

static void no_rule_finds_less_than_its_thresholds(void **state)
{
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct finding_least *least = &wait_rules[i + NR_DELAY_RULES].least;
		uint64_t share_ns = (uint64_t)(least->percent / 100 * 10 * (double)SECOND);
		uint64_t time_ns = (uint64_t)(least->cpus * (double)SECOND);

		assert_true(
			finds(cases[i].id, cases[i].found, share_ns, 10 * SECOND - share_ns - 1));
		assert_false(
			finds(cases[i].id, cases[i].found, share_ns, 10 * SECOND - share_ns / 2));
		assert_true(finds(cases[i].id, cases[i].found, time_ns + 1, 0));
		assert_false(finds(cases[i].id, cases[i].found, time_ns - 1000, 0));
	}
}

/* Whether a program with 0.1 s of CPU time is found, of which others have 2 s. */
static bool starves(uint64_t own_delay_ns, uint64_t others_delay_ns, uint32_t others_samples)
{
	const struct stack_line ran[] = { { "web", "main;serve", 10 },
					  { "db", "main;sort", others_samples } };
	const struct wait_line waited[] = {
		{ "web", "main;serve", REASON_PREEMPTED, own_delay_ns },
		{ "web", "main;nap", REASON_SLEEP, 50 * SECOND },
		{ "db", "main;sort", REASON_RUN_QUEUE, others_delay_ns },
	};
	_cleanup_(profile_unrefp) struct profile *cpu = profile_of_stacks(ran, array_len(ran));
	_cleanup_(profile_unrefp) struct profile *waits = profile_of_waits(waited,
									   array_len(waited));
	_cleanup_(findings_done) struct findings findings = { 0 };

	assert_int_equal(findings_init_waits(&findings, waits, cpu), 0);
	return has(&findings, "cpu-starvation");
}

static void a_program_that_waits_for_a_cpu_more_than_others_starves(void **state)
{
	(void)state;

	assert_true(starves(SECOND * 9 / 10, SECOND / 10, 200));
	assert_false(starves(SECOND * 9 / 10, 10 * SECOND, 200)); /* all wait */
	assert_false(starves(SECOND * 9 / 10, 0, 0)); /* it is alone */
	assert_false(starves(SECOND / 20, 0, 200)); /* it ran for longer */
}

static void the_page_describes_each_rule(void **state)
{
	_cleanup_(strbuf_done) struct strbuf page = strbuf_with_max(PAGE_MAX_BYTES);
	(void)state;

	assert_int_equal(file_read_at(AT_FDCWD, FINDINGS_PAGE, &page), 0);
	for (size_t i = 0; i < page.len; i++)
		if (page.data[i] == '\n')
			page.data[i] = ' ';
	for (size_t i = 0; i < nr_wait_rules; i++) {
		char heading[NAME_BYTES], least[NAME_BYTES];

		snprintf(heading, sizeof(heading), " ### %s ", wait_rules[i].id);
		snprintf(least, sizeof(least), "Least: %g %% of the program, %g threads",
			 wait_rules[i].least.percent, wait_rules[i].least.cpus);
		const char *section = strstr(strbuf_str(&page), heading);
		const char *end = section ? strstr(section + 1, " ### ") : NULL;
		const char *text = section ? strstr(section, least) : NULL;
		if (!text || (end && text > end))
			fail_msg("docs/findings.md, %s: \"%s\" is missing", wait_rules[i].id,
				 least);
	}
}

static void the_stack_is_that_of_the_thread_that_waits(void **state)
{
	static const struct wait_line line = {
		"off_cpu",
		"main;serve;pthread_mutex_lock;" FUTEX
		";[woken by hold of off_cpu];hold;pthread_mutex_unlock;do_fsync_[k]",
		REASON_FUTEX, SECOND
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_waits(&line, 1);
	_cleanup_(findings_done) struct findings findings = { 0 };
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_MAX_BYTES);
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	assert_int_equal(findings.nr, 1);
	findings_append_text(&findings, COLUMNS, &text);
	assert_non_null(strstr(strbuf_str(&text),
			       "Waiting for a lock of the program in serve takes 100.0 % of the "
			       "blocked time of off_cpu"));
	assert_non_null(
		strstr(strbuf_str(&text), "blocked     1.00 s of 1.00 s; 1.00 threads on average"));
	assert_non_null(strstr(strbuf_str(&text), "for example futex_do_wait < do_futex"));
}

static void who_ended_the_waits_is_told_as_far_as_it_is_known(void **state)
{
#define LOCK "main;serve;pthread_mutex_lock;" FUTEX
	static const struct wait_line lines[] = {
		{ "a", LOCK ";[woken by hold of off_cpu];hold;pthread_mutex_unlock", REASON_FUTEX,
		  SECOND / 2 },
		{ "a", LOCK ";[woken by timer];hrtimer_wakeup_[k]", REASON_FUTEX, SECOND / 4 },
		{ "a", LOCK ";[woken by ]", REASON_FUTEX, SECOND / 8 },
		{ "a", LOCK, REASON_FUTEX, SECOND / 8 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_waits(lines, 4);
	_cleanup_(findings_done) struct findings findings = { 0 };
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_MAX_BYTES);
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	assert_int_equal(findings.nr, 1);
	assert_int_equal(findings.items[0].wakers.nr, 3);
	findings_append_text(&findings, COLUMNS, &text);
	assert_non_null(
		strstr(strbuf_str(&text), "woken by    hold of off_cpu 50 %, timer 25 %,  12 %"));
}

/* Without --waker, nobody is named. */
static void nobody_is_named_who_is_not_known(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_waits(&cases[0].found, 1);
	_cleanup_(findings_done) struct findings findings = { 0 };
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_MAX_BYTES);
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	assert_int_equal(findings.items[0].wakers.nr, 0);
	findings_append_text(&findings, COLUMNS, &text);
	assert_null(strstr(strbuf_str(&text), "woken by"));
}

static void a_lack_of_memory_is_an_error(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_waits(&cases[0].found, 1);
	bool has_failed = true;
	(void)state;

	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(findings_done) struct findings findings = { 0 };

		torture_begin(n);
		int r = findings_init(&findings, profile);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_finds_its_wait_and_leaves_another_one),
		cmocka_unit_test(no_rule_finds_less_than_its_thresholds),
		cmocka_unit_test(a_program_that_waits_for_a_cpu_more_than_others_starves),
		cmocka_unit_test(the_page_describes_each_rule),
		cmocka_unit_test(the_stack_is_that_of_the_thread_that_waits),
		cmocka_unit_test(who_ended_the_waits_is_told_as_far_as_it_is_known),
		cmocka_unit_test(nobody_is_named_who_is_not_known),
		cmocka_unit_test(a_lack_of_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
