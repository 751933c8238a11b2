/* SPDX-License-Identifier: Apache-2.0 */
#include "pod_bodies.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "k8s/json_items.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define FILE_MAX_BYTES ((size_t)2 << 20)
#define PATH_BYTES 64
#define MAX_DIGITS 8
#define REPLICA "\"svc-5d8f7c9b6-" /* begins the names of a Deployment's pods; five digits follow */
#define BEGINNING "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":["
#define ENDING "]}\n"
#define BUSY_NODE FIXTURES_DIR "/kubelet/busy-node.json"

/* Number of pods of the busy node that are like the first pod of its file,
 * the second one and so on. */
static const size_t busy_counts[] = { 37, 63, 1, 1 };

struct maker {
	void (*feed)(const char *bytes, size_t len, void *data);
	void *data;
	const size_t *counts; /* how often each pod of a file comes; NULL: once */
	size_t nr_taken; /* of the file */
	size_t nr_pods, max_pods;
	size_t nr_bytes;
};

static void put(struct maker *maker, const char *bytes, size_t len)
{
	maker->feed(bytes, len, maker->data);
	maker->nr_bytes += len;
}

/* Puts the last digits of a pod's number behind each `mark` in its JSON. */
static void number(char *json, const char *mark, size_t nr, size_t nr_digits)
{
	char digits[MAX_DIGITS + 1];

	snprintf(digits, sizeof(digits), "%08zx", nr);
	for (char *at = json; (at = strstr(at, mark));) {
		at += strlen(mark);
		if (strcspn(at, "\"") >= nr_digits)
			memcpy(at, digits + MAX_DIGITS - nr_digits, nr_digits);
	}
}

static int put_pod(struct maker *maker, const char *json, size_t len)
{
	_cleanup_free_ char *copy = strdup(json);

	assert_non_null(copy);
	if (maker->nr_pods == maker->max_pods)
		return -ENOSPC;
	number(copy, "\"uid\":\"", maker->nr_pods, MAX_DIGITS);
	number(copy, "containerd://", maker->nr_pods, MAX_DIGITS);
	number(copy, REPLICA, maker->nr_pods, 5);
	if (maker->nr_pods++)
		put(maker, ",", 1);
	put(maker, copy, len);
	return 0;
}

static int take_pod(const char *json, size_t len, void *data)
{
	struct maker *maker = data;
	size_t nr = maker->counts ? maker->counts[maker->nr_taken++] : 1;
	int r = 0;

	for (size_t i = 0; i < nr && r == 0; i++)
		r = put_pod(maker, json, len);
	return r;
}

static void put_pods_of(struct maker *maker, const char *path, const size_t *counts)
{
	const struct json_items_opts opts = {
		.item_max_bytes = FILE_MAX_BYTES,
		.on_item = take_pod,
		.data = maker,
	};
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(FILE_MAX_BYTES);
	_cleanup_(json_items_done) struct json_items items;

	maker->counts = counts;
	maker->nr_taken = 0;
	assert_int_equal(file_read_at(AT_FDCWD, path, &body), 0);
	json_items_init(&items, &opts);
	int r = json_items_feed(&items, body.data, body.len);
	assert_true(r == 0 || r == -ENOSPC);
}

static void write_to(const char *bytes, size_t len, void *data)
{
	const int *fd = data;

	assert_int_equal(fd_write_all(*fd, bytes, len), 0);
}

const char *pod_bodies_busy_node(void)
{
	static char path[PATH_BYTES];
	static int fd = -1;
	struct maker maker = { .feed = write_to, .data = &fd, .max_pods = SIZE_MAX };

	if (fd >= 0)
		return path;
	fd = memfd_create("busy-node", MFD_CLOEXEC);
	assert_true(fd >= 0);
	put(&maker, BEGINNING, strlen(BEGINNING));
	put_pods_of(&maker, BUSY_NODE, busy_counts);
	put(&maker, ENDING, strlen(ENDING));
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
	return path;
}

size_t pod_bodies_make(size_t nr_pods, void (*feed)(const char *bytes, size_t len, void *data),
		       void *data)
{
	struct maker maker = { .feed = feed, .data = data, .max_pods = nr_pods };

	put(&maker, BEGINNING, strlen(BEGINNING));
	while (maker.nr_pods < nr_pods) {
		put_pods_of(&maker, FIXTURES_DIR "/kubelet/pods-1.36.json", NULL);
		put_pods_of(&maker, BUSY_NODE, busy_counts);
	}
	put(&maker, ENDING, strlen(ENDING));
	return maker.nr_bytes;
}
