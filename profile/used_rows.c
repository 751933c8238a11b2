/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/used_rows.h"

#include <stdlib.h>

int used_rows_init(struct used_rows *used, size_t nr)
{
	used->ids = calloc(nr, sizeof(*used->ids));
	used->elements = calloc(nr, sizeof(*used->elements));
	return used->ids && used->elements ? 0 : -ENOMEM;
}

void used_rows_done(struct used_rows *used)
{
	free(used->ids);
	free(used->elements);
}

uint32_t used_rows_use(struct used_rows *used, uint32_t row)
{
	if (!used->ids[row]) {
		used->elements[used->nr] = row;
		used->ids[row] = ++used->nr;
	}
	return used->ids[row];
}
