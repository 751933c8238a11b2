/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/cgroup_walk.h"

#include "base/cleanup.h"
#include "cgroup/cgroup_mounts.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "unit.h"

#define MAX_SEEN 128

struct cgroup {
	char *path; /* owned */
	uint64_t id;
};

/* What a walk finds of our own: others come and go meanwhile. */
struct seen {
	const char *own; /* borrowed */
	struct cgroup cgroups[MAX_SEEN];
	size_t nr;
	size_t nr_all;
};

/* A hierarchy that libcgroup knows, with cgroups of our own in it. */
struct hierarchy {
	int root_fd;
	char *controller; /* owned */
	char own[64]; /* below the root */
};

static void hierarchy_done(struct hierarchy *hierarchy)
{
	if (hierarchy->own[0])
		unlinkat(hierarchy->root_fd, hierarchy->own, AT_REMOVEDIR);
	cleanup_closep(&hierarchy->root_fd);
	free(hierarchy->controller);
}

/* Whether the test can be made. */
static bool open_hierarchy(struct hierarchy *hierarchy)
{
	_cleanup_(cgroup_mounts_done) struct cgroup_mounts mounts;

	*hierarchy = (struct hierarchy){ .root_fd = -EBADF };
	cgroup_mounts_find(&mounts);
	const char *root = mounts.v1 ? mounts.v1 : mounts.v2;
	if (!root || cgroup_mounts_find_controller(root, &hierarchy->controller) < 0)
		return false;
	hierarchy->root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(hierarchy->root_fd >= 0);
	snprintf(hierarchy->own, sizeof(hierarchy->own), "flamelet-walk-%d", getpid());
	if (mkdirat(hierarchy->root_fd, hierarchy->own, 0755) == 0)
		return true;
	hierarchy->own[0] = '\0';
	return false;
}

/* Declares and makes `name`, or skips the test. */
#define OPEN_HIERARCHY_OR_SKIP(name)                                                               \
	_cleanup_(hierarchy_done) struct hierarchy name;                                           \
	if (!open_hierarchy(&name)) {                                                              \
		print_message("SKIP: needs root and a writable hierarchy with controllers\n");     \
		skip();                                                                            \
	}

/* The path of the directory `depth` levels below our own. */
static void path_at(const struct hierarchy *hierarchy, int depth, char path[static PATH_MAX])
{
	int len = snprintf(path, PATH_MAX, "%s", hierarchy->own);

	for (int i = 0; i < depth; i++)
		len += snprintf(path + len, (size_t)(PATH_MAX - len), "/a b");
}

static void make_levels(const struct hierarchy *hierarchy, int nr)
{
	char path[PATH_MAX];

	for (int depth = 1; depth <= nr; depth++) {
		path_at(hierarchy, depth, path);
		assert_int_equal(mkdirat(hierarchy->root_fd, path, 0755), 0);
	}
}

static void remove_levels(const struct hierarchy *hierarchy, int nr)
{
	char path[PATH_MAX];

	for (int depth = nr; depth > 0; depth--) {
		path_at(hierarchy, depth, path);
		assert_int_equal(unlinkat(hierarchy->root_fd, path, AT_REMOVEDIR), 0);
	}
}

static void make_siblings(const struct hierarchy *hierarchy, int nr)
{
	char path[PATH_MAX];

	for (int i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/.%d", hierarchy->own, i);
		assert_int_equal(mkdirat(hierarchy->root_fd, path, 0755), 0);
	}
}

static void remove_siblings(const struct hierarchy *hierarchy, int nr)
{
	char path[PATH_MAX];

	for (int i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/.%d", hierarchy->own, i);
		assert_int_equal(unlinkat(hierarchy->root_fd, path, AT_REMOVEDIR), 0);
	}
}

static int see(const char *path, uint64_t id, void *data)
{
	struct seen *seen = data;

	if (seen->nr_all++ == 0)
		assert_string_equal(path, "/");
	if (strncmp(path + 1, seen->own, strlen(seen->own)) != 0)
		return 0;
	assert_true(seen->nr < MAX_SEEN);
	seen->cgroups[seen->nr++] = (struct cgroup){ strdup(path), id };
	return 0;
}

static int compare_cgroups(const void *a, const void *b)
{
	const struct cgroup *left = a;
	const struct cgroup *right = b;

	return strcmp(left->path, right->path);
}

static void forget(struct seen *seen)
{
	for (size_t i = 0; i < seen->nr; i++)
		free(seen->cgroups[i].path);
}

