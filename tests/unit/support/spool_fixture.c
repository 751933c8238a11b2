/* SPDX-License-Identifier: Apache-2.0 */
#include "spool_fixture.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "remove_tree.h"

#define BODY_MAX_BYTES ((size_t)16 << 20)

int spool_fixture_setup(void **state)
{
	struct spool_fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	snprintf(fixture->path, sizeof(fixture->path), "/dev/shm/test_spool.XXXXXX");
	assert_non_null(mkdtemp(fixture->path));
	assert_int_equal(rmdir(fixture->path), 0);
	fixture->opts = (struct spool_opts){
		.dir = fixture->path,
		.max_bytes = 64 << 20,
		.max_memory_bytes = 1 << 20,
		.format = SPOOL_FIXTURE_FORMAT,
	};
	*state = fixture;
	return 0;
}

int spool_fixture_teardown(void **state)
{
	struct spool_fixture *fixture = *state;

	spool_close(fixture->spool);
	remove_tree(fixture->path);
	free(fixture);
	return 0;
}

void spool_fixture_open(struct spool_fixture *fixture)
{
	spool_close(take_ptr(fixture->spool));
	assert_int_equal(spool_open(&fixture->opts, &fixture->spool), 0);
}

struct spool_item spool_fixture_item(uint32_t number)
{
	return (struct spool_item){ .nr_samples = number,
				    .time_unix_ns = 1000 + number,
				    .nr_profiles = 2000 + number,
				    .cost_bytes = 3000 + number };
}

void spool_fixture_body(uint32_t number, size_t len, struct strbuf *body)
{
	uint32_t seed = number * 2654435761U;

	for (size_t i = 0; i < len; i++) {
		seed = seed * 1664525 + 1013904223;
		strbuf_append_char(body, (char)(seed >> 24));
	}
	assert_int_equal(strbuf_error(body), 0);
}

void spool_fixture_append(struct spool_fixture *fixture, uint32_t number, size_t len)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	struct spool_item item = spool_fixture_item(number);

	spool_fixture_body(number, len, &body);
	assert_int_equal(spool_append(fixture->spool, &item, strbuf_str(&body), len), 0);
}

void spool_fixture_assert_first(struct spool_fixture *fixture, uint32_t number, size_t len)
{
	_cleanup_(strbuf_done) struct strbuf expected = strbuf_with_max(BODY_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	const struct spool_item *item = spool_first(fixture->spool);

	assert_non_null(item);
	assert_int_equal(item->nr_samples, number);
	assert_int_equal(item->time_unix_ns, 1000 + number);
	assert_int_equal(item->nr_profiles, 2000 + number);
	assert_int_equal(item->cost_bytes, 3000 + number);
	assert_int_equal(spool_read(fixture->spool, &body), 0);
	spool_fixture_body(number, len, &expected);
	assert_int_equal(body.len, len);
	assert_memory_equal(strbuf_str(&body), strbuf_str(&expected), len);
}

static bool ends_with(const char *name, const char *suffix)
{
	size_t len = strlen(name), suffix_len = strlen(suffix);

	return len >= suffix_len && strcmp(name + len - suffix_len, suffix) == 0;
}

size_t spool_fixture_count(const struct spool_fixture *fixture, const char *suffix)
{
	_cleanup_closedir_ DIR *dir = opendir(fixture->path);
	size_t nr = 0;

	assert_non_null(dir);
	for (const struct dirent *entry; (entry = readdir(dir));)
		nr += strspn(entry->d_name, ".") == 0 && ends_with(entry->d_name, suffix);
	return nr;
}

void spool_fixture_path(const struct spool_fixture *fixture, bool is_last,
			char ret_path[static SPOOL_FIXTURE_PATH_BYTES])
{
	_cleanup_closedir_ DIR *dir = opendir(fixture->path);
	char name[256] = "";

	assert_non_null(dir);
	for (const struct dirent *entry; (entry = readdir(dir));) {
		int order = strcmp(entry->d_name, name);

		if (ends_with(entry->d_name, ".spool") &&
		    (name[0] == '\0' || (is_last ? order > 0 : order < 0)))
			snprintf(name, sizeof(name), "%s", entry->d_name);
	}
	assert_true(name[0] != '\0');
	snprintf(ret_path, SPOOL_FIXTURE_PATH_BYTES, "%s/%s", fixture->path, name);
}
