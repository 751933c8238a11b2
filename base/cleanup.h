/* SPDX-License-Identifier: Apache-2.0 */
/* Scope-bound ownership: a resource is declared with its initial value and is released at the end
 * of the scope.
 *
 *	_cleanup_free_ char *text = NULL;
 *	_cleanup_close_ int fd = -EBADF;
 *	_cleanup_(strbuf_done) struct strbuf out;
 *
 * A constructor builds into such a local and ends with `*ret_x = take_ptr(x); return 0;`. */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define _cleanup_free_ _cleanup_(cleanup_freep)
#define _cleanup_close_ _cleanup_(cleanup_closep)
#define _cleanup_fclose_ _cleanup_(cleanup_fclosep)
#define _cleanup_closedir_ _cleanup_(cleanup_closedirp)

/* Moves a pointer out of a cleanup variable: its value is returned and the variable becomes
 * NULL. */
#define take_ptr(ptr)                                                                              \
	({                                                                                         \
		typeof(ptr) taken_ = (ptr);                                                        \
		(ptr) = NULL;                                                                      \
		taken_;                                                                            \
	})

/* Moves a file descriptor out of a cleanup variable, leaving -EBADF. */
#define take_fd(fd)                                                                                \
	({                                                                                         \
		int taken_ = (fd);                                                                 \
		(fd) = -EBADF;                                                                     \
		taken_;                                                                            \
	})

/* Defines `type`_freep() for _cleanup_(): frees what the variable points to with `fn`. */
#define DEFINE_FREEP(type, fn)                                                                     \
	static inline void fn##p(type **object)                                                    \
	{                                                                                          \
		fn(*object);                                                                       \
	}

static inline void cleanup_freep(void *ptr)
{
	free(*(void **)ptr);
}

static inline void cleanup_closep(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void cleanup_closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

#endif
