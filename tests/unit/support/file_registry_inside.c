/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_cache_inside.h"

#include "symbol/file_registry.c" /* NOLINT(bugprone-suspicious-include) */

struct file_index *inside_files(struct file_registry *registry)
{
	return &registry->files;
}

void inside_empty_waiting(struct file_registry *registry)
{
	registry->nr_waiting = 0;
}
