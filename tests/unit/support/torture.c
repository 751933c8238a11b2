/* SPDX-License-Identifier: Apache-2.0 */
#include "torture.h"

#include <stddef.h>

/* The names are the linker's, see --wrap in ld(1). */
void *__real_malloc(size_t len);
void *__real_calloc(size_t nr, size_t len);
void *__real_realloc(void *old, size_t len);
void *__real_reallocarray(void *old, size_t nr, size_t len);
void *__wrap_malloc(size_t len);
void *__wrap_calloc(size_t nr, size_t len);
void *__wrap_realloc(void *old, size_t len);
void *__wrap_reallocarray(void *old, size_t nr, size_t len);

static _Thread_local unsigned int countdown; /* 0: nothing fails */
static _Thread_local bool has_failed;

void torture_begin(unsigned int n)
{
	countdown = n;
	has_failed = false;
}

bool torture_end(void)
{
	countdown = 0;
	return has_failed;
}

static bool must_fail(void)
{
	if (countdown == 0 || --countdown > 0)
		return false;
	has_failed = true;
	return true;
}

void *__wrap_malloc(size_t len)
{
	return must_fail() ? NULL : __real_malloc(len);
}

void *__wrap_calloc(size_t nr, size_t len)
{
	return must_fail() ? NULL : __real_calloc(nr, len);
}

void *__wrap_realloc(void *old, size_t len)
{
	return must_fail() ? NULL : __real_realloc(old, len);
}

void *__wrap_reallocarray(void *old, size_t nr, size_t len)
{
	return must_fail() ? NULL : __real_reallocarray(old, nr, len);
}
