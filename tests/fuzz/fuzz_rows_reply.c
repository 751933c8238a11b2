/* SPDX-License-Identifier: Apache-2.0 */
/* The reply of a worker that makes unwind tables. The first byte says to which request: even, for
 * the key; odd, for the table. What is taken must be safe to use. */
#include "base/cleanup.h"
#include "tests/unit/support/row_lookup.h"
#include "unwind/worker/rows_answer.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TABLE_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_key(const struct rows_key_reply *reply)
{
	const struct elf_rows_wanted *wanted = &reply->wanted;

	if (strlen(reply->key.build_id) > 2 * ELF_BUILD_ID_MAX || strchr(wanted->link, '/') ||
	    strlen(wanted->build_id) > 2 * ELF_BUILD_ID_MAX ||
	    strspn(reply->key.build_id, "0123456789abcdef") != strlen(reply->key.build_id))
		abort();
}

static void use_table(const struct row_table_bytes *table)
{
	const struct row_table *head = (const void *)table->data;
	struct cfi_rule rule;

	for (uint64_t i = 0; i < ROW_PAGE_BYTES; i += 61) {
		row_lookup(table->data, (uint64_t)head->first_page * ROW_PAGE_BYTES + i, &rule);
		if (rule.kind >= CFA_NR_KINDS || rule.reg >= NR_REGS)
			abort();
	}
	row_lookup(table->data, UINT64_MAX, &rule);
}

static void answer_table(const uint8_t *data, size_t size)
{
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	struct unwind_losses losses;
	uint8_t *bytes = malloc(size + 1);

	if (!bytes)
		return;
	memcpy(bytes, data, size);
	if (rows_answer_table(bytes, size, MAX_TABLE_BYTES, &table, &losses) < 0)
		free(bytes);
	else
		use_table(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rows_key_reply reply;

	if (size == 0)
		return 0;
	if (data[0] % 2)
		answer_table(data + 1, size - 1);
	else if (rows_answer_key(data + 1, size - 1, &reply) == 0)
		use_key(&reply);
	return 0;
}
