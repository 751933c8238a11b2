/* SPDX-License-Identifier: Apache-2.0 */
#include "row_recorder.h"

int row_builder_add(struct row_builder *builder, uint64_t address, const struct cfi_rule *rule)
{
	if (builder->nr_rows == builder->max_rows || builder->nr_rows == array_len(builder->rows))
		return -ENOSPC;
	builder->rows[builder->nr_rows++] = (struct recorded_row){ address, *rule };
	return 0;
}
