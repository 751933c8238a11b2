/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_RLIMIT_H
#define BASE_RLIMIT_H

#include <sys/resource.h>

/* Raises a limit of this process, RLIMIT_NOFILE and the like, as far as it may without
 * privileges. Where that fails it stays as it is. */
static inline void rlimit_raise(__rlimit_resource_t resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(resource, &limit);
}

#endif
