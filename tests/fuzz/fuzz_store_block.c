/* SPDX-License-Identifier: Apache-2.0 */
#include "store/block.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NR_LABELS 1000
#define NR_NODES 100000

static bool wants(uint32_t labels, void *data)
{
	(void)data;
	if (labels >= NR_LABELS)
		abort();
	return labels % 3 != 2;
}

/* Rows come in their order. */
static int visit(const struct block_row *row, void *data)
{
	struct block_row *last = data;

	if (row->node >= NR_NODES || row->labels % 3 == 2 || row->labels < last->labels ||
	    (row->labels == last->labels && row->node < last->node))
		abort();
	*last = *row;
	return 0;
}

static int decode(const uint8_t *data, size_t size, bool joins_seconds)
{
	struct block_row last = { 0 };
	const struct block_visitor visitor = { wants, visit, &last, joins_seconds };

	return block_decode(data, size, NR_LABELS, NR_NODES, &visitor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int r = decode(data, size, false);

	/* What is right with its seconds is right without them. */
	if ((r < 0 && r != -EBADMSG) || (r == 0 && decode(data, size, true) < 0))
		abort();
	(void)decode(data, size, true);
	return 0;
}
