/* SPDX-License-Identifier: Apache-2.0 */
/* Any text has no path, or one that begins with a slash and lies inside it; followed from a
 * namespace it has no way up. */
#include "cgroup/cgroup_namespace.h"
#include "cgroup/proc_cgroup.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void follow(const char *path, size_t len)
{
	char root[] = "/pods/p/c", above[] = "";
	const struct cgroup_namespace namespace = {
		.is_known = true,
		.root = root,
		.above = above,
	};
	struct strbuf resolved = strbuf_with_max(MAX_BYTES);

	if (cgroup_namespace_resolve(&namespace, path, len, &resolved) == 0) {
		const char *text = strbuf_str(&resolved);
		size_t end = strlen(text);

		if (*text != '/' || strstr(text, "/../") || strstr(text, "//") ||
		    (end >= 3 && strcmp(text + end - 3, "/..") == 0))
			abort();
	}
	strbuf_done(&resolved);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data;

	for (uint32_t hierarchy = 0; hierarchy < 12; hierarchy++) {
		const char *path;
		size_t path_len;

		if (proc_cgroup_find(text, len, hierarchy, &path, &path_len) < 0)
			continue;
		if (path < text || path_len == 0 || path_len > len ||
		    path > text + len - path_len || *path != '/')
			abort();
		follow(path, path_len);
	}
	return 0;
}
