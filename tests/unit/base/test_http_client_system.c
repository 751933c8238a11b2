/* SPDX-License-Identifier: Apache-2.0 */
/* What a client makes of the machine: its name server and its certificates, both in mounts of
 * this program's own. Needs root. */
#include "base/clock.h"
#include "base/fileio.h"
#include "base/http_client.h"
#include "remove_tree.h"
#include "tests/standin/standin.h"
#include "unit.h"

#include <arpa/inet.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SYSTEM_CERTIFICATES "/etc/ssl/certs"
#define NAME_SERVER "127.0.0.99"

static char dir[] = "/tmp/flamelet-http-system-XXXXXX";

static int begin(void **state)
{
	(void)state;
	if (unshare(CLONE_NEWNS) < 0) {
		print_message("SKIP: no mount namespace of our own: root is needed\n");
		exit(77);
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	return mkdtemp(dir) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	remove_tree(dir);
	return 0;
}

static void get_dir_path(const char *name, char path[static 96])
{
	snprintf(path, 96, "%s/%s", dir, name);
}

static void run(const char *const argv[])
{
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)argv, environ) != 0)
		skip(); /* no openssl */
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int get(const struct http_client_opts *opts, const char *ca_file, const char *url)
{
	_cleanup_(strbuf_done) struct strbuf ca = strbuf_with_max(4096);
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(4096);
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	struct http_request request = { .url = url };
	struct http_response response;

	if (ca_file) {
		assert_int_equal(file_read_at(AT_FDCWD, ca_file, &ca), 0);
		request.tls.ca = (struct http_pem){ ca.data, ca.len };
	}
	assert_int_equal(http_client_new(opts, &client), 0);
	return http_perform(client, &request, &body, &response);
}

/* The stand-in's certificate becomes one that the system trusts, by its directory only. */
static void an_own_ca_leaves_no_other(void **state)
{
	char other[96], key[96], trusted[96], url[64];
	struct standin server;
	(void)state;

	if (standin_start(&server) < 0 || server.tls_port == 0)
		skip(); /* no Python, or no openssl */
	get_dir_path("other.pem", other);
	get_dir_path("other.key", key);
	run((const char *[]){ "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj",
			      "/CN=other", "-keyout", key, "-out", other, NULL });
	get_dir_path("trusted", trusted);
	assert_int_equal(mkdir(trusted, 0755), 0);
	run((const char *[]){ "cp", server.ca_file, trusted, NULL });
	run((const char *[]){ "openssl", "rehash", trusted, NULL });
	assert_int_equal(mount(trusted, SYSTEM_CERTIFICATES, NULL, MS_BIND, NULL), 0);

	const struct http_client_opts opts = {
		.connect_timeout_ns = 2 * NSEC_PER_SEC,
		.total_timeout_ns = 5 * NSEC_PER_SEC,
	};
	snprintf(url, sizeof(url), "https://localhost:%u/status/200", server.tls_port);
	assert_int_equal(get(&opts, server.ca_file, url), 0);
	assert_int_equal(get(&opts, other, url), -EKEYREJECTED);

	umount2(SYSTEM_CERTIFICATES, MNT_DETACH);
	standin_stop(&server);
}

/* Takes questions and never answers. */
static int start_mute_name_server(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(53) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, NAME_SERVER, &address.sin_addr);
	if (bind(fd, (const void *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void a_mute_name_server_is_not_waited_for(void **state)
{
	const struct http_client_opts opts = {
		.connect_timeout_ns = NSEC_PER_SEC / 2,
		.total_timeout_ns = NSEC_PER_SEC,
	};
	_cleanup_close_ int fd = start_mute_name_server();
	char path[96];
	(void)state;

	if (fd < 0)
		skip(); /* there is another one */
	get_dir_path("resolv.conf", path);
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	fputs("nameserver " NAME_SERVER "\n", file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(mount(path, "/etc/resolv.conf", NULL, MS_BIND, NULL), 0);

	uint64_t start_ns = clock_mono_ns();
	assert_int_equal(get(&opts, NULL, "http://collector.example/"), -ETIMEDOUT);
	assert_true(clock_mono_ns() - start_ns < 3 * NSEC_PER_SEC);
	umount2("/etc/resolv.conf", MNT_DETACH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_own_ca_leaves_no_other),
		cmocka_unit_test(a_mute_name_server_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
