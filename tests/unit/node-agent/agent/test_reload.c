/* SPDX-License-Identifier: Apache-2.0 */
/* With a file in a directory of the test's own. Time is what the test says; log
 * lines go to a file in memory. */
#include "agent/reload.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "remove_tree.h"
#include "agent/signals.h"
#include "config/option_fields.h"
#include "config/option_loader.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#define ARGS_MAX 8
#define SECOND NSEC_PER_SEC

struct fixture {
	char dir[64];
	char path[96];
	char *args[ARGS_MAX];
	struct options_input input;
	struct options options;
	struct reload *reload;
	int log_fd;
	int stderr_fd;
};

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/flamelet-reload-XXXXXX");
	if (!mkdtemp(fixture->dir))
		return -1;
	snprintf(fixture->path, sizeof(fixture->path), "%s/f.yaml", fixture->dir);
	fixture->log_fd = memfd_create("log", MFD_CLOEXEC);
	fixture->stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	dup2(fixture->log_fd, STDERR_FILENO);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	dup2(fixture->stderr_fd, STDERR_FILENO);
	close(fixture->stderr_fd);
	close(fixture->log_fd);
	reload_free(fixture->reload);
	options_done(&fixture->options);
	remove_tree(fixture->dir);
	test_free(fixture);
	return 0;
}

/* Puts another file in the place of the configuration. */
static void replace(const struct fixture *fixture, const char *text)
{
	assert_int_equal(file_write_atomic(fixture->path, text, strlen(text)), 0);
}

/* Writes on in the file that is there. */
static void append(const struct fixture *fixture, const char *text)
{
	int fd = open(fixture->path, O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

/* Loads the options that the agent starts with. */
static void start(struct fixture *fixture, const char *argument)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);

	fixture->args[fixture->input.nr_args++] = (char *)"--config";
	fixture->args[fixture->input.nr_args++] = fixture->path;
	if (argument)
		fixture->args[fixture->input.nr_args++] = (char *)argument;
	fixture->input.command = COMMAND_AGENT;
	fixture->input.args = fixture->args;
	assert_int_equal(options_load(&fixture->input, &fixture->options, &message), 0);
	assert_int_equal(reload_new(&fixture->input, &fixture->options, &fixture->reload), 0);
	assert_null(reload_poll(fixture->reload, 0));
}

/* The only namespace of the options that are new at that second, or NULL when none are. */
static const char *namespace_at(const struct fixture *fixture, uint64_t second)
{
	const struct options *options = reload_poll(fixture->reload, second * SECOND);

	if (!options)
		return NULL;
	assert_int_equal(options->namespaces.nr, 1);
	return options->namespaces.items[0];
}

static void assert_stats(const struct fixture *fixture, uint64_t nr_reloads, uint64_t nr_refused)
{
	struct reload_stats stats = reload_get_stats(fixture->reload);

	assert_int_equal(stats.nr_reloads, nr_reloads);
	assert_int_equal(stats.nr_refused, nr_refused);
}

/* Whether the log says so, in exactly as many lines. */
static void assert_logged(const struct fixture *fixture, size_t nr_lines, const char *text)
{
	char log[4096] = "";
	size_t nr_found = 0;

	assert_true(pread(fixture->log_fd, log, sizeof(log) - 1, 0) >= 0);
	for (const char *at = log; (at = strstr(at, text)); at++)
		nr_found++;
	assert_int_equal(nr_found, nr_lines);
}

static void a_change_counts_when_the_next_look_sees_the_same(void **state)
{
	struct fixture *fixture = *state;

	replace(fixture, "namespace: a\n");
	start(fixture, NULL);
	assert_null(namespace_at(fixture, 1));
	assert_stats(fixture, 0, 0);

	replace(fixture, "namespace: b\n");
	assert_null(namespace_at(fixture, 2));
	assert_null(reload_poll(fixture->reload, 3 * SECOND - 1));
	assert_string_equal(namespace_at(fixture, 3), "b");
	assert_null(namespace_at(fixture, 4));
	assert_stats(fixture, 1, 0);
	assert_logged(fixture, 1, "f.yaml reloaded: --namespace changed");
}

