/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/queue_dirs.h"

#include "agent/export_transport.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/own_dir.h"
#include "otlp/transport/protocol.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HOST_MAX 200 /* bytes of it in the name of a directory */
#define KEY_MAX_BYTES ((size_t)1 << 20)

int queue_dirs_find_host(const char *endpoint, const char **ret_host)
{
	const char *scheme_end = strstr(endpoint, "://");

	*ret_host = scheme_end ? scheme_end + strlen("://") : endpoint;
	return (int)strcspn(*ret_host, "/?#");
}

static size_t nr_users(const struct queue_dirs *dirs, const char *name)
{
	size_t nr = 0;

	for (size_t i = 0; i < dirs->nr; i++)
		nr += strncmp(dirs->names[i], name, strlen(name)) == 0;
	return nr;
}

bool queue_dirs_include(const struct queue_dirs *dirs, const char *name)
{
	return nr_users(dirs, name) > 0;
}

static int hash_destination(const struct destination *destination, uint64_t ret_hash[static 2])
{
	_cleanup_(strbuf_done) struct strbuf key = strbuf_with_max(KEY_MAX_BYTES);

	strbuf_appendf(&key, "%" PRIu32 " %s %s %s",
		       protocol_get(export_protocol(destination))->body_format,
		       destination->endpoint, destination->tenant ? destination->tenant : "",
		       destination->token_file ? destination->token_file : "");
	for (size_t i = 0; i < destination->headers.nr; i++)
		strbuf_appendf(&key, "\n%s", destination->headers.items[i]);
	if (destination->header_file) /* by its name: what it says may be renewed */
		strbuf_appendf(&key, "\n%s", destination->header_file);
	hash_128(strbuf_str(&key), key.len, ret_hash);
	return strbuf_error(&key);
}

int queue_dirs_add(struct queue_dirs *dirs, const struct destination *destination)
{
	char name[QUEUE_DIR_NAME_BYTES];
	uint64_t hash[2];
	const char *host;
	int len = queue_dirs_find_host(destination->endpoint, &host);

	if (dirs->nr == QUEUE_DIRS_MAX)
		return -ENOSPC;
	int r = hash_destination(destination, hash);
	if (r < 0)
		return r;
	int nr_written = snprintf(name, sizeof(name), "%.*s-%08x", len > HOST_MAX ? HOST_MAX : len,
				  host, (uint32_t)hash[0]);
	size_t nr_equal = nr_users(dirs, name);
	if (nr_equal > 0)
		snprintf(name + nr_written, sizeof(name) - (size_t)nr_written, "-%zu",
			 nr_equal + 1);
	memcpy(dirs->names[dirs->nr++], name, sizeof(name));
	return 0;
}

int queue_dirs_add_all(struct queue_dirs *dirs, const struct options *options)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < options->nr_destinations; i++)
		r = queue_dirs_add(dirs, &options->destinations[i]);
	return r;
}

int queue_dirs_check(const char *parent, const char *name, struct strbuf *ret_path,
		     struct strbuf *reterr_msg)
{
	_cleanup_close_ int fd = -EBADF;

	strbuf_appendf(ret_path, "%s/%s", parent, name);
	int r = strbuf_error(ret_path);
	if (r == 0)
		r = own_dir_look(strbuf_str(ret_path), OWN_DIR_FOR_FILES, reterr_msg, &fd);
	return r < 0 ? r : 0;
}
