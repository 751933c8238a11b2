/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/exporters.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "base/log.h"
#include "otlp/delivery/spool_file.h"
#include "profile/builder.h"
#include "remove_tree.h"
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define OTHER_USER 12345
#define TEXT_MAX_BYTES 8192

static char dir[] = "/tmp/flamelet-exporters-XXXXXX";

/* A destination at which nobody listens. */
static const struct destination nowhere = {
	.endpoint = (char[]){ "http://127.0.0.1:1/otlp?key=secret" },
	.timeout_ns = NSEC_PER_SEC,
	.request_max = 1 << 20,
	.sample_attributes = OPTION_SAMPLE_ATTRIBUTES_PRESET,
};

static struct exporters *start(const struct options *options)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(TEXT_MAX_BYTES);
	struct exporters *exporters = NULL;

	assert_int_equal(exporters_start(options, 0, &message, &exporters), 0);
	return exporters;
}

static void push(struct exporters *exporters, uint64_t count)
{
	struct builder *builder = NULL;
	struct profile_sample sample = { .count = count };

	assert_int_equal(builder_new(1 << 20, &builder), 0);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
	builder_set_time(builder, 1, NSEC_PER_SEC, 1);
	_cleanup_(profile_unrefp) struct profile *profile = builder_seal(builder);
	exporters_push(exporters, profile);
}

static void a_sample_counts_once_for_each_destination(void **state)
{
	struct destination destinations[] = { nowhere, nowhere, nowhere };
	const struct options options = { .destinations = destinations,
					 .nr_destinations = 3,
					 .queue_max = 1 << 20 };
	_cleanup_(exporters_stopp) struct exporters *exporters = start(&options);
	(void)state;

	push(exporters, 7);
	exporters_finish(exporters, 0);
	struct exporter_stats stats = exporters_get_stats(exporters);
	assert_int_equal(exporters_nr(exporters), 3);
	assert_int_equal(stats.nr_samples_pushed, 21);
	assert_int_equal(stats.nr_samples_dropped[EXPORT_DROP_SHUTDOWN], 21);
}

static void several_destinations_have_metrics_each(void **state)
{
	static const char *const lines[] = {
		"\nflamelet_export_destination_samples_dropped_total{destination=\"127.0.0.1:1\"} "
		"7\n",
		"\nflamelet_export_destination_samples_dropped_total{destination=\"127.0.0.1:1-2\"}"
		" 7\n",
		"\nflamelet_export_destination_queue_samples{destination=\"127.0.0.1:1-2\"} 0\n",
		"# TYPE flamelet_export_destination_queue_samples gauge\n",
	};
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_MAX_BYTES);
	struct destination destinations[] = { nowhere, nowhere };
	const struct options options = { .destinations = destinations,
					 .nr_destinations = 2,
					 .queue_max = 1 << 20 };
	_cleanup_(exporters_stopp) struct exporters *exporters = start(&options);
	(void)state;

	push(exporters, 7);
	exporters_finish(exporters, 0);
	exporters_expose(exporters, &text);
	for (size_t i = 0; i < array_len(lines); i++)
		assert_non_null(strstr(strbuf_str(&text), lines[i]));
	assert_null(strstr(strbuf_str(&text), "secret"));
	assert_null(strstr(strbuf_str(&text), "otlp"));
}

static void one_destination_has_no_metrics_but_the_sums(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_MAX_BYTES);
	struct destination destination = nowhere;
	const struct options options = { .destinations = &destination, .nr_destinations = 1 };
	_cleanup_(exporters_stopp) struct exporters *exporters = start(&options);
	(void)state;

	exporters_expose(exporters, &text);
	assert_string_equal(strbuf_str(&text), "");
}

static size_t nr_entries(const char *path)
{
	_cleanup_closedir_ DIR *entries = opendir(path);
	const struct dirent *entry;
	size_t nr = 0;

	assert_non_null(entries);
	while ((entry = readdir(entries)))
		nr += entry->d_name[0] != '.';
	return nr;
}

/* The next start must use the same queues, or it would not find what waits. */
static void each_destination_has_a_queue_of_its_own(void **state)
{
	struct destination destinations[] = { nowhere, nowhere, nowhere };
	const struct options options = { .destinations = destinations,
					 .nr_destinations = 3,
					 .queue_dir = dir,
					 .queue_max = 1 << 20 };
	(void)state;

	destinations[2].tenant = (char[]){ "a" };
	for (size_t i = 0; i < 2; i++) {
		_cleanup_(exporters_stopp) struct exporters *exporters = start(&options);

		assert_int_equal(exporters_get_stats(exporters).nr_samples_restored, i * 21);
		push(exporters, 7);
		exporters_finish(exporters, 0);
		assert_int_equal(nr_entries(dir), 3);
	}
}