static void a_file_being_written_is_waited_for(void **state)
{
	struct fixture *fixture = *state;

	replace(fixture, "namespace: a\n");
	start(fixture, NULL);
	replace(fixture, "names");
	assert_null(namespace_at(fixture, 1));
	append(fixture, "pace: b");
	assert_null(namespace_at(fixture, 2));
	append(fixture, "c\n");
	assert_null(namespace_at(fixture, 3));
	assert_string_equal(namespace_at(fixture, 4), "bc");
	assert_stats(fixture, 1, 0);
}

/* As the kubelet does it: f.yaml → ..data/f.yaml, and ..data → one directory or the other. */
static void a_swapped_directory_is_a_change(void **state)
{
	struct fixture *fixture = *state;
	char path[128], link[128];

	for (size_t i = 0; i < 2; i++) {
		const char *text = i == 0 ? "namespace: a\n" : "namespace: b\n";

		snprintf(path, sizeof(path), "%s/v%zu", fixture->dir, i);
		assert_int_equal(mkdir(path, 0700), 0);
		snprintf(path, sizeof(path), "%s/v%zu/f.yaml", fixture->dir, i);
		assert_int_equal(file_write_atomic(path, text, strlen(text)), 0);
	}
	snprintf(path, sizeof(path), "%s/..data", fixture->dir);
	assert_int_equal(symlink("v0", path), 0);
	assert_int_equal(symlink("..data/f.yaml", fixture->path), 0);
	start(fixture, NULL);
	assert_null(namespace_at(fixture, 1));

	snprintf(link, sizeof(link), "%s/..data_tmp", fixture->dir);
	assert_int_equal(symlink("v1", link), 0);
	assert_int_equal(rename(link, path), 0);
	assert_null(namespace_at(fixture, 2));
	assert_string_equal(namespace_at(fixture, 3), "b");
}

static void a_wrong_file_is_refused_once_and_the_old_options_stay(void **state)
{
	static const struct {
		const char *text;
		const char *message;
	} cases[] = {
		{ "namespace: [b, C]\n", "f.yaml:1: namespace: invalid value \\\"C\\\"" },
		{ "selector: app=web,\n",
		  "--selector \\\"app=web,\\\": character 9: the selector ends" },
		{ "exclude-selector: a b\n", "--exclude-selector \\\"a b\\\"" },
		{ "cgroup: /a/../b\n", "--cgroup \\\"/a/../b\\\"" },
		{ "namespac: b\n", "did you mean namespace?" },
		{ "namespace: [b\n", "f.yaml:2:" },
		{ "", "f.yaml is empty" },
	};
	struct fixture *fixture = *state;
	uint64_t second = 1;

	replace(fixture, "namespace: a\n");
	start(fixture, NULL);
	for (size_t i = 0; i < array_len(cases); i++) {
		replace(fixture, cases[i].text);
		for (size_t k = 0; k < 4; k++)
			assert_null(namespace_at(fixture, second++));
		assert_stats(fixture, 0, i + 1);
		assert_logged(fixture, i + 1,
			      "configuration not reloaded, keeping the old options: ");
		assert_logged(fixture, 1, cases[i].message);
	}
	replace(fixture, "namespace: b\n");
	assert_null(namespace_at(fixture, second));
	assert_string_equal(namespace_at(fixture, second + 1), "b");
	assert_stats(fixture, 1, array_len(cases));
}

static void a_file_that_is_gone_is_refused_once(void **state)
{
	struct fixture *fixture = *state;

	replace(fixture, "namespace: a\n");
	start(fixture, NULL);
	unlink(fixture->path);
	for (uint64_t second = 1; second < 6; second++)
		assert_null(namespace_at(fixture, second));
	assert_stats(fixture, 0, 1);
	assert_logged(fixture, 1, "No such file or directory");
	replace(fixture, "namespace: a\n");
	for (uint64_t second = 6; second < 9; second++)
		assert_null(namespace_at(fixture, second));
	assert_stats(fixture, 1, 1);
}

