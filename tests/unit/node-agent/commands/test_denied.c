/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/denied.h"

#include "remove_tree.h"
#include "unit.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER_USER 65534
#define TEXT_BYTES 1024

/* Returns whether denied_tell() appends this message for a path, or none if it is NULL. Root asks
 * as another user. */
static bool is_told(const char *path, const char *expected)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct strbuf text = strbuf_with_max(TEXT_BYTES);
		char *paths[] = { strdup(path) };
		const struct string_list list = { .items = paths, .nr = 1 };

		if (geteuid() == 0 && setresuid(OTHER_USER, OTHER_USER, OTHER_USER) < 0)
			_exit(2);
		bool is_denied = denied_tell(&list, &text);
		_exit(expected ? !is_denied || strcmp(strbuf_str(&text), expected) != 0
			       : is_denied || text.len > 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void the_directory_that_denies_is_named(void **state)
{
	(void)state;
	char dir[] = "/tmp/flamelet-denied-XXXXXX", record[64], expected[TEXT_BYTES];

	assert_non_null(mkdtemp(dir));
	snprintf(record, sizeof(record), "%s/record", dir);
	assert_int_equal(mkdir(record, 0700), 0);
	assert_int_equal(chmod(dir, 0755), 0);
	if (geteuid() == 0) {
		snprintf(expected, sizeof(expected),
			 "%s belongs to root, and others may not read it; sudo helps\n", record);
		assert_true(is_told(record, expected));
		assert_int_equal(chmod(dir, 0700), 0);
		snprintf(expected, sizeof(expected),
			 "%s belongs to root, and others may not read it; sudo helps\n", dir);
		assert_true(is_told(record, expected));
	} else {
		assert_true(is_told(record, NULL));
	}
	remove_tree(dir);
}

static void what_is_missing_or_can_be_read_is_not_denied(void **state)
{
	(void)state;
	assert_true(is_told("/tmp", NULL));
	assert_true(is_told("/tmp/flamelet-no-such-record", NULL));
	assert_true(is_told("", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_directory_that_denies_is_named),
		cmocka_unit_test(what_is_missing_or_can_be_read_is_not_denied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
