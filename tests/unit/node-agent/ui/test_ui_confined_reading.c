/* SPDX-License-Identifier: Apache-2.0 */
/* A confined process, which cannot write, reads what another one writes, or had written when it was
 * killed. The test itself opens no file of the record, as SQLite shares what a process has open. */
#include "base/cleanup.h"
#include "base/err.h"
#include "record_fixture.h"
#include "ui/ui_process.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 4
#define A_SECOND (COUNT + 1)
#define HOUR_S 3600
#define LATE_S 15 /* at most this much of a running recorder is not in its file */
#define MESSAGE_BYTES 4096
#define PROFILE_BYTES ((size_t)1 << 20)
#define ALL ((struct time_range){ 0, UINT64_MAX })

struct order {
	uint64_t first_s;
	unsigned int nr; /* of seconds; 0: the end */
};

struct scene {
	struct record record;
	pid_t writer;
	int orders; /* a byte is answered to each */
	uint64_t *read; /* samples; shared with the process that reads */
};

static void write_record(const struct record *record, int orders)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	const struct recorder_opts opts = record_opts(record);
	struct recorder *recorder;
	struct order order;

	if (recorder_new(&opts, &message, &recorder) < 0)
		_exit(1);
	while (read(orders, &order, sizeof(order)) == sizeof(order) && order.nr > 0) {
		record_add(recorder, order.first_s, order.nr, COUNT);
		if (write(orders, "x", 1) != 1)
			_exit(1);
	}
	recorder_finish(recorder);
	recorder_close(recorder);
	_exit(0);
}

static void scene_make(struct scene *scene)
{
	int ends[2];

	record_make(&scene->record);
	scene->read = mmap(NULL, sizeof(*scene->read), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(scene->read != MAP_FAILED);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	scene->writer = fork();
	if (scene->writer == 0) {
		close(ends[0]);
		write_record(&scene->record, ends[1]);
	}
	assert_true(scene->writer > 0);
	close(ends[1]);
	scene->orders = ends[0];
}

static void scene_remove(struct scene *scene)
{
	close(scene->orders);
	munmap(scene->read, sizeof(*scene->read));
	record_remove(&scene->record);
}

static void write_seconds(const struct scene *scene, uint64_t first_s, unsigned int nr)
{
	const struct order order = { first_s, nr };
	char byte;

	assert_int_equal(write(scene->orders, &order, sizeof(order)), sizeof(order));
	assert_int_equal(read(scene->orders, &byte, 1), 1);
}

static void end_writer(const struct scene *scene, bool is_killed)
{
	const struct order end = { 0 };
	int status;

	if (is_killed)
		assert_int_equal(kill(scene->writer, SIGKILL), 0);
	else
		assert_int_equal(write(scene->orders, &end, sizeof(end)), sizeof(end));
	assert_int_equal(waitpid(scene->writer, &status, 0), scene->writer);
	assert_int_equal(status, is_killed ? SIGKILL : 0);
}

/* Returns the number of all samples, or an error. A warning counts as -EBADMSG. */
static int64_t read_samples(const struct record *record)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	_cleanup_(store_answer_done) struct store_answer answer = { 0 };
	const char *const dir = record->dir;
	const struct selector all = { 0 };
	const struct store_query query = {
		.range = ALL,
		.selector = &all,
		.max_bytes = PROFILE_BYTES,
		.with_labels = true,
	};

	int r = store_reader_open(&dir, 1, &warnings, &reader);
	if (r == 0)
		r = store_reader_merge(&reader, &query, &warnings, &answer);
	if (r < 0)
		return r;
	return warnings.len > 0 ? -EBADMSG : (int64_t)profile_total(answer.profile);
}

static int confine(const struct record *record)
{
	const char *const dir = record->dir;

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : ui_process_confine(&dir, 1);
}

/* Returns how many seconds a confined process reads. */
static uint64_t read_seconds(const struct scene *scene)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		int r = confine(&scene->record);

		*scene->read = (uint64_t)(r < 0 ? r : read_samples(&scene->record));
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	if ((int64_t)*scene->read < 0)
		fail_msg("%s", strerror(-(int)*scene->read));
	assert_int_equal(*scene->read % A_SECOND, 0);
	return *scene->read / A_SECOND;
}

static void what_is_being_written_is_read(void **state)
{
	struct scene scene;
	(void)state;

	scene_make(&scene);
	write_seconds(&scene, RECORD_START, 100);
	assert_in_range(read_seconds(&scene), 100 - LATE_S, 100);
	write_seconds(&scene, RECORD_START + 100, 50);
	assert_in_range(read_seconds(&scene), 150 - LATE_S, 150);
	write_seconds(&scene, RECORD_START + HOUR_S, 100);
	assert_in_range(read_seconds(&scene), 250 - LATE_S, 250);
	end_writer(&scene, false);
	assert_int_equal(read_seconds(&scene), 250);
	scene_remove(&scene);
}

static void what_a_killed_writer_left_is_read(void **state)
{
	struct scene scene;
	(void)state;

	scene_make(&scene);
	write_seconds(&scene, RECORD_START, 100);
	end_writer(&scene, true);
	assert_in_range(read_seconds(&scene), 100 - LATE_S, 100);
	assert_in_range(read_seconds(&scene), 100 - LATE_S, 100);
	scene_remove(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_being_written_is_read),
		cmocka_unit_test(what_a_killed_writer_left_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
