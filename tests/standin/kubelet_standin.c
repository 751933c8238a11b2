/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/standin/kubelet_standin.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "tests/unit/support/remove_tree.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define START_TIMEOUT_NS (30 * NSEC_PER_SEC)
#define PATH_BYTES 128
#define FILE_MAX_BYTES ((size_t)1 << 20)

static void file_path(const struct kubelet_standin *standin, const char *name,
		      char path[static PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/%s", standin->dir, name);
}

/* Becomes the server; it ends with the test, however that ends. */
static void run_server(const char *dir, const char *listen, const char *node_name,
		       const char *pods_file)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	dup2(null_fd, STDERR_FILENO);
	execlp("python3", "python3", KUBELET_SCRIPT, "--dir", dir, "--listen", listen,
	       "--node-name", node_name, "--pods", pods_file, (char *)NULL);
	_exit(127);
}

/* Waits for the file "address", which comes last. */
static int wait_for_address(struct kubelet_standin *standin)
{
	uint64_t deadline_ns = clock_mono_ns() + START_TIMEOUT_NS;
	const struct timespec pause = clock_timespec(20 * NSEC_PER_MSEC);
	char path[PATH_BYTES];

	file_path(standin, "address", path);
	while (clock_mono_ns() < deadline_ns) {
		_cleanup_(strbuf_done) struct strbuf address = strbuf_with_max(40);

		if (file_read_at(AT_FDCWD, path, &address) == 0) {
			snprintf(standin->url, sizeof(standin->url), "https://%s",
				 strbuf_str(&address));
			return 0;
		}
		if (waitpid(standin->pid, NULL, WNOHANG) == standin->pid) {
			standin->pid = 0;
			return -EOPNOTSUPP;
		}
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

int kubelet_standin_start(struct kubelet_standin *standin, const char *listen,
			  const char *node_name, const char *pods_file)
{
	*standin = (struct kubelet_standin){ .dir = "/tmp/flamelet-kubelet-XXXXXX" };
	if (!mkdtemp(standin->dir))
		return -errno;
	snprintf(standin->ca_file, sizeof(standin->ca_file), "%s/ca.crt", standin->dir);
	snprintf(standin->token_file, sizeof(standin->token_file), "%s/token", standin->dir);

	standin->pid = fork();
	if (standin->pid == 0)
		run_server(standin->dir, listen, node_name, pods_file);
	int r = standin->pid < 0 ? -errno : wait_for_address(standin);
	if (r < 0)
		kubelet_standin_stop(standin);
	return r;
}

void kubelet_standin_stop(struct kubelet_standin *standin)
{
	if (standin->pid > 0) {
		kill(standin->pid, SIGTERM);
		waitpid(standin->pid, NULL, 0);
	}
	remove_tree(standin->dir);
}

int kubelet_standin_write(const struct kubelet_standin *standin, const char *name, const char *text)
{
	char path[PATH_BYTES];

	file_path(standin, name, path);
	return file_write_atomic(path, text, strlen(text));
}

static size_t count_lines(const struct kubelet_standin *standin, const char *name)
{
	_cleanup_(strbuf_done) struct strbuf lines = strbuf_with_max(FILE_MAX_BYTES);
	char path[PATH_BYTES];
	size_t nr_lines = 0;

	file_path(standin, name, path);
	if (file_read_at(AT_FDCWD, path, &lines) < 0)
		return 0;
	for (size_t i = 0; i < lines.len; i++)
		nr_lines += lines.data[i] == '\n';
	return nr_lines;
}

size_t kubelet_standin_nr_requests(const struct kubelet_standin *standin)
{
	return count_lines(standin, "requests");
}

size_t kubelet_standin_nr_received(const struct kubelet_standin *standin)
{
	return count_lines(standin, "received");
}
