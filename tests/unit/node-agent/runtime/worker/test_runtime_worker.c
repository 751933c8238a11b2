/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of a worker about files and about the memory of this process, and to malformed
 * requests. */
#include "runtime/worker/runtime_worker.h"

#include "base/cleanup.h"
#include "runtime_standin.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define MAX_BYTES ((size_t)4 << 20)

/* Asks as the worker's server does. */
static int ask(enum runtime_request_kind kind, int fd, const void *bytes, size_t len,
	       struct strbuf *reply)
{
	static char copy[RUNTIME_REQUEST_MAX_BYTES + 64];
	struct worker_call call = {
		.request = { .kind = kind, .nr_bytes = (uint32_t)len },
		.bytes = copy,
		.nr_fds = fd >= 0,
		.fds = { fd },
	};

	memcpy(copy, bytes, len);
	strbuf_clear(reply);
	return runtime_worker_answer(&call, reply, runtime_standins);
}

static struct runtime_file_answer ask_for_file(int fd, uint32_t kinds)
{
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(MAX_BYTES);
	const struct runtime_file_request request = { .kinds = kinds };
	struct runtime_file_answer answer;

	assert_int_equal(ask(RUNTIME_REQUEST_FILE, fd, &request, sizeof(request), &reply), 0);
	assert_int_equal(runtime_answer_file(reply.data, reply.len, kinds, &answer), 0);
	return answer;
}

static int open_memory(void)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void a_file_with_the_symbols_is_a_runtime(void **state)
{
	_cleanup_close_ int fd = runtime_standin_open_file();
	(void)state;

	if (fd < 0)
		skip();
	const struct runtime_file_answer answer = ask_for_file(fd, UINT32_MAX);
	assert_int_equal(answer.file.kind, RUNTIME_CPYTHON);
	assert_int_equal(answer.file.version, RUNTIME_STANDIN_VERSION);
	assert_true(answer.nr_segments >= 1);
	assert_true(answer.segments[0].nr_bytes > 0);
}

static void a_runtime_that_is_not_wanted_is_none(void **state)
{
	_cleanup_close_ int fd = runtime_standin_open_file();
	(void)state;

	if (fd < 0)
		skip();
	assert_int_equal(ask_for_file(fd, 1 << RUNTIME_V8).file.kind, RUNTIME_NONE);
}

static void a_file_without_exports_is_none(void **state)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	(void)state;

	assert_int_equal(ask_for_file(fd, UINT32_MAX).file.kind, RUNTIME_NONE);
}

static void a_file_that_is_no_program_is_an_error(void **state)
{
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(MAX_BYTES);
	_cleanup_close_ int fd = memfd_create("text", MFD_CLOEXEC);
	const struct runtime_file_request request = { .kinds = UINT32_MAX };
	(void)state;

	assert_int_equal(write(fd, "hello", 5), 5);
	assert_int_equal(ask(RUNTIME_REQUEST_FILE, fd, &request, sizeof(request), &reply),
			 -EBADMSG);
}

static void a_process_says_what_the_unwinder_needs(void **state)
{
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(MAX_BYTES);
	_cleanup_close_ int fd = open_memory();
	const struct runtime_standin standin = { .state = RUNTIME_READY, .place = 77 };
	const struct runtime_process_request request = {
		.file.kind = RUNTIME_CPYTHON,
		.bias = (uint64_t)(uintptr_t)&standin,
	};
	struct runtime_found found;
	(void)state;

	assert_int_equal(ask(RUNTIME_REQUEST_PROCESS, fd, &request, sizeof(request), &reply), 0);
	assert_int_equal(runtime_answer_process(reply.data, reply.len, &request.file, &found), 0);
	assert_int_equal(found.state, RUNTIME_READY);
	assert_int_equal(found.layout.cpython.place[0], 77);
}

static void unmapped_memory_is_an_error(void **state)
{
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(MAX_BYTES);
	_cleanup_close_ int fd = open_memory();
	const struct runtime_process_request request = { .file.kind = RUNTIME_CPYTHON, .bias = 8 };
	(void)state;

	assert_int_equal(ask(RUNTIME_REQUEST_PROCESS, fd, &request, sizeof(request), &reply),
			 -EFAULT);
}

struct names_bytes {
	struct runtime_names_request request;
	uint64_t words[8];
};

/* Asserts the name and the line of the next frame; NULL: it has none. */
static void assert_frame(struct frame_reader *reader, const char *name, uint32_t number)
{
	struct runtime_line line;
	uint32_t nr_lines;

	assert_int_equal(frame_reader_next(reader, &nr_lines), 0);
	assert_int_equal(nr_lines, name != NULL);
	if (!name)
		return;
	assert_int_equal(frame_reader_line(reader, &line), 0);
	assert_int_equal(line.name_len, strlen(name));
	assert_memory_equal(line.name, name, line.name_len);
	assert_int_equal(line.line, number);
}

