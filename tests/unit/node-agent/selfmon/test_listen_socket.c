/* SPDX-License-Identifier: Apache-2.0 */
#include "selfmon/listen_socket.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "unit.h"

#define OTHER_USER 12345

static char directory[] = "/tmp/flamelet-listen-XXXXXX";
static char path[64];

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/socket", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

static struct listen_address address_of(const char *text)
{
	struct listen_address address;

	assert_int_equal(listen_address_parse(text, &address), 0);
	return address;
}

/* The port is at the same place for both families. */
static unsigned int port_of(const struct listen_socket *listener)
{
	return ntohs(listener->address.v4.sin_port);
}

static struct listen_address address_of_path(void)
{
	char text[80];

	snprintf(text, sizeof(text), "unix:%s", path);
	return address_of(text);
}

static int open_socket(const struct listen_address *address, struct listen_socket *ret_socket)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(8192);

	return listen_socket_open(address, &message, ret_socket);
}

static bool is_there(void)
{
	return access(path, F_OK) == 0;
}

static bool accepts(const struct listen_address *address)
{
	_cleanup_close_ int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return connect(fd, &address->any, address->len) == 0;
}

/* Leaves a file behind, as a process that was killed does. */
static void leave_stale_socket(const struct listen_address *address)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, &address->any, address->len), 0);
	assert_int_equal(listen(fd, 1), 0);
}

static void a_socket_is_its_owners_alone_and_goes_when_it_is_closed(void **state)
{
	const struct listen_address address = address_of_path();
	struct listen_socket listener;
	struct stat status;
	mode_t before = umask(0);
	(void)state;

	assert_int_equal(open_socket(&address, &listener), 0);
	umask(before);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_true(accepts(&address));
	listen_socket_close(&listener);
	assert_false(is_there());
	listen_socket_close(&listener);
}

static void the_socket_of_a_dead_process_is_replaced(void **state)
{
	const struct listen_address address = address_of_path();
	struct listen_socket listener;
	(void)state;

	leave_stale_socket(&address);
	assert_true(is_there());
	assert_int_equal(open_socket(&address, &listener), 0);
	assert_true(accepts(&address));
	listen_socket_close(&listener);
	assert_false(is_there());
}

static void the_socket_of_a_living_process_is_left_alone(void **state)
{
	const struct listen_address address = address_of_path();
	struct listen_socket first, second;
	(void)state;

	assert_int_equal(open_socket(&address, &first), 0);
	assert_int_equal(open_socket(&address, &second), -EADDRINUSE);
	assert_true(accepts(&address));
	listen_socket_close(&first);
}

static void anything_else_than_a_socket_is_left_alone(void **state)
{
	const struct listen_address address = address_of_path();
	struct listen_socket listener;
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	(void)state;

	assert_true(fd >= 0);
	assert_int_equal(open_socket(&address, &listener), -EEXIST);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/nowhere", path), 0);
	assert_int_equal(open_socket(&address, &listener), -EEXIST);
	assert_int_equal(unlink(path), 0);
}