static void a_queue_that_cannot_be_made_is_named(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(TEXT_MAX_BYTES);
	struct destination destination = nowhere;
	const struct options options = { .destinations = &destination,
					 .nr_destinations = 1,
					 .queue_dir = (char[]){ "/dev/null/queue" } };
	struct exporters *exporters = NULL;
	(void)state;

	assert_int_equal(exporters_start(&options, 0, &message, &exporters), -ENOTDIR);
	assert_string_equal(strbuf_str(&message),
			    "--queue-dir /dev/null/queue: /dev/null: Not a directory");
}

/* Expects that nothing is started, and that the message has these words. */
static void expect_refused(const struct options *options, const char *const words[static 2])
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(TEXT_MAX_BYTES);
	struct exporters *exporters = NULL;

	assert_int_equal(exporters_start(options, 0, &message, &exporters), -EPERM);
	assert_null(exporters);
	assert_non_null(strstr(strbuf_str(&message), words[0]));
	assert_non_null(strstr(strbuf_str(&message), words[1]));
}

static void a_queue_that_others_may_change_is_refused(void **state)
{
	char queue_dir[64], link[80];
	struct destination destination = nowhere;
	const struct options options = { .destinations = &destination,
					 .nr_destinations = 1,
					 .queue_dir = queue_dir };
	const struct options by_link = { .destinations = &destination,
					 .nr_destinations = 1,
					 .queue_dir = link };
	(void)state;

	snprintf(queue_dir, sizeof(queue_dir), "%s/open", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	assert_int_equal(mkdir(queue_dir, 0700), 0);
	assert_int_equal(symlink(queue_dir, link), 0);
	expect_refused(&by_link, (const char *[]){ link, "is a symbolic link" });
	assert_int_equal(chmod(queue_dir, 0777), 0);
	expect_refused(&options, (const char *[]){ queue_dir, "other users may write to" });
	assert_int_equal(chmod(queue_dir, 0700), 0);
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(queue_dir, OTHER_USER, (gid_t)-1), 0);
	expect_refused(&options, (const char *[]){ queue_dir, "belongs to uid 12345" });
}

/* Finds the path of the only entry of a directory. */
static void find_entry(const char *path, char ret_path[static 400])
{
	_cleanup_closedir_ DIR *entries = opendir(path);
	const struct dirent *entry;

	assert_non_null(entries);
	while ((entry = readdir(entries)))
		if (entry->d_name[0] != '.')
			snprintf(ret_path, 400, "%s/%s", path, entry->d_name);
}

static void a_planted_queue_of_a_destination_is_refused(void **state)
{
	char queue_dir[64], path[400];
	struct destination destination = nowhere;
	const struct options options = { .destinations = &destination,
					 .nr_destinations = 1,
					 .queue_dir = queue_dir };
	(void)state;

	snprintf(queue_dir, sizeof(queue_dir), "%s/planted", dir);
	exporters_stop(start(&options));
	find_entry(queue_dir, path);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(symlink(dir, path), 0);
	expect_refused(&options, (const char *[]){ path, "is a symbolic link" });
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0770), 0);
	expect_refused(&options, (const char *[]){ path, "mode 0770" });
	assert_int_equal(chmod(path, 0700), 0);
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(path, OTHER_USER, (gid_t)-1), 0);
	expect_refused(&options,
		       (const char *[]){ path, "belongs to uid 12345, not to uid 0: remove" });
}

