/* SPDX-License-Identifier: Apache-2.0 */
/* A list belongs to a mount namespace, which is identified by the inode of /proc/PID/ns/mnt. If
 * another namespace gets the same number later, the wrong entry costs one reading at most. */
#include "symbol/opener/mount_list.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/hash.h"
#include "base/locked.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#define PATH_BYTES 32
#define CHUNK_BYTES 4096 /* the time is checked after each chunk */
#define MAX_CHEAP 4096 /* namespaces; if two have the same place, the older one is forgotten */

/* Global, because the limit holds for all threads and objects together. */
static struct {
	pthread_mutex_t lock;
	uint64_t cheap[MAX_CHEAP];
	uint64_t not_before_ns; /* until then, no other lists are read */
} known = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Returns 0 if the namespace is unknown. */
static uint64_t namespace_of(int proc_fd, uint32_t pid)
{
	char path[PATH_BYTES];
	struct stat st;

	snprintf(path, sizeof(path), "%" PRIu32 "/ns/mnt", pid);
	return fstatat(proc_fd, path, &st, 0) == 0 ? st.st_ino : 0;
}

static bool is_hosts(int proc_fd, uint32_t pid, uint64_t namespace)
{
	return pid == MOUNT_LIST_HOST_PID ||
	       (namespace != 0 && namespace == namespace_of(proc_fd, MOUNT_LIST_HOST_PID));
}

static bool may_read(uint64_t namespace)
{
	LOCKED(&known.lock);
	bool is_cheap = namespace != 0 && known.cheap[hash_u64(namespace) % MAX_CHEAP] == namespace;

	return is_cheap || clock_mono_ns() >= known.not_before_ns;
}

static void learn(uint64_t namespace, uint64_t cost_ns)
{
	uint64_t *place = &known.cheap[hash_u64(namespace) % MAX_CHEAP];
	uint64_t now_ns = clock_mono_ns();
	LOCKED(&known.lock);

	if (cost_ns <= MOUNT_LIST_CHEAP_NS) {
		*place = namespace;
		return;
	}
	if (*place == namespace)
		*place = 0;
	if (known.not_before_ns < now_ns)
		known.not_before_ns = now_ns;
	known.not_before_ns += cost_ns * MOUNT_LIST_SHARE;
}

static uint64_t own_time_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Errors: as mount_list_read(). */
static int read_until(int fd, uint64_t until_ns, struct strbuf *text)
{
	char chunk[CHUNK_BYTES];

	for (;;) {
		ssize_t n = fd_read(fd, chunk, sizeof(chunk));

		if (n < 0)
			return (int)n;
		strbuf_append(text, chunk, (size_t)n);
		if (n == 0 || strbuf_error(text) < 0)
			return strbuf_error(text);
		if (own_time_ns() >= until_ns)
			return -EAGAIN;
	}
}

int mount_list_read(int proc_fd, uint32_t pid, struct strbuf *text)
{
	uint64_t namespace = namespace_of(proc_fd, pid);
	bool is_trusted = is_hosts(proc_fd, pid, namespace);
	char path[PATH_BYTES];

	if (!is_trusted && !may_read(namespace))
		return -EAGAIN;
	snprintf(path, sizeof(path), "%" PRIu32 "/mountinfo", pid);
	_cleanup_close_ int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;

	uint64_t start_ns = own_time_ns();
	int r = read_until(fd, is_trusted ? UINT64_MAX : start_ns + MOUNT_LIST_MAX_NS, text);
	if (!is_trusted)
		learn(namespace, own_time_ns() - start_ns);
	return r;
}
