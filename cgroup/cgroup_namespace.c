/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/cgroup_namespace.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/parse.h"
#include "base/strview.h"
#include "cgroup/cgroup_fs.h"
#include "cgroup/proc_cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SELF_MAX_BYTES 65536 /* of /proc/self/cgroup: a line for each v1 controller */
#define PROCS_MAX_BYTES (4 << 20)

/* The root is "" here, so that paths can be put one behind the other. */
static const char *without_root(const char *path)
{
	return strcmp(path, "/") == 0 ? "" : path;
}

/* Returns whether a path ends with these components, and sets its length without them. */
static bool ends_with(const char *path, const char *tail, size_t *ret_rest)
{
	struct strview view = strview_of(path, SIZE_MAX);

	if (!strview_ends_with(view, tail))
		return false;
	*ret_rest = view.len - strlen(tail);
	return true;
}

int cgroup_namespace_init(struct cgroup_namespace *ret_namespace, const char *seen,
			  const char *path)
{
	size_t root_len = 0, above_len = 0;

	seen = without_root(seen);
	path = without_root(path);
	if (strcmp(seen, "/..") == 0 || strncmp(seen, "/../", strlen("/../")) == 0)
		return -ENOENT;
	if (!ends_with(path, seen, &root_len) && !ends_with(seen, path, &above_len))
		return -ENOENT;
	_cleanup_free_ char *root = strndup(path, root_len);
	_cleanup_free_ char *above = strndup(seen, above_len);
	if (!root || !above)
		return -ENOMEM;
	*ret_namespace = (struct cgroup_namespace){
		.is_known = true,
		.root = take_ptr(root),
		.above = take_ptr(above),
	};
	return 0;
}

void cgroup_namespace_done(struct cgroup_namespace *namespace)
{
	free(namespace->root);
	free(namespace->above);
	*namespace = (struct cgroup_namespace){ 0 };
}

static bool go_up(struct strbuf *resolved, size_t begin)
{
	const char *slash = strrchr(strbuf_str(resolved) + begin, '/');

	if (!slash)
		return false;
	strbuf_truncate(resolved, (size_t)(slash - resolved->data));
	return true;
}

/* Follows a path that is empty or begins with a slash, from the root of the mount. */
static bool follow(struct strbuf *resolved, size_t begin, struct strview path)
{
	bool may_go_up = true;
	struct strview name;

	(void)strview_next(&path, '/', &name); /* the empty name before the first slash */
	while (strview_next(&path, '/', &name)) {
		bool is_up = strview_is(name, "..");

		if (is_up && may_go_up && go_up(resolved, begin))
			continue;
		if (is_up || name.len == 0 || strview_is(name, "."))
			return false;
		may_go_up = false;
		strbuf_append_char(resolved, '/');
		strbuf_append(resolved, name.text, name.len);
	}
	return true;
}

int cgroup_namespace_resolve(const struct cgroup_namespace *namespace, const char *path, size_t len,
			     struct strbuf *resolved)
{
	struct strview rest = { path, len == 1 ? 0 : len };
	size_t begin = resolved->len;

	if (!namespace->is_known || len == 0 || *path != '/' || memchr(path, '\0', len) ||
	    !strview_starts_with(rest, namespace->above))
		return -ENOENT;
	rest = strview_without_prefix(rest, namespace->above);
	if (rest.len > 0 && rest.text[0] != '/')
		return -ENOENT;
	strbuf_append_str(resolved, namespace->root);
	if (!follow(resolved, begin, rest))
		return -ENOENT;
	if (resolved->len == begin)
		strbuf_append_char(resolved, '/');
	return strbuf_error(resolved);
}

struct search {
	const struct cgroup_fs *fs;
	struct strbuf found; /* the path; empty: not found */
};

static bool lists_pid(const struct strbuf *procs, uint64_t wanted)
{
	const char *at = strbuf_str(procs), *end = at + procs->len;
	uint64_t pid;

	for (; parse_digits(&at, end, 10, &pid) == 0 && at < end; at++)
		if (pid == wanted)
			return true;
	return false;
}

/* The numbers are of our own pid namespace; processes of other namespaces have 0. */
static bool is_in(const struct cgroup_fs *fs, const char *path)
{
	_cleanup_(strbuf_done) struct strbuf procs = strbuf_with_max(PROCS_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf file = strbuf_with_max(PATH_MAX);

	strbuf_appendf(&file, "%s%s/cgroup.procs", cgroup_fs_root(fs), path);
	return strbuf_error(&file) == 0 && file_read_at(AT_FDCWD, strbuf_str(&file), &procs) == 0 &&
	       lists_pid(&procs, (uint64_t)getpid());
}

static int visit(const char *path, uint64_t id, void *data)
{
	struct search *search = data;

	(void)id;
	if (!is_in(search->fs, path))
		return 0;
	strbuf_append_str(&search->found, path);
	return 1;
}

/* Usually the process is at the path in /proc, as there is no other namespace. */
static int find_self(const struct cgroup_fs *fs, const char *seen, struct cgroup_namespace *ret)
{
	struct search search = { .fs = fs, .found = strbuf_with_max(PATH_MAX) };

	if (!strstr(seen, "/..") && is_in(fs, seen))
		return cgroup_namespace_init(ret, seen, seen);
	int r = cgroup_fs_walk(fs, visit, &search);
	if (r == 0)
		r = -ENOENT;
	if (r > 0)
		r = strbuf_error(&search.found);
	if (r == 0)
		r = cgroup_namespace_init(ret, seen, strbuf_str(&search.found));
	strbuf_done(&search.found);
	return r;
}

int cgroup_namespace_find(const struct cgroup_fs *fs, int proc_fd, uint32_t hierarchy,
			  struct cgroup_namespace *ret_namespace)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(SELF_MAX_BYTES);
	const char *path = "";
	size_t len = 0;

	int r = file_read_at(proc_fd, "self/cgroup", &text);
	if (r == 0)
		r = proc_cgroup_find(strbuf_str(&text), text.len, hierarchy, &path, &len);
	if (r < 0)
		return r;
	_cleanup_free_ char *seen = strndup(path, len);
	return seen ? find_self(fs, seen, ret_namespace) : -ENOMEM;
}
