/* SPDX-License-Identifier: Apache-2.0 */
/* Two directories stand for the root of a container and for that of the host. A file's
 * content says which one it is. */
#include "symbol/opener/debug_files.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "remove_tree.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define ID "0123456789abcdef0123456789abcdef01234567"
#define BY_ID "usr/lib/debug/.build-id/01/23456789abcdef0123456789abcdef01234567.debug"
#define PROGRAM "opt/app/program"
#define LINK "program.debug"
#define CONTENT_BYTES 64

/* Where a debuglink leads, in the order of the search. */
#define BESIDE "opt/app/" LINK
#define IN_DOT_DEBUG "opt/app/.debug/" LINK
#define IN_DEBUG_DIR "usr/lib/debug/opt/app/" LINK

struct roots {
	char path[64];
	int fd;
	int container;
	int host;
	struct file_identity program;
	struct debug_files files;
	struct debug_file_query query;
};

static const char *const directories[] = {
	"opt",
	"opt/app",
	"opt/app/.debug",
	"usr",
	"usr/lib",
	"usr/lib/debug",
	"usr/lib/debug/.build-id",
	"usr/lib/debug/.build-id/01",
	"usr/lib/debug/opt",
	"usr/lib/debug/opt/app",
};

static int make_root(const struct roots *roots, const char *name)
{
	assert_int_equal(mkdirat(roots->fd, name, 0755), 0);

	int fd = openat(roots->fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	for (size_t i = 0; i < array_len(directories); i++)
		assert_int_equal(mkdirat(fd, directories[i], 0755), 0);
	return fd;
}

static void put(int root_fd, const char *path, const char *content)
{
	_cleanup_close_ int fd = openat(root_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
					0644);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, content, strlen(content)), 0);
}

static struct file_identity identify(int root_fd, const char *path)
{
	_cleanup_close_ int fd = openat(root_fd, path, O_PATH | O_CLOEXEC);
	struct pinned_file pinned;

	assert_int_equal(file_opener_look_at(fd, &pinned), 0);
	return pinned.identity;
}

