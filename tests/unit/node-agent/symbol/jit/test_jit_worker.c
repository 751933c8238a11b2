/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of a worker about files that grow and change, and to malformed requests. */
#include "symbol/jit/jit_worker.h"

#include "jit_fixture.h"

#include "base/cleanup.h"
#include "base/fileio.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#define MAX_BYTES ((size_t)64 << 20)

struct question {
	int fd;
	struct jit_request request;
	struct strbuf reply;
	struct jit_answer answer; /* to the last request */
	struct jit_block_view view;
};

static int setup(void **state)
{
	struct question *question = calloc(1, sizeof(*question));

	question->fd = memfd_create("list", MFD_CLOEXEC);
	assert_true(question->fd >= 0);
	question->request = (struct jit_request){
		.source = JIT_SOURCE_MAP,
		.max_read = MAX_BYTES,
	};
	question->reply = strbuf_with_max(JIT_ANSWER_MAX_BYTES);
	*state = question;
	return 0;
}

static int teardown(void **state)
{
	struct question *question = *state;

	strbuf_done(&question->reply);
	close(question->fd);
	free(question);
	return 0;
}

static void append(struct question *question, const char *text)
{
	struct stat st;

	assert_int_equal(fd_write_all(question->fd, text, strlen(text)), 0);
	assert_int_equal(fstat(question->fd, &st), 0);
	question->request.size = (uint64_t)st.st_size;
}

static int ask(struct question *question)
{
	strbuf_clear(&question->reply);
	int r = jit_fixture_answer(&question->request, question->fd, &question->reply);
	if (r == 0)
		assert_int_equal(jit_answer_open(&question->request, question->reply.data,
						 question->reply.len, &question->answer,
						 &question->view),
				 0);
	return r;
}

/* Sends a request and continues at its end. Returns the number of functions. */
static uint32_t ask_on(struct question *question)
{
	assert_int_equal(ask(question), 0);
	question->request.place = question->answer.place;
	question->request.compares_tail = true;
	return question->view.block->nr_codes;
}

static void added_functions_are_reported(void **state)
{
	struct question *question = *state;

	append(question, "1000 10 one\n2000 10 tw");
	assert_int_equal(ask_on(question), 1);
	assert_string_equal(question->view.strings + question->view.codes[0].name, "one");
	assert_int_equal(question->answer.place.offset, 12);
	assert_false(question->answer.has_more);
	append(question, "o\n");
	assert_int_equal(ask_on(question), 1);
	assert_string_equal(question->view.strings + question->view.codes[0].name, "two");
	assert_int_equal(ask_on(question), 0);
}

static void nothing_after_the_size_is_read(void **state)
{
	struct question *question = *state;

	append(question, "1000 10 one\n2000 10 two\n");
	question->request.size = 12;
	assert_int_equal(ask_on(question), 1);
	assert_int_equal(question->answer.place.offset, 12);
}

static void a_rewritten_file_is_reported(void **state)
{
	struct question *question = *state;

	append(question, "1000 10 one\n");
	assert_int_equal(ask_on(question), 1);
	append(question, "2000 10 two\n");
	assert_int_equal(pwrite(question->fd, "X", 1, 3), 1);
	assert_int_equal(ask_on(question), 0);
	assert_true(question->answer.is_rewritten);
	assert_int_equal(question->answer.place.offset, 12);
}

/* The file became shorter after the agent had looked at its size. */
static void a_file_that_became_shorter_has_nothing_new(void **state)
{
	struct question *question = *state;

	append(question, "1000 10 one\n2000 10 two\n");
	assert_int_equal(ftruncate(question->fd, 0), 0);
	assert_int_equal(ask_on(question), 0);
	assert_false(question->answer.has_more);
	assert_int_equal(question->answer.place.offset, 0);
}

static void answers_keep_to_their_limit(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	struct question *question = *state;
	uint32_t nr_codes = 0;
	unsigned int nr_answers = 0;

	for (unsigned int i = 1; i <= 300000; i++)
		strbuf_appendf(&text, "%x0 1 f\n", i);
	append(question, strbuf_str(&text));
	do {
		nr_codes += ask_on(question);
		nr_answers++;
	} while (question->answer.has_more);
	assert_int_equal(nr_codes, 300000);
	assert_in_range(nr_answers, 3, 6);
	assert_int_equal(question->answer.place.offset, text.len);
}

