/* SPDX-License-Identifier: Apache-2.0 */
/* Asks workers that are this program again: real ones, or, if a file beside says so, ones that
 * do what they should not. */
#include "unwind/worker/rows_client.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "elf_image.h"
#include "row_lookup.h"
#include "rows_worker_main.h"
#include "worker/worker_channel.h"
#include "worker/worker_process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remove_tree.h"
#include "unit.h"

#define MAX_TABLE_BYTES ((size_t)1 << 20)
#define PATIENCE_NS (30 * NSEC_PER_SEC)
#define OWNER 4711
#define HUGE_BYTES ((off_t)80 << 20)

enum behaviour {
	BEHAVE,
	DIE,
	HANG,
	HANG_AT_FIRST, /* at the first file, and give the second one a key */
	SAY_NOTHING,
	SAY_TOO_LITTLE,
	WANT_DEBUG_FILES_FOR_EVER,
	SAY_THAT_IT_IS_TOO_EARLY, /* an error that means something else to the agent */
	GIVE_NO_TABLE, /* a key, then nonsense */
	NR_BEHAVIOURS,
};

struct fixture {
	char dir[64]; /* of debug files */
	struct rows_client *client;
};

static void behaviour_path(pid_t pid, char ret_path[static 64])
{
	snprintf(ret_path, 64, "/tmp/test_rows_client.%d", (int)pid);
}

static enum behaviour read_behaviour(void)
{
	char path[64];
	char number = '0';

	behaviour_path(getppid(), path);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, &number, 1) != 1)
		return BEHAVE;
	return (enum behaviour)(number - '0');
}

static void set_behaviour(enum behaviour behaviour)
{
	char number = (char)('0' + behaviour);
	char path[64];

	behaviour_path(getpid(), path);
	assert_int_equal(file_write_atomic(path, &number, 1), 0);
}

static void reply_with(int error, const void *bytes, uint32_t len)
{
	const struct worker_reply reply = { .error = error, .nr_bytes = len };

	if (worker_channel_send_reply(WORKER_PROCESS_SOCKET_FD, &reply, bytes) < 0)
		_exit(1);
}

static void misbehave(enum behaviour behaviour, const struct worker_request *request)
{
	static struct rows_key_reply key;

	if (behaviour == DIE)
		_exit(1);
	if (behaviour == HANG || (behaviour == HANG_AT_FIRST && request->key == 1))
		pause();
	else if (behaviour == SAY_NOTHING || request->kind == ROWS_REQUEST_BUILD)
		reply_with(0, NULL, 0);
	else if (behaviour == SAY_TOO_LITTLE)
		reply_with(0, &key, sizeof(key) - 1);
	else if (behaviour == SAY_THAT_IT_IS_TOO_EARLY)
		reply_with(-EAGAIN, NULL, 0);
	else {
		key.wants_debug = behaviour == WANT_DEBUG_FILES_FOR_EVER;
		reply_with(0, &key, sizeof(key));
	}
}

static int be_hostile_worker(enum behaviour behaviour)
{
	static struct worker_call call;

	while (worker_channel_receive_request(WORKER_PROCESS_SOCKET_FD, sizeof(struct rows_ask),
					      &call) == 1) {
		worker_call_done(&call);
		misbehave(behaviour, &call.request);
	}
	return 0;
}

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/rows_client.XXXXXX");
	assert_non_null(mkdtemp(fixture->dir));
	const struct rows_client_opts opts = {
		.debug_dir = fixture->dir,
		.max_table_bytes = MAX_TABLE_BYTES,
	};
	assert_int_equal(rows_client_new(&opts, &fixture->client), 0);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	char path[64];

	behaviour_path(getpid(), path);
	unlink(path);
	rows_client_free(fixture->client);
	remove_tree(fixture->dir);
	test_free(fixture);
	return 0;
}

static struct rows_result wait_for(struct rows_client *client, enum worker_lane lane)
{
	uint64_t deadline_ns = clock_mono_ns() + PATIENCE_NS;
	struct rows_result result;

	while (!rows_client_take(client, lane, &result)) {
		uint64_t now_ns = clock_mono_ns();

		assert_true(now_ns < deadline_ns);
		rows_client_wait(client, -1, now_ns + 10 * NSEC_PER_MSEC);
	}
	return result;
}

