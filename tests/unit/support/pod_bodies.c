/* SPDX-License-Identifier: Apache-2.0 */
#include "pod_bodies.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "k8s/json_items.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

#define FILE_MAX_BYTES ((size_t)2 << 20)
#define BEGINNING "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":["

struct maker {
	void (*feed)(const char *bytes, size_t len, void *data);
	void *data;
	size_t nr_pods, max_pods;
	size_t nr_bytes;
};

static void put(struct maker *maker, const char *bytes, size_t len)
{
	maker->feed(bytes, len, maker->data);
	maker->nr_bytes += len;
}

/* Puts eight digits of the pod's number behind each `mark` in its JSON. */
static void number(char *json, const char *mark, size_t nr)
{
	char digits[9];

	snprintf(digits, sizeof(digits), "%08zx", nr);
	for (char *at = json; (at = strstr(at, mark));) {
		at += strlen(mark);
		if (strcspn(at, "\"") >= 8)
			memcpy(at, digits, 8);
	}
}

static int put_pod(const char *json, size_t len, void *data)
{
	struct maker *maker = data;
	_cleanup_free_ char *copy = strdup(json);

	assert_non_null(copy);
	if (maker->nr_pods == maker->max_pods)
		return -ENOSPC;
	number(copy, "\"uid\":\"", maker->nr_pods);
	number(copy, "containerd://", maker->nr_pods);
	if (maker->nr_pods++)
		put(maker, ",", 1);
	put(maker, copy, len);
	return 0;
}

static void put_pods_of(struct maker *maker, const char *path)
{
	const struct json_items_opts opts = {
		.item_max_bytes = FILE_MAX_BYTES,
		.take = put_pod,
		.data = maker,
	};
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(FILE_MAX_BYTES);
	_cleanup_(json_items_done) struct json_items items;

	assert_int_equal(file_read_at(AT_FDCWD, path, &body), 0);
	json_items_init(&items, &opts);
	int r = json_items_feed(&items, body.data, body.len);
	assert_true(r == 0 || r == -ENOSPC);
}

size_t pod_bodies_make(size_t nr_pods, void (*feed)(const char *bytes, size_t len, void *data),
		       void *data)
{
	struct maker maker = { .feed = feed, .data = data, .max_pods = nr_pods };

	put(&maker, BEGINNING, strlen(BEGINNING));
	while (maker.nr_pods < nr_pods) {
		put_pods_of(&maker, FIXTURES_DIR "/kubelet/pods-1.36.json");
		put_pods_of(&maker, FIXTURES_DIR "/kubelet/big.json");
	}
	put(&maker, "]}\n", 3);
	return maker.nr_bytes;
}