static void a_successors_socket_is_not_removed(void **state)
{
	const struct listen_address address = address_of_path();
	struct listen_socket first, second;
	(void)state;

	assert_int_equal(open_socket(&address, &first), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(open_socket(&address, &second), 0);
	listen_socket_close(&first);
	assert_true(accepts(&address));
	listen_socket_close(&second);
	assert_false(is_there());
}

static void a_socket_of_another_user_is_left_alone(void **state)
{
	const struct listen_address address = address_of_path();
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(8192);
	struct listen_socket listener;
	(void)state;

	if (geteuid() != 0)
		skip();
	leave_stale_socket(&address);
	assert_int_equal(chown(path, OTHER_USER, (gid_t)-1), 0);
	assert_int_equal(listen_socket_open(&address, &message, &listener), -EPERM);
	assert_non_null(strstr(strbuf_str(&message), "belongs to uid 12345"));
	assert_true(is_there());
	assert_int_equal(unlink(path), 0);
}

/* Who asks for its health would ask somebody else. */
static void nobody_else_can_replace_it(void **state)
{
	const struct listen_address address = address_of_path();
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(8192);
	struct listen_socket listener;
	(void)state;

	assert_int_equal(chmod(directory, 0777), 0);
	assert_int_equal(listen_socket_open(&address, &message, &listener), -EPERM);
	assert_non_null(strstr(strbuf_str(&message), "other users may write to"));
	assert_false(is_there());
	assert_int_equal(chmod(directory, 01777), 0);
	assert_int_equal(open_socket(&address, &listener), 0);
	listen_socket_close(&listener);
	assert_int_equal(chmod(directory, 0700), 0);
}

static void its_directory_must_exist(void **state)
{
	const struct listen_address address = address_of("unix:/nowhere/at/all");
	struct listen_socket listener;
	(void)state;

	assert_int_equal(open_socket(&address, &listener), -ENOENT);
}

static void a_free_port_is_given_and_is_taken_then(void **state)
{
	static const char *const texts[] = { "127.0.0.1:0", "[::1]:0" };
	(void)state;

	for (size_t i = 0; i < array_len(texts); i++) {
		const struct listen_address any = address_of(texts[i]);
		struct listen_socket first, second;

		int r = open_socket(&any, &first);
		if (r == -EADDRNOTAVAIL || r == -EAFNOSUPPORT)
			continue; /* no IPv6 here */
		assert_int_equal(r, 0);
		assert_int_not_equal(port_of(&first), 0);
		assert_true(accepts(&first.address));
		assert_int_equal(open_socket(&first.address, &second), -EADDRINUSE);
		listen_socket_close(&first);
	}
}

/* A port of loopback, of either family. */
static bool accepts_at(int family, unsigned int port)
{
	struct listen_address address = {
		.v4 = { .sin_family = AF_INET,
			.sin_port = htons((uint16_t)port),
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK) },
		.len = sizeof(address.v4),
	};

	if (family == AF_INET6)
		address = (struct listen_address){ .v6 = { .sin6_family = AF_INET6,
							   .sin6_port = htons((uint16_t)port),
							   .sin6_addr = IN6ADDR_LOOPBACK_INIT },
						   .len = sizeof(address.v6) };
	return accepts(&address);
}

static struct listen_socket open_everywhere(void)
{
	struct listen_address address;
	struct listen_socket listener;

	assert_int_equal(listen_address_parse_public("*:0", &address), 0);
	assert_int_equal(open_socket(&address, &listener), 0);
	assert_int_not_equal(port_of(&listener), 0);
	return listener;
}

static void everywhere_is_both_families(void **state)
{
	struct listen_socket listener = open_everywhere();
	(void)state;

	assert_true(accepts_at(AF_INET, port_of(&listener)));
	if (listener.address.any.sa_family == AF_INET6)
		assert_true(accepts_at(AF_INET6, port_of(&listener)));
	listen_socket_close(&listener);
}

/* From now on this process is on a machine without IPv6. */
static int forget_v6(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = array_len(code), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

static int listen_without_v6(void)
{
	if (forget_v6() < 0)
		return 77;
	struct listen_socket listener = open_everywhere();
	bool is_right = listener.address.any.sa_family == AF_INET &&
			accepts_at(AF_INET, port_of(&listener));
	listen_socket_close(&listener);
	return is_right ? 0 : 1;
}

static void everywhere_is_version_4_where_there_is_no_version_6(void **state)
{
	int status;
	(void)state;

	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(listen_without_v6());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip(); /* no seccomp filters here */
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_socket_is_its_owners_alone_and_goes_when_it_is_closed),
		cmocka_unit_test(the_socket_of_a_dead_process_is_replaced),
		cmocka_unit_test(the_socket_of_a_living_process_is_left_alone),
		cmocka_unit_test(anything_else_than_a_socket_is_left_alone),
		cmocka_unit_test(a_successors_socket_is_not_removed),
		cmocka_unit_test(a_socket_of_another_user_is_left_alone),
		cmocka_unit_test(nobody_else_can_replace_it),
		cmocka_unit_test(its_directory_must_exist),
		cmocka_unit_test(a_free_port_is_given_and_is_taken_then),
		cmocka_unit_test(everywhere_is_both_families),
		cmocka_unit_test(everywhere_is_version_4_where_there_is_no_version_6),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