/* From a file to its key, or an error. Closes the file. */
static struct rows_result ask(struct fixture *fixture, enum worker_lane lane, int fd)
{
	rows_client_begin(fixture->client, lane, fd, OWNER);
	assert_true(rows_client_is_busy(fixture->client, lane));
	struct rows_result result = wait_for(fixture->client, lane);
	close(fd);
	return result;
}

static int image_file(size_t nr_eh_frame, size_t nr_debug_frame)
{
	struct elf_image image;

	elf_image_init(&image, nr_eh_frame, nr_debug_frame);
	return elf_image_write_all(&image);
}

static struct rows_result build(struct fixture *fixture, enum worker_lane lane, int fd)
{
	struct rows_result result = ask(fixture, lane, fd);

	if (result.error == 0) {
		rows_client_build(fixture->client, lane);
		result = wait_for(fixture->client, lane);
	}
	rows_client_end(fixture->client, lane);
	assert_false(rows_client_is_busy(fixture->client, lane));
	return result;
}

static int32_t cfa_offset(const struct rows_result *result, size_t function)
{
	struct cfi_rule rule;

	row_lookup(result->table.data, elf_image_function(function), &rule);
	return rule.kind == CFA_REGISTER ? rule.offset : 0;
}

static void a_file_has_a_key_and_then_a_table(void **state)
{
	struct fixture *fixture = *state;

	struct rows_result result = ask(fixture, WORKER_LANE_FAST, image_file(10, 0));
	assert_int_equal(result.error, 0);
	assert_false(result.has_table);
	assert_int_equal(strlen(result.key.build_id), 40);
	rows_client_build(fixture->client, WORKER_LANE_FAST);
	result = wait_for(fixture->client, WORKER_LANE_FAST);
	rows_client_end(fixture->client, WORKER_LANE_FAST);
	assert_int_equal(result.error, 0);
	assert_true(result.has_table);
	assert_int_equal(cfa_offset(&result, 9), 8);
	row_table_bytes_done(&result.table);
	assert_int_equal(rows_client_get_stats(fixture->client).nr_started, 1);
}

static void copies_of_a_file_have_the_same_key(void **state)
{
	struct fixture *fixture = *state;
	struct elf_rows_key keys[3];

	for (size_t i = 0; i < array_len(keys); i++) {
		enum worker_lane lane = i == 0 ? WORKER_LANE_FAST : WORKER_LANE_SLOW;
		struct rows_result result = ask(fixture, lane, image_file(9 + i / 2, 0));

		assert_int_equal(result.error, 0);
		keys[i] = result.key;
		rows_client_end(fixture->client, lane);
	}
	assert_memory_equal(&keys[0], &keys[1], sizeof(keys[0]));
	assert_memory_not_equal(&keys[0], &keys[2], sizeof(keys[0]));
}

static void another_seed_makes_another_key(void **state)
{
	struct fixture *fixture = *state;
	struct elf_rows_key keys[2];

	for (uint64_t seed = 0; seed < array_len(keys); seed++) {
		const struct rows_client_opts opts = { fixture->dir, MAX_TABLE_BYTES, seed, NULL };

		rows_client_free(fixture->client);
		assert_int_equal(rows_client_new(&opts, &fixture->client), 0);
		struct rows_result result = ask(fixture, WORKER_LANE_FAST, image_file(10, 0));
		assert_int_equal(result.error, 0);
		keys[seed] = result.key;
	}
	assert_string_equal(keys[0].build_id, keys[1].build_id);
	assert_memory_not_equal(keys[0].hash, keys[1].hash, sizeof(keys[0].hash));
}

