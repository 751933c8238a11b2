/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the table that Maglev puts behind its instructions. It has an entry for calls, with the
 * index of the call's deoptimization data. A function whose code became invalid returns to another
 * place instead, which the entry has as well. Source: V8's src/codegen/maglev-safepoint-table.h. */
#ifndef RUNTIME_V8_V8_SAFEPOINTS_H
#define RUNTIME_V8_V8_SAFEPOINTS_H

#include <stddef.h>
#include <stdint.h>

#define V8_SAFEPOINTS_HEAD_BYTES 16
#define V8_SAFEPOINTS_MAX_BYTES ((size_t)1 << 20)

/* Returns the size of a table, by its first V8_SAFEPOINTS_HEAD_BYTES bytes; 0 if it is damaged, has
 * no deoptimization data, or is larger than V8_SAFEPOINTS_MAX_BYTES. */
size_t v8_safepoints_size(const uint8_t *head);

/* Returns the index of the deoptimization data for a return address, counted from the start of the
 * instructions; -1 if there is none. `len` is at least V8_SAFEPOINTS_HEAD_BYTES. */
int32_t v8_safepoints_find(const uint8_t *table, size_t len, uint32_t pc_offset);

#endif
