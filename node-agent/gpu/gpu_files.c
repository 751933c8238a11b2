/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/gpu_files.h"

#include "base/cleanup.h"
#include "worker/worker_landlock.h"
#include "worker/worker_process.h"

#include <glob.h>
#include <stdint.h>

/* All but reading. */
#define CHANGES                                                                                    \
	(WORKER_LANDLOCK_ALL &                                                                     \
	 ~(uint64_t)(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR))

/* Directories of devices, such as nvidia-caps, have their own files. */
static const char *const patterns[] = { "/dev/null", "/dev/nvidia*", "/dev/nvidia*/*" };

static int permit_all(int rules, const char *pattern)
{
	glob_t found;
	int r = glob(pattern, 0, NULL, &found);

	if (r != 0)
		return r == GLOB_NOSPACE ? -ENOMEM : 0;
	for (size_t i = 0; r == 0 && i < found.gl_pathc; i++)
		r = worker_landlock_permit(rules, found.gl_pathv[i], LANDLOCK_ACCESS_FS_WRITE_FILE,
					   0);
	globfree(&found);
	return r;
}

int gpu_files_confine(void)
{
	if (WORKER_PROCESS_IS_SANITIZED)
		return 0;
	_cleanup_close_ int rules = worker_landlock_new(CHANGES);
	int r = rules < 0 ? rules : 0;
	for (size_t i = 0; r == 0 && i < array_len(patterns); i++)
		r = permit_all(rules, patterns[i]);
	return r < 0 ? r : worker_landlock_enforce(rules);
}