/* Kubernetes makes an emptyDir with this mode. */
static void the_root_of_a_volume_may_be_open(void **state)
{
	char queue_dir[64], path[400];
	struct destination destination = nowhere;
	const struct options options = { .destinations = &destination,
					 .nr_destinations = 1,
					 .queue_dir = queue_dir };
	struct stat st;
	(void)state;

	snprintf(queue_dir, sizeof(queue_dir), "%s/volume", dir);
	assert_int_equal(mkdir(queue_dir, 0700), 0);
	if (mount("none", queue_dir, "tmpfs", MS_NODEV, "size=64k,mode=777") < 0)
		skip();
	struct exporters *exporters = start(&options);
	find_entry(queue_dir, path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	exporters_stop(exporters);
	assert_int_equal(umount2(queue_dir, MNT_DETACH), 0);
}

/* A change of the headers in the file must not look like another account. */
static void renewed_headers_find_the_queue_again(void **state)
{
	struct destination destination = nowhere;
	struct options options = { .destinations = &destination,
				   .nr_destinations = 1,
				   .queue_max = 1 << 20 };
	char queue_dir[64], path[64];
	(void)state;

	snprintf(queue_dir, sizeof(queue_dir), "%s/renewed", dir);
	snprintf(path, sizeof(path), "%s/headers", dir);
	options.queue_dir = queue_dir;
	destination.header_file = path;
	for (size_t i = 0; i < 2; i++) {
		const char *text = i == 0 ? "Authorization: Basic b2xk"
					  : "Authorization: Basic bmV3";
		assert_int_equal(file_write_atomic(path, text, strlen(text)), 0);
		_cleanup_(exporters_stopp) struct exporters *exporters = start(&options);

		assert_int_equal(exporters_get_stats(exporters).nr_samples_restored, i * 7);
		push(exporters, 7);
		exporters_finish(exporters, 0);
		assert_int_equal(nr_entries(queue_dir), 1);
	}
	destination.header_file = NULL;
	_cleanup_(exporters_stopp) struct exporters *other = start(&options);
	assert_int_equal(exporters_get_stats(other).nr_samples_restored, 0);
}

static void a_broken_header_file_is_named_at_the_start(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(TEXT_MAX_BYTES);
	struct destination destination = nowhere;
	struct options options = { .destinations = &destination,
				   .nr_destinations = 1,
				   .queue_max = 1 << 20 };
	struct exporters *exporters = NULL;
	char path[64], line[128];
	(void)state;

	snprintf(path, sizeof(path), "%s/headers", dir);
	snprintf(line, sizeof(line), "%s:2: this header cannot be set; expected Name: value", path);
	destination.header_file = path;
	assert_int_equal(file_write_atomic(path, "x: y\nBasic s3cret\n", 18), 0);
	assert_int_equal(exporters_start(&options, 0, &message, &exporters), -EBADMSG);
	assert_string_equal(strbuf_str(&message), line);
}

/* Counts the queues of a directory with a request that has that text. */
static size_t nr_with_text(const char *path, const char *text)
{
	_cleanup_closedir_ DIR *queues = opendir(path);
	const struct dirent *entry;
	size_t nr = 0;

	assert_non_null(queues);
	while ((entry = readdir(queues))) {
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(1 << 20);
		char queue[300], file[400] = "";
		uint64_t seq = 0;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(queue, sizeof(queue), "%s/%s", path, entry->d_name);
		find_entry(queue, file);
		assert_int_equal(spool_file_kind_of(file + strlen(queue) + 1, &seq),
				 SPOOL_FILE_REQUEST);
		_cleanup_close_ int fd = open(queue, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_int_equal(spool_file_read_body(fd, seq, &body), 0);
		nr += memmem(body.data, body.len, text, strlen(text)) != NULL;
	}
	return nr;
}

/* All destinations get the attributes for all, unless their own ones have the same key. */
static void a_destination_has_attributes_of_its_own(void **state)
{
	char *for_all[] = { (char[]){ "a=overruled" }, (char[]){ "b=for_all" } };
	char *own[] = { (char[]){ "c=also_own" }, (char[]){ "a=only_own" } };
	struct destination destinations[] = { nowhere, nowhere };
	struct options options = { .destinations = destinations,
				   .nr_destinations = 2,
				   .queue_max = 1 << 20 };
	char queue_dir[64];
	(void)state;

	snprintf(queue_dir, sizeof(queue_dir), "%s/attributes", dir);
	options.queue_dir = queue_dir;
	options.resource_attributes = (struct string_list){ for_all, 2, 2 };
	destinations[1].resource_attributes = (struct string_list){ own, 2, 2 };
	_cleanup_(exporters_stopp) struct exporters *exporters = start(&options);
	push(exporters, 7);
	exporters_finish(exporters, 0);
	assert_int_equal(nr_entries(queue_dir), 2);
	assert_int_equal(nr_with_text(queue_dir, "for_all"), 2);
	assert_int_equal(nr_with_text(queue_dir, "only_own"), 1);
	assert_int_equal(nr_with_text(queue_dir, "also_own"), 1);
	assert_int_equal(nr_with_text(queue_dir, "overruled"), 1);
}

static int make_dir(void **state)
{
	(void)state;
	log_set_level(LOG_LEVEL_ERROR);
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	remove_tree(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_counts_once_for_each_destination),
		cmocka_unit_test(several_destinations_have_metrics_each),
		cmocka_unit_test(one_destination_has_no_metrics_but_the_sums),
		cmocka_unit_test(each_destination_has_a_queue_of_its_own),
		cmocka_unit_test(a_queue_that_cannot_be_made_is_named),
		cmocka_unit_test(a_queue_that_others_may_change_is_refused),
		cmocka_unit_test(a_planted_queue_of_a_destination_is_refused),
		cmocka_unit_test(the_root_of_a_volume_may_be_open),
		cmocka_unit_test(renewed_headers_find_the_queue_again),
		cmocka_unit_test(a_broken_header_file_is_named_at_the_start),
		cmocka_unit_test(a_destination_has_attributes_of_its_own),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
