/* SPDX-License-Identifier: Apache-2.0 */
/* Any text has no path, or one that begins with a slash and lies inside it. */
#include "capture/proc_cgroup.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

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
	}
	return 0;
}