static void frames_are_named_in_order(void **state)
{
	static const char first[] = "first", second[] = "second", none[] = "";
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(MAX_BYTES);
	_cleanup_close_ int fd = open_memory();
	struct names_bytes bytes = { .request = { .kind = RUNTIME_CPYTHON, .nr_frames = 4 } };
	(void)state;

	runtime_standin_frame(first, 1, bytes.words);
	runtime_standin_frame(none, 2, bytes.words + 2);
	runtime_standin_frame((const char *)8, 3, bytes.words + 4);
	runtime_standin_frame(second, 4, bytes.words + 6);
	assert_int_equal(ask(RUNTIME_REQUEST_NAMES, fd, &bytes, sizeof(bytes), &reply), 0);
	struct frame_reader reader = { .bytes = reply.data, .len = reply.len };
	assert_frame(&reader, "first", 1);
	assert_frame(&reader, NULL, 0);
	assert_frame(&reader, NULL, 0);
	assert_frame(&reader, "second", 4);
	assert_int_equal(reader.position, reader.len);
}

static void a_reply_without_room_has_the_first_frames(void **state)
{
	static const char text[] = "name";
	struct strbuf reply = strbuf_with_max(60);
	_cleanup_close_ int fd = open_memory();
	struct names_bytes bytes = { .request = { .kind = RUNTIME_CPYTHON, .nr_frames = 4 } };
	(void)state;

	for (size_t i = 0; i < 4; i++)
		runtime_standin_frame(text, (uint32_t)i, bytes.words + 2 * i);
	assert_int_equal(ask(RUNTIME_REQUEST_NAMES, fd, &bytes, sizeof(bytes), &reply), 0);
	struct frame_reader reader = { .bytes = reply.data, .len = reply.len };
	assert_frame(&reader, "name", 0);
	assert_int_equal(reader.position, reader.len);
	strbuf_done(&reply);

	reply = strbuf_with_max(8);
	assert_int_equal(ask(RUNTIME_REQUEST_NAMES, fd, &bytes, sizeof(bytes), &reply), -ENOSPC);
	strbuf_done(&reply);
}

/* So that all others are named by a request that may read as much again. */
static void a_frame_that_reads_much_is_the_last_one(void **state)
{
	static const char text[] = RUNTIME_STANDIN_GREEDY;
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(MAX_BYTES);
	_cleanup_close_ int fd = open_memory();
	struct names_bytes bytes = { .request = { .kind = RUNTIME_CPYTHON, .nr_frames = 4 } };
	(void)state;

	for (size_t i = 0; i < 4; i++)
		runtime_standin_frame(text, (uint32_t)i, bytes.words + 2 * i);
	assert_int_equal(ask(RUNTIME_REQUEST_NAMES, fd, &bytes, sizeof(bytes), &reply), 0);
	struct frame_reader reader = { .bytes = reply.data, .len = reply.len };
	assert_frame(&reader, text, 0);
	assert_int_equal(reader.position, reader.len);
}

/* A request for frames of code objects that begin with their names. */
static void begin_copies(struct strbuf *bytes, uint32_t nr_frames)
{
	const struct runtime_names_request request = { .kind = RUNTIME_CPYTHON,
						       .nr_frames = nr_frames };

	strbuf_clear(bytes);
	strbuf_append(bytes, &request, sizeof(request));
}

static void add_copied_frame(struct strbuf *bytes, uint64_t address, uint32_t line,
			     const struct code_copy *copy, uint32_t len)
{
	uint64_t words[2];

	runtime_standin_frame((const char *)(uintptr_t)address, line, words);
	strbuf_append(bytes, words, sizeof(words));
	strbuf_append(bytes, &len, sizeof(len));
	if (copy)
		strbuf_append(bytes, copy, len);
}

static struct code_copy copy_with_name(uint64_t address, const char *name, uint16_t nr_line_bytes)
{
	struct code_copy copy = { .nr_line_bytes = nr_line_bytes, .addresses = { address } };

	memcpy(copy.object, name, strlen(name));
	return copy;
}

#define COPY_HEAD ((uint32_t)offsetof(struct code_copy, lines))

static void copied_frames_need_no_process(void **state)
{
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(RUNTIME_REQUEST_MAX_BYTES);
	const struct code_copy first = copy_with_name(0x1000, "first", 0);
	const struct code_copy second = copy_with_name(0x2000, "second", 9);
	(void)state;

	begin_copies(&bytes, 4);
	add_copied_frame(&bytes, 0x1000, 1, &first, COPY_HEAD);
	add_copied_frame(&bytes, 0x2000, 2, &second, COPY_HEAD + 9);
	add_copied_frame(&bytes, 0x2000, 3, NULL, 0);
	add_copied_frame(&bytes, 0x1000, 4, NULL, 0); /* the copy has no such memory */
	assert_int_equal(ask(RUNTIME_REQUEST_COPIES, -1, bytes.data, bytes.len, &reply), 0);
	struct frame_reader reader = { .bytes = reply.data, .len = reply.len };
	assert_frame(&reader, "first", 1);
	assert_frame(&reader, "second", 2);
	assert_frame(&reader, "second", 3);
	assert_frame(&reader, NULL, 0);
	assert_int_equal(reader.position, reader.len);
}