static void reading_stops_at_its_limit(void **state)
{
	static char text[1 << 20];
	struct question *question = *state;

	for (size_t i = 0; i + 8 < sizeof(text); i++)
		text[i] = "10 10 f\n"[i % 8];
	append(question, text);
	question->request.max_read = 1;
	ask_on(question);
	assert_int_equal(question->answer.nr_read, JIT_PIECE_BYTES);
	assert_true(question->answer.has_more);
	question->request.max_read = 0;
	assert_int_equal(ask_on(question), 0);
	assert_int_equal(question->answer.nr_read, 0);
}

static void other_files_are_damaged_jitdumps(void **state)
{
	struct question *question = *state;

	append(question, "this is a text and certainly not a jitdump, whose header it lacks\n");
	question->request.source = JIT_SOURCE_DUMP;
	assert_int_equal(ask_on(question), 0);
	assert_true(question->answer.is_damaged);
	assert_false(question->answer.has_more);
}

/* A request contains state from an earlier worker, which may be compromised. */
static void malformed_requests_are_refused(void **state)
{
	static const struct jit_request bad[] = {
		{ .source = JIT_SOURCE_KINDS, .size = 24 },
		{ .is_java = 2, .size = 24 },
		{ .compares_tail = 2, .size = 24 },
		{ .size = UINT64_MAX },
		{ .size = 24, .place = { .offset = 25 } },
		{ .size = 24, .place = { .offset = UINT64_MAX } },
		{ .size = 24, .place = { .tail_len = JIT_TAIL_BYTES + 1 } },
		{ .size = 24, .place = { .map.is_in_long_line = 2 } },
		{ .size = 24, .place = { .dump.has_header = 2 } },
		{ .size = 24, .place = { .dump.has_lines = UINT32_MAX } },
		{ .size = 24, .place = { .offset = 12, .dump.nr_record_bytes = 13 } },
	};
	struct question *question = *state;

	append(question, "1000 10 one\n2000 10 two\n");
	for (size_t i = 0; i < array_len(bad); i++) {
		question->request = bad[i];
		if (ask(question) != -EINVAL)
			fail_msg("row %zu", i);
	}
}

static void odd_places_in_a_dump_do_no_harm(void **state)
{
	static char bytes[4096];
	struct question *question = *state;

	srand(1);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(rand() % 4);
	assert_int_equal(fd_write_all(question->fd, bytes, sizeof(bytes)), 0);
	for (unsigned int i = 0; i < 20000; i++) {
		uint64_t offset = (uint64_t)rand() % sizeof(bytes);

		question->request = (struct jit_request){
			.source = JIT_SOURCE_DUMP,
			.size = sizeof(bytes),
			.max_read = MAX_BYTES,
			.place = {
				.offset = offset,
				.dump = {
					.has_header = 1,
					.has_lines = (uint32_t)rand() % 2,
					.lines_address = (uint64_t)rand(),
					.nr_entries = (uint64_t)rand() * (uint64_t)rand(),
					.nr_record_bytes = (uint64_t)rand() %
							   (sizeof(bytes) - offset + 1),
				},
			},
		};
		assert_int_equal(ask(question), 0);
	}
}

static void other_calls_are_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(JIT_ANSWER_MAX_BYTES);
	struct question *question = *state;
	struct worker_call good = {
		.request = { .kind = JIT_REQUEST_READ, .nr_bytes = sizeof(question->request) },
		.bytes = (char *)&question->request,
		.nr_fds = 1,
		.fds = { question->fd },
	};
	struct worker_call call = good;

	assert_int_equal(jit_worker_read(&call, &reply, NULL), 0);
	strbuf_clear(&reply);
	call.request.kind = JIT_REQUEST_READ + 1;
	assert_int_equal(jit_worker_read(&call, &reply, NULL), -EINVAL);
	call = good;
	call.request.nr_bytes--;
	assert_int_equal(jit_worker_read(&call, &reply, NULL), -EINVAL);
	call = good;
	call.nr_fds = 0;
	assert_int_equal(jit_worker_read(&call, &reply, NULL), -EINVAL);
	reply.max = sizeof(struct jit_answer) - 1;
	assert_int_equal(jit_worker_read(&good, &reply, NULL), -ENOSPC);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(added_functions_are_reported),
		TEST(nothing_after_the_size_is_read),
		TEST(a_rewritten_file_is_reported),
		TEST(a_file_that_became_shorter_has_nothing_new),
		TEST(answers_keep_to_their_limit),
		TEST(reading_stops_at_its_limit),
		TEST(other_files_are_damaged_jitdumps),
		TEST(malformed_requests_are_refused),
		TEST(odd_places_in_a_dump_do_no_harm),
		TEST(other_calls_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
