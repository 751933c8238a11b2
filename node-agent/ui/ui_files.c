/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/ui_files.h"

#include "base/cleanup.h"
#include "worker/worker_landlock.h"
#include "worker/worker_process.h"

#include <stdio.h>

#define PATH_BYTES 4096

/* Permits reading a file, or what is below a directory. */
static int permit(int rules, const char *path)
{
	return worker_landlock_permit(rules, path, LANDLOCK_ACCESS_FS_READ_FILE,
				      LANDLOCK_ACCESS_FS_READ_DIR);
}

/* A file that is being written has two others beside it. */
static int permit_with_logs(int rules, const char *path)
{
	static const char *const suffixes[] = { "", "-wal", "-shm" };
	char name[PATH_BYTES];
	int r = 0;

	for (size_t i = 0; r == 0 && i < array_len(suffixes); i++) {
		if (snprintf(name, sizeof(name), "%s%s", path, suffixes[i]) >= PATH_BYTES)
			return -ENAMETOOLONG;
		r = permit(rules, name);
	}
	return r;
}

int ui_files_confine(const char *const *paths, size_t nr_paths)
{
	if (WORKER_PROCESS_IS_SANITIZED)
		return 0;
	_cleanup_close_ int rules = worker_landlock_new(WORKER_LANDLOCK_ALL);
	int r = rules < 0 ? rules : 0;
	for (size_t i = 0; r == 0 && i < nr_paths; i++)
		r = permit_with_logs(rules, paths[i]);
	return r < 0 ? r : worker_landlock_enforce(rules);
}
