/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the keys by which the running kernel's mappings know files (bpf/file_key.bpf.c). */
#include "capture/bpf/capture_bpf.h"
#include "unwind/tables/unwind_memory.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel_map.h"
#include "remove_tree.h"
#include "unit.h"

struct fixture {
	struct sample_source *source;
	struct unwind_memory *memory; /* the source's */
	int files_fd;
	char dir[64];
};

static int set_up(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	const struct capture_opts opts = { .frequency_hz = 99, .poll_interval_ns = 100000000 };
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	assert_int_equal(capture_bpf_open(&opts, &message, &fixture->source), 0);
	fixture->memory = sample_source_unwind_memory(fixture->source);
	fixture->files_fd = kernel_map_fd("files");
	assert_true(fixture->files_fd >= 0);
	snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/file-keys-XXXXXX");
	assert_non_null(mkdtemp(fixture->dir));
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	remove_tree(fixture->dir);
	sample_source_close(fixture->source);
	test_free(fixture);
	return 0;
}

static void path_of(const struct fixture *fixture, const char *name, char path[static 128])
{
	snprintf(path, 128, "%s/%s", fixture->dir, name);
}

static void put(const struct fixture *fixture, const char *name, const char *text)
{
	char path[128];

	path_of(fixture, name, path);
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static struct file_key key_of(const struct fixture *fixture, const char *name)
{
	struct file_key key;
	char path[128];

	path_of(fixture, name, path);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(unwind_memory_find_key(fixture->memory, fd, &key), 0);
	return key;
}

static bool are_same(struct file_key a, struct file_key b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static void key_is_that_of_the_inode(void **state)
{
	const struct fixture *fixture = *state;
	struct stat st;
	char path[128];

	put(fixture, "a", "x");
	path_of(fixture, "a", path);
	assert_int_equal(stat(path, &st), 0);
	struct file_key key = key_of(fixture, "a");
	assert_int_equal(key.inode, st.st_ino);
	assert_int_equal(key.ctime_s, st.st_ctim.tv_sec);
	assert_int_equal(key.ctime_ns, st.st_ctim.tv_nsec);
	assert_true(are_same(key, key_of(fixture, "a")));
}

static void two_files_have_two_keys(void **state)
{
	const struct fixture *fixture = *state;

	put(fixture, "a", "x");
	put(fixture, "b", "x");
	assert_false(are_same(key_of(fixture, "a"), key_of(fixture, "b")));
}

static void file_that_is_written_over_has_another_key(void **state)
{
	const struct fixture *fixture = *state;

	put(fixture, "a", "x");
	struct file_key before = key_of(fixture, "a");
	usleep(20000); /* kernels count change times in ticks */
	put(fixture, "a", "y");
	assert_int_equal(key_of(fixture, "a").inode, before.inode);
	assert_false(are_same(key_of(fixture, "a"), before));
}

static void empty_file_has_a_key(void **state)
{
	const struct fixture *fixture = *state;

	put(fixture, "a", "");
	assert_int_not_equal(key_of(fixture, "a").inode, 0);
}

static void what_cannot_be_mapped_has_none(void **state)
{
	const struct fixture *fixture = *state;
	struct file_key key;
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_true(unwind_memory_find_key(fixture->memory, fds[0], &key) < 0);
	assert_int_equal(unwind_memory_find_key(fixture->memory, -1, &key), -EBADF);
	close(fds[0]);
	close(fds[1]);
}

static void slot_is_taken_back_by_its_owner_alone(void **state)
{
	const struct fixture *fixture = *state;
	const struct file_key key = { .inode = 1 };
	uint32_t slot = 0;

	assert_int_equal(unwind_memory_set_file(fixture->memory, &key, 5), 0);
	assert_int_equal(unwind_memory_set_file(fixture->memory, &key, 6), 0);
	unwind_memory_unset_file(fixture->memory, &key, 5);
	assert_int_equal(bpf_map_lookup_elem(fixture->files_fd, &key, &slot), 0);
	assert_int_equal(slot, 6);
	unwind_memory_unset_file(fixture->memory, &key, 6);
	assert_int_equal(bpf_map_lookup_elem(fixture->files_fd, &key, &slot), -ENOENT);
	unwind_memory_unset_file(fixture->memory, &key, 6);
}

/* Two containers of an image map the same file, by names of two overlays. */
static void files_of_overlays_are_those_below(void **state)
{
	const struct fixture *fixture = *state;
	char options[512], merged[128];

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		skip();
	for (size_t i = 0; i < 4; i++) {
		static const char *const names[] = { "lower", "upper", "work", "merged" };
		char path[128];

		path_of(fixture, names[i], path);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	put(fixture, "lower/a", "x");
	path_of(fixture, "merged", merged);
	snprintf(options, sizeof(options), "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work",
		 fixture->dir, fixture->dir, fixture->dir);
	if (mount("overlay", merged, "overlay", 0, options) < 0)
		skip();
	bool is_same = are_same(key_of(fixture, "merged/a"), key_of(fixture, "lower/a"));
	umount(merged);
	assert_true(is_same);
}

#define KEY_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEY_TEST(key_is_that_of_the_inode),
		KEY_TEST(two_files_have_two_keys),
		KEY_TEST(file_that_is_written_over_has_another_key),
		KEY_TEST(empty_file_has_a_key),
		KEY_TEST(what_cannot_be_mapped_has_none),
		KEY_TEST(slot_is_taken_back_by_its_owner_alone),
		KEY_TEST(files_of_overlays_are_those_below),
	};

	if (geteuid() != 0) {
		fputs("SKIP: loading BPF programs needs root\n", stderr);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