static void a_debug_file_is_opened_for_the_worker(void **state)
{
	struct fixture *fixture = *state;
	struct elf_image image;
	char path[160];

	snprintf(path, sizeof(path), "%s/.build-id", fixture->dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/.build-id/30", fixture->dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/.build-id/30/31323334353637383961626364656667686900.debug",
		 fixture->dir);
	elf_image_init(&image, 0, 10);
	assert_int_equal(file_write_atomic(path, &image, sizeof(image)), 0);
	elf_image_init(&image, 1, 0);
	elf_image_hide(&image, IMAGE_DEBUG_FRAME);

	struct rows_result result = build(fixture, WORKER_LANE_FAST, elf_image_write_all(&image));
	assert_int_equal(result.error, 0);
	assert_int_equal(cfa_offset(&result, 0), 8);
	assert_int_equal(cfa_offset(&result, 9), 16);
	row_table_bytes_done(&result.table);
}

static void without_a_debug_file_there_is_what_the_file_has(void **state)
{
	struct fixture *fixture = *state;
	struct rows_result result = build(fixture, WORKER_LANE_FAST, image_file(1, 0));

	assert_int_equal(result.error, 0);
	assert_int_equal(cfa_offset(&result, 0), 8);
	assert_int_equal(cfa_offset(&result, 9), 0);
	row_table_bytes_done(&result.table);
}

static void files_without_a_table_say_why(void **state)
{
	struct fixture *fixture = *state;
	int fd = memfd_create("text", MFD_CLOEXEC);
	struct elf_image image;

	assert_int_equal(fd_write_all(fd, "#!/bin/sh\n", 10), 0);
	assert_int_equal(build(fixture, WORKER_LANE_FAST, fd).error, -EBADMSG);
	elf_image_init(&image, 0, 0);
	image.header.e_phnum = 1;
	assert_int_equal(build(fixture, WORKER_LANE_FAST, elf_image_write_all(&image)).error,
			 -ENODATA);
	assert_int_equal(rows_client_get_stats(fixture->client).nr_deaths, 0);
}

/* Full of data, so that it is no hole. */
static int huge_file(void)
{
	_cleanup_free_ char *bytes = malloc(HUGE_BYTES);
	struct elf_image image;

	assert_non_null(bytes);
	memset(bytes, 1, HUGE_BYTES);
	elf_image_init(&image, 10, 0);
	image.sections[IMAGE_DEBUGLINK].sh_type = SHT_PROGBITS;
	image.sections[IMAGE_DEBUGLINK].sh_name = image.sections[IMAGE_EH_FRAME].sh_name;
	image.sections[IMAGE_DEBUGLINK].sh_offset = IMAGE_TEXT_OFFSET + IMAGE_TEXT_BYTES;
	image.sections[IMAGE_DEBUGLINK].sh_size = HUGE_BYTES;
	int fd = elf_image_write_all(&image);
	assert_int_equal(pwrite(fd, bytes, HUGE_BYTES, IMAGE_TEXT_OFFSET + IMAGE_TEXT_BYTES),
			 HUGE_BYTES);
	return fd;
}

static void what_needs_much_memory_is_for_the_slow_lane(void **state)
{
	struct fixture *fixture = *state;
	struct rows_result result = build(fixture, WORKER_LANE_FAST, huge_file());

	assert_int_equal(result.error, -ENOSPC);
	assert_true(result.is_for_slow_lane);
	assert_int_equal(rows_client_choose(fixture->client, OWNER), WORKER_LANE_FAST);
	result = build(fixture, WORKER_LANE_SLOW, huge_file());
	assert_int_equal(result.error, 0);
	row_table_bytes_done(&result.table);
}

static void a_worker_that_does_what_it_should_not_costs_its_file_only(void **state)
{
	static const enum behaviour behaviours[] = {
		DIE,
		SAY_NOTHING,
		SAY_TOO_LITTLE,
		WANT_DEBUG_FILES_FOR_EVER,
		SAY_THAT_IT_IS_TOO_EARLY,
		GIVE_NO_TABLE,
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < array_len(behaviours); i++) {
		set_behaviour(behaviours[i]);
		struct rows_result result = build(fixture, WORKER_LANE_FAST, image_file(10, 0));

		assert_int_equal(result.error, -EIO);
		assert_false(result.is_for_slow_lane);
		assert_null(result.table.data);
		rows_client_free(fixture->client);
		const struct rows_client_opts opts = { fixture->dir, MAX_TABLE_BYTES, 0, NULL };
		assert_int_equal(rows_client_new(&opts, &fixture->client), 0);
	}
	set_behaviour(BEHAVE);
	struct rows_result result = build(fixture, WORKER_LANE_FAST, image_file(10, 0));
	assert_int_equal(result.error, 0);
	row_table_bytes_done(&result.table);
}

