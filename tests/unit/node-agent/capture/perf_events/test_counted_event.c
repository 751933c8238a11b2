/* SPDX-License-Identifier: Apache-2.0 */
/* Events that are counted: their words, and whether this machine has them. */
#include "capture/perf_events/counted_event.h"

#include "base/cleanup.h"
#include "capture/perf_events/perf_open.h"
#include "config/option_value.h"
#include "config/options.h"
#include "profile/profile_type.h"

#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define NR_PAGES 16

static void each_word_of_the_option_is_an_event_with_a_type(void **state)
{
	(void)state;
	assert_int_equal(value_kinds.nr_words - OPTION_KIND_EVENT, 8);
	for (size_t i = OPTION_KIND_EVENT; i < value_kinds.nr_words; i++) {
		const struct counted_event *event = counted_event_find(value_kinds.words[i]);

		assert_non_null(event);
		assert_in_range(profile_type_find(counted_event_name(event), "count"),
				PROFILE_CYCLES, PROFILE_MIGRATIONS);
	}
}

static void other_words_are_none(void **state)
{
	static const char *const words[] = { "",	   "cycles",	"hw",
					     "hw:",	   "sw:cycles", "hw:page-faults",
					     "hw:cycles ", "HW:cycles" };
	(void)state;

	for (size_t i = 0; i < array_len(words); i++)
		assert_null(counted_event_find(words[i]));
}

static void what_a_machine_lacks_is_told_from_what_it_forbids(void **state)
{
	(void)state;
	assert_true(counted_event_is_lacking(-ENOENT));
	assert_true(counted_event_is_lacking(-EOPNOTSUPP));
	assert_false(counted_event_is_lacking(-EACCES));
	assert_false(counted_event_is_lacking(-EMFILE));
}

/* Each page of new memory is one fault. */
static void an_event_of_the_kernel_counts_and_has_a_time(void **state)
{
	const struct counted_event *event = counted_event_find("sw:page-faults");
	struct perf_event_attr attr = counted_event_attr(event, event->period);
	uint64_t before[2], after[2];
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = NR_PAGES * page_bytes;
	(void)state;

	assert_int_equal(attr.sample_period, event->period);
	_cleanup_close_ int fd = perf_open(&attr, 0, -1);
	if (fd < 0)
		skip(); /* not permitted here */
	assert_int_equal(read(fd, before, sizeof(before)), sizeof(before));
	volatile char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	madvise((void *)pages, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < NR_PAGES; i++)
		pages[i * page_bytes] = 1;
	assert_int_equal(read(fd, after, sizeof(after)), sizeof(after));
	assert_true(after[0] >= before[0] + NR_PAGES);
	assert_true(after[1] > before[1]);
	munmap((void *)pages, bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_word_of_the_option_is_an_event_with_a_type),
		cmocka_unit_test(other_words_are_none),
		cmocka_unit_test(what_a_machine_lacks_is_told_from_what_it_forbids),
		cmocka_unit_test(an_event_of_the_kernel_counts_and_has_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
