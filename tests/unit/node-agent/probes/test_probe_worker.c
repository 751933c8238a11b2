/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/probe_worker.h"

#include "base/cleanup.h"
#include "unit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define REPLY_MAX_BYTES 65536

static int ask(struct worker_call *call, struct heap_probes *ret_probes)
{
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(REPLY_MAX_BYTES);

	int r = probe_worker_answer(call, &reply, NULL);
	return r < 0 ? r : probe_worker_check(reply.data, reply.len, ret_probes);
}

static void the_library_has_probes(void **state)
{
	_cleanup_close_ int fd = open(HEAP_LIBRARY, O_RDONLY | O_CLOEXEC);
	struct worker_call call = { .nr_fds = 1, .fds = { fd } };
	struct heap_probes probes = { 0 };
	size_t nr_frees = 0;
	(void)state;

	assert_true(fd >= 0);
	assert_int_equal(ask(&call, &probes), 0);
	assert_in_range(probes.nr, 2, HEAP_MAX_PROBES);
	for (size_t i = 0; i < probes.nr; i++) {
		bool is_free = probes.of[i].kind == HEAP_PROBE_FREE;
		uint64_t mask = is_free ? (1 << HEAP_ARGUMENT_BITS) - 1 : UINT64_MAX;

		nr_frees += is_free;
		assert_int_equal(probes.of[i].arguments, HEAP_USUAL_ARGUMENTS & mask);
		assert_true(probes.of[i].semaphore != 0);
	}
	assert_in_range(nr_frees, 1, probes.nr - 1);
}

static void other_programs_have_none(void **state)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct worker_call call = { .nr_fds = 1, .fds = { fd } };
	struct heap_probes probes = { .nr = 1 };
	(void)state;

	assert_int_equal(ask(&call, &probes), 0);
	assert_int_equal(probes.nr, 0);
}

static size_t count_kind(const struct heap_probes *probes, uint32_t kind)
{
	size_t nr = 0;

	for (size_t i = 0; i < probes->nr; i++)
		nr += probes->of[i].kind == kind;
	return nr;
}

/* Its own malloc() and those of its kind. */
static void functions_are_told_if_asked_for(void **state)
{
	_cleanup_close_ int fd = open(HEAP_LIBRARY, O_RDONLY | O_CLOEXEC);
	struct worker_call call = { .nr_fds = 1, .fds = { fd } };
	struct heap_probes probes = { 0 };
	(void)state;

	assert_int_equal(ask(&call, &probes), 0);
	assert_int_equal(count_kind(&probes, HEAP_PROBE_CALL), 0);
	size_t nr_frees = count_kind(&probes, HEAP_PROBE_FREE);
	call.request.kind = PROBE_QUESTION_CALLS;
	assert_int_equal(ask(&call, &probes), 0);
	assert_int_equal(count_kind(&probes, HEAP_PROBE_FREE), nr_frees);
	assert_in_range(count_kind(&probes, HEAP_PROBE_CALL), 6, 8);
}

static void malformed_requests_are_refused(void **state)
{
	_cleanup_close_ int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	struct heap_probes probes;
	(void)state;

	assert_int_equal(ask(&(struct worker_call){ .nr_fds = 0 }, &probes), -EINVAL);
	assert_int_equal(
		ask(&(struct worker_call){ .nr_fds = 1, .request.kind = PROBE_NR_QUESTIONS },
		    &probes),
		-EINVAL);
	assert_int_equal(ask(&(struct worker_call){ .nr_fds = 1, .request.nr_bytes = 1 }, &probes),
			 -EINVAL);
	assert_int_equal(ask(&(struct worker_call){ .nr_fds = 1, .fds = { fd } }, &probes),
			 -EBADMSG);
}

static void malformed_replies_are_refused(void **state)
{
	struct heap_probes probes = { .nr = 1 }, checked = { .nr = 77 };
	(void)state;

	assert_int_equal(probe_worker_check(NULL, 0, &checked), -EBADMSG);
	assert_int_equal(probe_worker_check(&probes, sizeof(probes) - 1, &checked), -EBADMSG);
	probes.of[0].kind = HEAP_NR_PROBE_KINDS;
	assert_int_equal(probe_worker_check(&probes, sizeof(probes), &checked), -EBADMSG);
	probes = (struct heap_probes){ .nr = HEAP_MAX_PROBES + 1 };
	assert_int_equal(probe_worker_check(&probes, sizeof(probes), &checked), -EBADMSG);
	assert_int_equal(checked.nr, 77);
	probes.nr = HEAP_MAX_PROBES;
	assert_int_equal(probe_worker_check(&probes, sizeof(probes), &checked), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_library_has_probes),
		cmocka_unit_test(other_programs_have_none),
		cmocka_unit_test(functions_are_told_if_asked_for),
		cmocka_unit_test(malformed_requests_are_refused),
		cmocka_unit_test(malformed_replies_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