/* Walks both ways and compares the sets of (path, id). Returns how many there were. */
static size_t count_both_ways(const struct hierarchy *hierarchy)
{
	struct seen by_library = { .own = hierarchy->own };
	struct seen by_directory = { .own = hierarchy->own };

	assert_int_equal(
		cgroup_walk_controller(hierarchy->controller, hierarchy->root_fd, see, &by_library),
		0);
	assert_int_equal(cgroup_walk_directories(hierarchy->root_fd, see, &by_directory), 0);

	assert_int_equal(by_library.nr, by_directory.nr);
	qsort(by_library.cgroups, by_library.nr, sizeof(struct cgroup), compare_cgroups);
	qsort(by_directory.cgroups, by_directory.nr, sizeof(struct cgroup), compare_cgroups);
	for (size_t i = 0; i < by_library.nr; i++) {
		assert_string_equal(by_library.cgroups[i].path, by_directory.cgroups[i].path);
		assert_int_equal(by_library.cgroups[i].id, by_directory.cgroups[i].id);
	}
	forget(&by_library);
	forget(&by_directory);
	return by_library.nr;
}

static void both_walks_find_the_same_cgroups(void **state)
{
	(void)state;
	OPEN_HIERARCHY_OR_SKIP(hierarchy);

	make_levels(&hierarchy, 3);
	make_siblings(&hierarchy, 20);
	assert_int_equal(count_both_ways(&hierarchy), 24);
	remove_siblings(&hierarchy, 20);
	remove_levels(&hierarchy, 3);
	assert_int_equal(count_both_ways(&hierarchy), 1);
}

static void both_walks_end_at_the_same_depth(void **state)
{
	enum { NR_LEVELS = CGROUP_WALK_DEPTH_MAX + 2 };
	(void)state;
	OPEN_HIERARCHY_OR_SKIP(hierarchy);

	make_levels(&hierarchy, NR_LEVELS);
	assert_int_equal(count_both_ways(&hierarchy), CGROUP_WALK_DEPTH_MAX);
	remove_levels(&hierarchy, NR_LEVELS);
}

static int stop_at_second(const char *path, uint64_t id, void *data)
{
	size_t *nr = data;

	(void)path;
	(void)id;
	return ++*nr == 2 ? 7 : 0;
}

static void both_walks_end_when_the_visitor_says_so(void **state)
{
	(void)state;
	OPEN_HIERARCHY_OR_SKIP(hierarchy);
	size_t nr = 0;

	assert_int_equal(cgroup_walk_controller(hierarchy.controller, hierarchy.root_fd,
						stop_at_second, &nr),
			 7);
	assert_int_equal(nr, 2);
	nr = 0;
	assert_int_equal(cgroup_walk_directories(hierarchy.root_fd, stop_at_second, &nr), 7);
	assert_int_equal(nr, 2);
}

/* Makes cgroups come and go while it walks. */
static int remove_next(const char *path, uint64_t id, void *data)
{
	const struct hierarchy *hierarchy = data;
	char child[PATH_MAX];

	(void)id;
	path_at(hierarchy, 1, child);
	if (strcmp(path + 1, hierarchy->own) == 0)
		assert_int_equal(unlinkat(hierarchy->root_fd, child, AT_REMOVEDIR), 0);
	assert_string_not_equal(path + 1, child);
	return 0;
}

static void a_cgroup_that_ends_during_the_walk_is_left_out(void **state)
{
	(void)state;
	OPEN_HIERARCHY_OR_SKIP(hierarchy);

	make_levels(&hierarchy, 1);
	assert_int_equal(cgroup_walk_controller(hierarchy.controller, hierarchy.root_fd,
						remove_next, &hierarchy),
			 0);
	make_levels(&hierarchy, 1);
	assert_int_equal(cgroup_walk_directories(hierarchy.root_fd, remove_next, &hierarchy), 0);
}

static void a_hierarchy_libcgroup_does_not_know_is_an_error(void **state)
{
	struct seen seen = { .own = "" };
	char *controller = NULL;
	(void)state;

	assert_int_equal(cgroup_mounts_find_controller("/", &controller), -ENOENT);
	assert_null(controller);
	assert_int_equal(cgroup_walk_controller("no-such-controller", -EBADF, see, &seen), -EIO);
	assert_int_equal(cgroup_walk_directories(-EBADF, see, &seen), -EBADF);
	assert_int_equal(seen.nr_all, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_walks_find_the_same_cgroups),
		cmocka_unit_test(both_walks_end_at_the_same_depth),
		cmocka_unit_test(both_walks_end_when_the_visitor_says_so),
		cmocka_unit_test(a_cgroup_that_ends_during_the_walk_is_left_out),
		cmocka_unit_test(a_hierarchy_libcgroup_does_not_know_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