static void what_cannot_change_now_is_told(void **state)
{
	struct fixture *fixture = *state;

	replace(fixture, "namespace: a\n");
	start(fixture, NULL);
	replace(fixture, "namespace: a\nfrequency: 49\nidle: true\n");
	assert_null(namespace_at(fixture, 1));
	assert_null(namespace_at(fixture, 2));
	assert_stats(fixture, 1, 0);
	assert_logged(fixture, 1, "changes of --frequency, --idle take effect at the next start");
	assert_logged(fixture, 1, "no option changed that a running agent can apply");
}

static void all_that_selects_and_labels_can_change(void **state)
{
	struct fixture *fixture = *state;

	replace(fixture, "frequency: 19\n");
	start(fixture, NULL);
	replace(fixture, "namespace: a\npod: b\ncontainer: c\nselector: d\ncgroup: /e\n"
			 "exclude-namespace: f\nexclude-container: g\nexclude-selector: h\n"
			 "pod-label: i\npod-annotation: j\n");
	assert_null(namespace_at(fixture, 1));
	assert_string_equal(namespace_at(fixture, 2), "a");
	assert_logged(fixture, 0, "next start");
	assert_logged(fixture, 1,
		      "--namespace, --pod, --container, --selector, --cgroup, "
		      "--exclude-namespace, --exclude-container, --exclude-selector, "
		      "--pod-label, --pod-annotation changed");

	replace(fixture, "frequency: 19\n");
	assert_null(reload_poll(fixture->reload, 3 * SECOND));
	const struct options *options = reload_poll(fixture->reload, 4 * SECOND);
	assert_non_null(options);
	assert_int_equal(options->namespaces.nr, 0);
	assert_int_equal(options->pod_labels.nr, 0);
}

static void the_command_line_still_goes_first(void **state)
{
	struct fixture *fixture = *state;

	replace(fixture, "namespace: a\n");
	start(fixture, "--namespace=x");
	replace(fixture, "namespace: b\n");
	for (uint64_t second = 1; second < 4; second++)
		assert_null(namespace_at(fixture, second));
	assert_stats(fixture, 1, 0);
}

static void a_hang_up_does_not_wait(void **state)
{
	struct fixture *fixture = *state;

	replace(fixture, "namespace: a\n");
	start(fixture, NULL);
	signals_reload_on_hang_up();
	raise(SIGHUP);
	assert_null(reload_poll(fixture->reload, 1));
	assert_stats(fixture, 1, 0);
	replace(fixture, "namespace: b\n");
	assert_null(reload_poll(fixture->reload, 2));
	raise(SIGHUP);
	const struct options *options = reload_poll(fixture->reload, 3);
	signal(SIGHUP, SIG_DFL);
	assert_non_null(options);
	assert_string_equal(options->namespaces.items[0], "b");
	assert_null(namespace_at(fixture, 2));
	assert_null(namespace_at(fixture, 3));
	assert_stats(fixture, 2, 0);
}

static void without_a_file_nothing_is_new(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(reload_new(&fixture->input, &fixture->options, &fixture->reload), 0);
	signals_reload_on_hang_up();
	raise(SIGHUP);
	signal(SIGHUP, SIG_DFL);
	for (uint64_t second = 1; second < 4; second++)
		assert_null(namespace_at(fixture, second));
	assert_stats(fixture, 0, 0);
}

int main(void)
{
#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_change_counts_when_the_next_look_sees_the_same),
		FIXTURE_TEST(a_file_being_written_is_waited_for),
		FIXTURE_TEST(a_swapped_directory_is_a_change),
		FIXTURE_TEST(a_wrong_file_is_refused_once_and_the_old_options_stay),
		FIXTURE_TEST(a_file_that_is_gone_is_refused_once),
		FIXTURE_TEST(what_cannot_change_now_is_told),
		FIXTURE_TEST(all_that_selects_and_labels_can_change),
		FIXTURE_TEST(the_command_line_still_goes_first),
		FIXTURE_TEST(a_hang_up_does_not_wait),
		FIXTURE_TEST(without_a_file_nothing_is_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
