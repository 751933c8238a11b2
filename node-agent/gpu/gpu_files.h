/* SPDX-License-Identifier: Apache-2.0 */
/* Confines the writing of the GPU worker to NVIDIA's device files, by Landlock (Linux 5.13). It
 * reads what the user of the agent may read, as the library looks for its configuration and for the
 * driver below /proc and /sys. */
#ifndef GPU_GPU_FILES_H
#define GPU_GPU_FILES_H

#include "base/err.h"

/* Leaves writing to /dev/nvidia* and /dev/null, as they are now. Nothing can be made, removed or
 * renamed, and no program started. The thread must have set no_new_privs. With sanitizers, nothing
 * is done. Errors: -EOPNOTSUPP the kernel has no Landlock; those of landlock_add_rule(2) and
 * landlock_restrict_self(2); -ENOMEM. */
int gpu_files_confine(void) must_check;

#endif