static int setup(void **state)
{
	struct roots *roots = calloc(1, sizeof(*roots));

	snprintf(roots->path, sizeof(roots->path), "/tmp/test_debug_files.XXXXXX");
	assert_non_null(mkdtemp(roots->path));
	roots->fd = open(roots->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	roots->container = make_root(roots, "container");
	roots->host = make_root(roots, "host");
	put(roots->container, PROGRAM, "the container's program");
	put(roots->host, PROGRAM, "the host's");
	roots->program = identify(roots->container, PROGRAM);
	roots->files = (struct debug_files){ roots->host, "/usr/lib/debug" };
	roots->query = (struct debug_file_query){
		.root_fd = roots->container,
		.path = "/" PROGRAM,
		.build_id = ID,
		.link_name = LINK,
		.program = &roots->program,
	};
	*state = roots;
	return 0;
}

static int teardown(void **state)
{
	struct roots *roots = *state;

	close(roots->container);
	close(roots->host);
	close(roots->fd);
	remove_tree(roots->path);
	free(roots);
	return 0;
}

/* The program is one of the host's own. */
static void move_to_host(struct roots *roots)
{
	roots->query.root_fd = roots->host;
	roots->program = identify(roots->host, PROGRAM);
}

static void assert_nothing(const struct roots *roots)
{
	struct debug_file file = { .fd = -EBADF };

	assert_int_equal(debug_files_find(&roots->files, &roots->query, 0, &file), -ENOENT);
	assert_int_equal(file.fd, -EBADF);
}

static struct debug_file assert_found(const struct roots *roots, size_t nth, const char *content)
{
	struct debug_file file = { .fd = -EBADF };
	char text[CONTENT_BYTES] = "";

	assert_int_equal(debug_files_find(&roots->files, &roots->query, nth, &file), 0);
	assert_int_equal(file.identity.size, strlen(content));
	assert_int_equal(read(file.fd, text, sizeof(text) - 1), strlen(content));
	assert_string_equal(text, content);
	assert_int_equal(fcntl(file.fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_true(fcntl(file.fd, F_GETFD) & FD_CLOEXEC);
	close(file.fd);
	return file;
}

static void a_program_without_debug_files_has_none(void **state)
{
	assert_nothing(*state);
}

static void the_build_id_leads_to_the_file(void **state)
{
	const struct roots *roots = *state;

	put(roots->container, BY_ID, "by id");
	struct debug_file file = assert_found(roots, 0, "by id");
	assert_false(file.is_by_link);
	assert_false(file.is_hosts);
}

static void the_debuglink_leads_to_three_places(void **state)
{
	static const char *const places[] = { BESIDE, IN_DOT_DEBUG, IN_DEBUG_DIR };
	struct roots *roots = *state;

	for (int is_hosts = 0; is_hosts <= 1; is_hosts++) {
		if (is_hosts)
			move_to_host(roots);
		for (size_t i = 0; i < array_len(places); i++) {
			put(roots->query.root_fd, places[i], places[i]);
			struct debug_file file = assert_found(roots, 0, places[i]);
			assert_true(file.is_by_link);
			assert_int_equal(file.is_hosts, is_hosts);
			assert_int_equal(unlinkat(roots->query.root_fd, places[i], 0), 0);
		}
	}
}

static void ids_come_before_links_and_the_container_before_the_host(void **state)
{
	static const struct {
		bool is_hosts;
		const char *path;
	} order[] = {
		{ false, BY_ID },	 { false, BESIDE }, { false, IN_DOT_DEBUG },
		{ false, IN_DEBUG_DIR }, { true, BY_ID },   { true, IN_DEBUG_DIR },
	};
	const struct roots *roots = *state;
	struct debug_file file;
	char content[CONTENT_BYTES];

	for (size_t i = 0; i < array_len(order); i++) {
		snprintf(content, sizeof(content), "number %zu", i);
		put(order[i].is_hosts ? roots->host : roots->container, order[i].path, content);
	}
	for (size_t i = 0; i < array_len(order); i++) {
		snprintf(content, sizeof(content), "number %zu", i);
		file = assert_found(roots, i, content);
		assert_int_equal(file.is_hosts, order[i].is_hosts);
	}
	assert_int_equal(debug_files_find(&roots->files, &roots->query, array_len(order), &file),
			 -ENOENT);
}

/* The host has another program there, or anything. */
static void the_path_in_a_container_is_none_on_the_host(void **state)
{
	struct roots *roots = *state;

	put(roots->host, BESIDE, "another one's");
	put(roots->host, IN_DOT_DEBUG, "another one's");
	assert_nothing(roots);
	roots->query.root_fd = -1;
	assert_nothing(roots);
	put(roots->host, IN_DEBUG_DIR, "a package's");
	assert_true(assert_found(roots, 0, "a package's").is_hosts);
}

static void one_root_is_not_looked_in_twice(void **state)
{
	struct roots *roots = *state;
	struct debug_file file;

	move_to_host(roots);
	put(roots->host, BY_ID, "once");
	put(roots->host, BESIDE, "beside");
	assert_true(assert_found(roots, 0, "once").is_hosts);
	assert_true(assert_found(roots, 1, "beside").is_hosts);
	assert_int_equal(debug_files_find(&roots->files, &roots->query, 2, &file), -ENOENT);
}

static void the_program_itself_is_never_its_debug_file(void **state)
{
	struct roots *roots = *state;

	assert_int_equal(linkat(roots->container, PROGRAM, roots->container, BY_ID, 0), 0);
	assert_int_equal(symlinkat("program", roots->container, BESIDE), 0);
	assert_nothing(roots);
	roots->query.link_name = "program";
	assert_nothing(roots);
	roots->query.program = NULL;
	assert_found(roots, 0, "the container's program");
}

static void what_is_no_build_id_is_not_looked_for(void **state)
{
	static const char *const ids[] = {
		"",
		"01",
		"012",
		"01234",
		"0123456789ABCDEF0123456789ABCDEF01234567",
		"01/../../../../opt/app",
		"0123 ",
		"..",
		"../../../../etc/passwd",
	};
	struct roots *roots = *state;
	char long_id[133];

	put(roots->container, "usr/lib/debug/.build-id/01/.debug", "01");
	put(roots->container, "usr/lib/debug/.build-id/01/234.debug", "01234");
	put(roots->container, BY_ID, "by id");
	for (size_t i = 0; i < array_len(ids); i++) {
		roots->query.build_id = ids[i];
		assert_nothing(roots);
	}
	memset(long_id, '0', sizeof(long_id) - 1);
	long_id[sizeof(long_id) - 1] = '\0';
	roots->query.build_id = long_id;
	assert_nothing(roots);
	roots->query.build_id = "0123";
	put(roots->container, "usr/lib/debug/.build-id/01/23.debug", "short");
	assert_found(roots, 0, "short");
}

static void a_link_name_is_a_name_and_no_path(void **state)
{
	static const char *const names[] = {
		"",
		".",
		"..",
		"/" BESIDE,
		".debug/" LINK,
		"../app/" LINK,
		"./" LINK,
		"../../../../../../../../etc/passwd",
	};
	struct roots *roots = *state;

	put(roots->container, BESIDE, "beside");
	put(roots->container, IN_DOT_DEBUG, "in .debug");
	for (size_t i = 0; i < array_len(names); i++) {
		roots->query.link_name = names[i];
		assert_nothing(roots);
	}
}

static void a_path_that_cannot_be_a_programs_leads_nowhere(void **state)
{
	static const char *const paths[] = {
		"",
		"program",
		"opt/app/program",
		"[vdso]",
		"/opt/../opt/app/program",
		"/../x",
		"/memfd:x (deleted)",
	};
	struct roots *roots = *state;
	char long_path[5000];

	put(roots->container, BESIDE, "beside");
	for (size_t i = 0; i < array_len(paths); i++) {
		roots->query.path = paths[i];
		assert_nothing(roots);
	}
	memset(long_path, '/', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	roots->query.path = long_path;
	assert_nothing(roots);
	roots->query.path = long_path + sizeof(long_path) - 4096;
	put(roots->container, LINK, "below the root");
	assert_nothing(roots);
	roots->query.path = "/program";
	assert_found(roots, 0, "below the root");
}

static void links_are_followed_within_a_container_only(void **state)
{
	static const char *const targets[] = {
		"/etc/passwd",
		"../../../../../../../../../../../../etc/passwd",
		"/proc/self/exe",
		"/proc/self/fd/0",
		"../../../../host/opt/app/program",
		"program.debug",
		"/opt/app",
	};
	struct roots *roots = *state;

	for (size_t i = 0; i < array_len(targets); i++) {
		assert_int_equal(symlinkat(targets[i], roots->container, BESIDE), 0);
		assert_nothing(roots);
		assert_int_equal(unlinkat(roots->container, BESIDE, 0), 0);
	}
	put(roots->container, "opt/target", "the target");
	assert_int_equal(symlinkat("/opt/target", roots->container, BESIDE), 0);
	assert_int_equal(symlinkat("../../../../../../../../opt/target", roots->container, BY_ID),
			 0);
	assert_found(roots, 0, "the target");
	assert_found(roots, 1, "the target");
}

static void merged_directories_are_followed(void **state)
{
	struct roots *roots = *state;

	assert_int_equal(symlinkat("opt/app", roots->container, "bin"), 0);
	put(roots->container, BESIDE, "beside");
	roots->query.path = "/bin/program";
	assert_found(roots, 0, "beside");
}

/* The directory of a host's program belongs to a user, who may be anybody. */
static void links_of_host_users_stay_below_the_programs_directory(void **state)
{
	static const char *const targets[] = {
		"/etc/passwd",	  "../../etc/passwd", "../other", "/opt/app/.debug/target",
		"/proc/self/exe",
	};
	struct roots *roots = *state;

	move_to_host(roots);
	put(roots->host, "opt/app/.debug/target", "the target");
	put(roots->host, "opt/other", "outside");
	for (size_t i = 0; i < array_len(targets); i++) {
		assert_int_equal(symlinkat(targets[i], roots->host, BESIDE), 0);
		assert_nothing(roots);
		assert_int_equal(unlinkat(roots->host, BESIDE, 0), 0);
	}
	assert_int_equal(symlinkat(".debug/target", roots->host, BESIDE), 0);
	assert_found(roots, 0, "the target");

	assert_int_equal(symlinkat("app", roots->host, "opt/moved"), 0);
	roots->query.path = "/opt/moved/program";
	assert_nothing(roots);
}

static void on_the_host_the_debug_directory_may_have_links(void **state)
{
	struct roots *roots = *state;

	put(roots->host, "opt/target", "the target");
	assert_int_equal(symlinkat("/opt/target", roots->host, BY_ID), 0);
	assert_true(assert_found(roots, 0, "the target").is_hosts);
}

static void only_regular_files_are_opened(void **state)
{
	static const mode_t modes[] = { S_IFIFO, S_IFCHR, S_IFBLK, S_IFSOCK };
	struct roots *roots = *state;

	alarm(10);
	for (size_t i = 0; i < array_len(modes); i++) {
		if (mknodat(roots->container, BY_ID, modes[i] | 0644, makedev(1, 3)) < 0 &&
		    errno == EPERM)
			continue; /* devices are root's to make */
		assert_nothing(roots);
		assert_int_equal(unlinkat(roots->container, BY_ID, 0), 0);
	}
	assert_int_equal(mkdirat(roots->container, BY_ID, 0755), 0);
	assert_nothing(roots);
	alarm(0);
}

static void mount_or_skip(const struct roots *roots, const char *name, const char *type,
			  const char *options)
{
	char target[128];

	snprintf(target, sizeof(target), "%s/%s", roots->path, name);
	if (mount("test", target, type, 0, options) < 0)
		skip(); /* not root, or no such file system */
}

static void unmount(const struct roots *roots, const char *name)
{
	char target[128];

	snprintf(target, sizeof(target), "%s/%s", roots->path, name);
	assert_int_equal(umount2(target, MNT_DETACH), 0);
}

static void mounts_in_a_container_are_not_entered(void **state)
{
	struct roots *roots = *state;

	mount_or_skip(roots, "container/opt/app/.debug", "tmpfs", "size=1M");
	put(roots->container, IN_DOT_DEBUG, "mounted");
	assert_nothing(roots);
	assert_int_equal(symlinkat(".debug/" LINK, roots->container, BESIDE), 0);
	assert_nothing(roots);
	unmount(roots, "container/opt/app/.debug");
}

static void mounts_of_host_users_are_not_entered_but_roots_are(void **state)
{
	struct roots *roots = *state;

	move_to_host(roots);
	mount_or_skip(roots, "host/opt/app/.debug", "tmpfs", "size=1M");
	put(roots->host, IN_DOT_DEBUG, "mounted");
	assert_nothing(roots);
	unmount(roots, "host/opt/app/.debug");

	mount_or_skip(roots, "host/opt/app", "tmpfs", "size=1M");
	put(roots->host, BESIDE, "mounted");
	assert_nothing(roots);
	unmount(roots, "host/opt/app");

	mount_or_skip(roots, "host/usr/lib/debug/.build-id/01", "tmpfs", "size=1M");
	put(roots->host, BY_ID, "mounted");
	assert_found(roots, 0, "mounted");
	unmount(roots, "host/usr/lib/debug/.build-id/01");
}

/* Whoever looks a name up there waits until the server is gone. */
static void a_silent_fuse_server_holds_nobody_up(void **state)
{
	static const char *const places[] = { "container/opt/app/.debug",
					      "container/usr/lib/debug",
					      "container/opt/app",
					      "host/opt/app/.debug",
					      "host/opt/app",
					      "host/opt" };
	struct roots *roots = *state;
	char options[96];

	for (size_t i = 0; i < array_len(places); i++) {
		_cleanup_close_ int fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

		if (fuse_fd < 0)
			skip(); /* no FUSE here, or not root */
		snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0",
			 fuse_fd);
		if (places[i][0] == 'h')
			move_to_host(roots);
		mount_or_skip(roots, places[i], "fuse", options);
		alarm(10);
		assert_nothing(roots);
		alarm(0);
		unmount(roots, places[i]);
	}
}

static void want_of_descriptors_is_told(void **state)
{
	struct roots *roots = *state;
	struct rlimit limit, none;
	struct debug_file file;

	put(roots->container, BY_ID, "by id");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	int r = debug_files_find(&roots->files, &roots->query, 0, &file);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(r, -ENOSPC);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_program_without_debug_files_has_none),
		TEST(the_build_id_leads_to_the_file),
		TEST(the_debuglink_leads_to_three_places),
		TEST(ids_come_before_links_and_the_container_before_the_host),
		TEST(the_path_in_a_container_is_none_on_the_host),
		TEST(one_root_is_not_looked_in_twice),
		TEST(the_program_itself_is_never_its_debug_file),
		TEST(what_is_no_build_id_is_not_looked_for),
		TEST(a_link_name_is_a_name_and_no_path),
		TEST(a_path_that_cannot_be_a_programs_leads_nowhere),
		TEST(links_are_followed_within_a_container_only),
		TEST(merged_directories_are_followed),
		TEST(links_of_host_users_stay_below_the_programs_directory),
		TEST(on_the_host_the_debug_directory_may_have_links),
		TEST(only_regular_files_are_opened),
		TEST(mounts_in_a_container_are_not_entered),
		TEST(mounts_of_host_users_are_not_entered_but_roots_are),
		TEST(a_silent_fuse_server_holds_nobody_up),
		TEST(want_of_descriptors_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
