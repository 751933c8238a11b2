/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/denied.h"

#include "base/cleanup.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_MAX_BYTES 4096
#define NAME_BUFFER_BYTES 4096

static bool is_denied(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return errno == EACCES;
	return access(path, S_ISDIR(status.st_mode) ? R_OK | X_OK : R_OK) < 0 && errno == EACCES;
}

/* Shortens a path to the directory that may not be searched. Leaves it unchanged if there is
 * none. */
static void find_guard(struct strbuf *path, struct stat *status)
{
	while (stat(strbuf_str(path), status) < 0) {
		const char *slash = strrchr(strbuf_str(path), '/');

		*status = (struct stat){ 0 };
		if (!slash || slash == strbuf_str(path))
			return;
		strbuf_truncate(path, (size_t)(slash - strbuf_str(path)));
	}
}

static void append_owner(uid_t uid, struct strbuf *messages)
{
	char buffer[NAME_BUFFER_BYTES];
	struct passwd entry, *found;

	if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) == 0 && found)
		strbuf_append_str(messages, entry.pw_name);
	else
		strbuf_appendf(messages, "user %u", (unsigned int)uid);
}

bool denied_tell(const struct string_list *paths, struct strbuf *messages)
{
	bool is_any = false;

	for (size_t i = 0; i < paths->nr; i++) {
		_cleanup_(strbuf_done) struct strbuf guard = strbuf_with_max(PATH_MAX_BYTES);
		struct stat status;

		if (!is_denied(paths->items[i]))
			continue;
		is_any = true;
		strbuf_append_str(&guard, paths->items[i]);
		find_guard(&guard, &status);
		strbuf_appendf(messages, "%s belongs to ", strbuf_str(&guard));
		append_owner(status.st_uid, messages);
		strbuf_append_str(messages, ", and others may not read it; sudo helps\n");
	}
	return is_any;
}
