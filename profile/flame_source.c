/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flame_source.h"

#include "profile/xml.h"

#include <inttypes.h>
#include <string.h>

/* The last directory and the file. */
static const char *short_path(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return path;
	slash = memrchr(path, '/', (size_t)(slash - path));
	return slash ? slash + 1 : path;
}

void flame_source_append(struct strbuf *out, const char *before, const struct profile *profile,
			 const struct flame_node *node)
{
	const struct profile_function *function = &profile->functions[node->function];
	const char *filename = profile_string(profile, function->filename);

	if (!node->is_inlined && !*filename)
		return;
	strbuf_append_str(out, before);
	if (node->is_inlined)
		strbuf_append_str(out, *filename ? "inlined, " : "inlined");
	xml_append(out, short_path(filename));
	if (*filename && function->start_line)
		strbuf_appendf(out, ":%" PRIu32, function->start_line);
}
