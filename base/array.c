/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

#define FIRST_CAP 16

int array_reserve(void **data, size_t *cap, size_t need, size_t elem_bytes, size_t max)
{
	if (need <= *cap)
		return 0;
	if (need > max)
		return -ENOSPC;

	size_t new_cap = *cap ? *cap : FIRST_CAP;
	while (new_cap < need)
		new_cap = new_cap > SIZE_MAX / 2 ? need : new_cap * 2;
	if (new_cap > max)
		new_cap = max;

	void *grown = reallocarray(*data, new_cap, elem_bytes);
	if (!grown)
		return -ENOMEM;
	*data = grown;
	*cap = new_cap;
	return 0;
}
