/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/standin/standin.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

struct server {
	char *python, *script;
	char *mode; /* NULL: none */
};

static int spawn_server(struct standin *standin, const struct server *server, int stdin_fd,
			int stdout_fd)
{
	char *argv[] = { server->python, server->script, standin->dir, server->mode, NULL };
	posix_spawn_file_actions_t actions;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, stdin_fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, stdout_fd, STDOUT_FILENO);
	int r = -posix_spawnp(&standin->pid, server->python, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return r;
}

static int read_ports(struct standin *standin, int fd)
{
	_cleanup_fclose_ FILE *out = fdopen(fd, "re");

	if (!out)
		return -errno;
	if (fscanf(out, "%u %u %u", &standin->port, &standin->tls_port, &standin->mtls_port) != 3)
		return -EOPNOTSUPP;
	return 0;
}

static int start(struct standin *standin, const struct server *server)
{
	int to[2], from[2];

	*standin = (struct standin){ .dir = "/tmp/flamelet-standin-XXXXXX", .stdin_fd = -EBADF };
	if (!mkdtemp(standin->dir))
		return -errno;
	snprintf(standin->ca_file, sizeof(standin->ca_file), "%s/cert.pem", standin->dir);
	snprintf(standin->key_file, sizeof(standin->key_file), "%s/key.pem", standin->dir);
	if (pipe2(to, O_CLOEXEC) < 0)
		return -errno;
	_cleanup_close_ int stdin_fd = to[0];
	standin->stdin_fd = to[1];
	if (pipe2(from, O_CLOEXEC) < 0)
		return -errno;
	_cleanup_close_ int stdout_fd = from[1];

	int r = spawn_server(standin, server, stdin_fd, stdout_fd);
	close(take_fd(stdout_fd));
	if (r < 0) {
		close(from[0]);
		return r;
	}
	return read_ports(standin, from[0]);
}

int standin_start(struct standin *standin)
{
	char python[] = "python3", script[] = STANDIN_DIR "/http_server.py";

	return start(standin, &(struct server){ python, script, NULL });
}

int standin_start_http2(struct standin *standin)
{
	char python[] = "python3", script[] = STANDIN_DIR "/http_server.py", mode[] = "http2";

	return start(standin, &(struct server){ python, script, mode });
}

/* The system's Python is the one that Debian's packages are for. */
int standin_start_grpc(struct standin *standin)
{
	char python[] = "/usr/bin/python3", script[] = STANDIN_DIR "/grpc_server.py";

	return start(standin, &(struct server){ python, script, NULL });
}

void standin_stop(struct standin *standin)
{
	static const char *const files[] = { "cert.pem",  "key.pem",	"nginx.conf",
					     "nginx.pid", "nginx-body", "nginx-proxy" };
	char path[96];

	if (standin->stdin_fd >= 0)
		close(take_fd(standin->stdin_fd));
	if (standin->pid > 0)
		waitpid(standin->pid, NULL, 0);
	for (size_t i = 0; i < array_len(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", standin->dir, files[i]);
		remove(path);
	}
	rmdir(standin->dir);
}