static void whose_file_takes_too_long_is_in_the_slow_lane_for_a_while(void **state)
{
	struct fixture *fixture = *state;

	set_behaviour(HANG);
	assert_int_equal(rows_client_choose(fixture->client, OWNER), WORKER_LANE_FAST);
	struct rows_result result = build(fixture, WORKER_LANE_FAST, image_file(10, 0));
	assert_int_equal(result.error, -ETIMEDOUT);
	assert_true(result.is_for_slow_lane);
	assert_int_equal(rows_client_choose(fixture->client, OWNER), WORKER_LANE_SLOW);
	assert_int_equal(rows_client_choose(fixture->client, OWNER + 1), WORKER_LANE_FAST);
	assert_int_equal(rows_client_get_stats(fixture->client).nr_timeouts, 1);
}

/* When others have held up the lane, a file has little time at first, and then all. */
static void a_file_that_needs_more_than_a_try_is_read_again(void **state)
{
	struct fixture *fixture = *state;

	set_behaviour(HANG);
	assert_true(build(fixture, WORKER_LANE_FAST, image_file(10, 0)).is_for_slow_lane);
	for (int is_repeated = 0; is_repeated <= 1; is_repeated++) {
		_cleanup_close_ int fd = image_file(10, 0);
		uint64_t begin_ns = clock_mono_ns();

		assert_int_equal(rows_client_choose(fixture->client, OWNER + 1), WORKER_LANE_FAST);
		rows_client_begin(fixture->client, WORKER_LANE_FAST, fd, OWNER + 1);
		struct rows_result result = wait_for(fixture->client, WORKER_LANE_FAST);
		rows_client_end(fixture->client, WORKER_LANE_FAST);
		assert_int_equal(result.error, -ETIMEDOUT);
		assert_int_equal(result.is_for_later, !is_repeated);
		assert_int_equal(result.is_for_slow_lane, is_repeated);
		assert_true(clock_mono_ns() - begin_ns >= WORKER_LANES_TRY_NS);
		if (is_repeated)
			assert_true(clock_mono_ns() - begin_ns >= WORKER_LANES_FAST_NS);
		assert_int_equal(rows_client_rank(fixture->client, OWNER + 1), WORKER_RANK_LATE);
	}
	assert_int_equal(rows_client_choose(fixture->client, OWNER + 1), WORKER_LANE_SLOW);
}

static void a_file_is_read_while_another_one_hangs(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_close_ int fd = image_file(10, 0);

	set_behaviour(HANG_AT_FIRST);
	rows_client_begin(fixture->client, WORKER_LANE_SLOW, fd, OWNER);
	assert_int_equal(ask(fixture, WORKER_LANE_FAST, image_file(10, 0)).error, 0);
	assert_true(rows_client_is_busy(fixture->client, WORKER_LANE_SLOW));
	/* What hangs is given up at once. */
	uint64_t begin_ns = clock_mono_ns();
	rows_client_end(fixture->client, WORKER_LANE_SLOW);
	assert_true(clock_mono_ns() - begin_ns < NSEC_PER_SEC);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_has_a_key_and_then_a_table),
		TEST(copies_of_a_file_have_the_same_key),
		TEST(another_seed_makes_another_key),
		TEST(a_debug_file_is_opened_for_the_worker),
		TEST(without_a_debug_file_there_is_what_the_file_has),
		TEST(files_without_a_table_say_why),
		TEST(what_needs_much_memory_is_for_the_slow_lane),
		TEST(a_worker_that_does_what_it_should_not_costs_its_file_only),
		TEST(whose_file_takes_too_long_is_in_the_slow_lane_for_a_while),
		TEST(a_file_that_needs_more_than_a_try_is_read_again),
		TEST(a_file_is_read_while_another_one_hangs),
	};

	if (is_rows_worker(argc, argv)) {
		enum behaviour behaviour = read_behaviour();

		return behaviour == BEHAVE ? rows_worker_main() : be_hostile_worker(behaviour);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