static void malformed_copies_are_refused(void **state)
{
	static const struct {
		uint32_t len;
		uint16_t nr_line_bytes;
	} cases[] = {
		{ 0, 0 }, /* there is no frame before */
		{ 1, 0 },
		{ COPY_HEAD - 1, 0 },
		{ COPY_HEAD, 1 },
		{ COPY_HEAD + 1, 0 },
		{ sizeof(struct code_copy) + 1, CODE_COPY_LINES_BYTES + 1 },
	};
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(RUNTIME_REQUEST_MAX_BYTES);
	_cleanup_close_ int fd = open_memory();
	struct code_copy copies[2] = { copy_with_name(0x1000, "name", 0) };
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		copies[0].nr_line_bytes = cases[i].nr_line_bytes;
		begin_copies(&bytes, 1);
		add_copied_frame(&bytes, 0x1000, 1, copies, cases[i].len);
		assert_int_equal(ask(RUNTIME_REQUEST_COPIES, -1, bytes.data, bytes.len, &reply),
				 -EINVAL);
	}
	copies[0].nr_line_bytes = 0;
	begin_copies(&bytes, 1);
	add_copied_frame(&bytes, 0x1000, 1, copies, COPY_HEAD);
	assert_int_equal(ask(RUNTIME_REQUEST_COPIES, -1, bytes.data, bytes.len, &reply), 0);
	assert_int_equal(ask(RUNTIME_REQUEST_COPIES, fd, bytes.data, bytes.len, &reply), -EINVAL);
	assert_int_equal(ask(RUNTIME_REQUEST_NAMES, -1, bytes.data, bytes.len, &reply), -EINVAL);
	for (size_t len = 0; len < bytes.len; len++)
		assert_int_equal(ask(RUNTIME_REQUEST_COPIES, -1, bytes.data, len, &reply), -EINVAL);
}

static void malformed_requests_are_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(MAX_BYTES);
	_cleanup_close_ int fd = open_memory();
	struct runtime_process_request process = { .file.kind = RUNTIME_NR_KINDS };
	struct names_bytes names = { .request = { .kind = RUNTIME_CPYTHON, .nr_frames = 4 } };
	(void)state;

	assert_int_equal(ask(RUNTIME_REQUEST_COPIES + 1, fd, &names, 4, &reply), -EINVAL);
	assert_int_equal(ask(RUNTIME_REQUEST_FILE, fd, &names, 3, &reply), -EINVAL);
	assert_int_equal(ask(RUNTIME_REQUEST_PROCESS, fd, &process, sizeof(process), &reply),
			 -EINVAL);
	process.file.kind = RUNTIME_HOTSPOT; /* nobody reads it */
	assert_int_equal(ask(RUNTIME_REQUEST_PROCESS, fd, &process, sizeof(process), &reply),
			 -EINVAL);
	assert_int_equal(ask(RUNTIME_REQUEST_NAMES, fd, &names, sizeof(names.request) - 1, &reply),
			 -EINVAL);
	assert_int_equal(ask(RUNTIME_REQUEST_NAMES, fd, &names, sizeof(names) - 1, &reply),
			 -EINVAL);
	for (size_t i = 0; i < 4; i++)
		runtime_standin_frame("", 1, names.words + 2 * i);
	names.request.nr_frames = 3; /* words are left */
	assert_int_equal(ask(RUNTIME_REQUEST_NAMES, fd, &names, sizeof(names), &reply), -EINVAL);
	names.request.nr_frames = 5; /* words are missing */
	assert_int_equal(ask(RUNTIME_REQUEST_NAMES, fd, &names, sizeof(names), &reply), -EINVAL);
	names.request.nr_frames = 4;
	names.words[6] = UINT64_C(0x3f) << RUNTIME_TAG_SHIFT; /* no such frame */
	assert_int_equal(ask(RUNTIME_REQUEST_NAMES, fd, &names, sizeof(names), &reply), -EINVAL);
	names.request.kind = RUNTIME_V8;
	assert_int_equal(ask(RUNTIME_REQUEST_NAMES, fd, &names, sizeof(names), &reply), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_with_the_symbols_is_a_runtime),
		cmocka_unit_test(a_runtime_that_is_not_wanted_is_none),
		cmocka_unit_test(a_file_without_exports_is_none),
		cmocka_unit_test(a_file_that_is_no_program_is_an_error),
		cmocka_unit_test(a_process_says_what_the_unwinder_needs),
		cmocka_unit_test(unmapped_memory_is_an_error),
		cmocka_unit_test(frames_are_named_in_order),
		cmocka_unit_test(a_reply_without_room_has_the_first_frames),
		cmocka_unit_test(a_frame_that_reads_much_is_the_last_one),
		cmocka_unit_test(copied_frames_need_no_process),
		cmocka_unit_test(malformed_copies_are_refused),
		cmocka_unit_test(malformed_requests_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
