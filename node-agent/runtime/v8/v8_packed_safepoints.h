/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the table that TurboFan puts behind its instructions in V8 14.7 and later. It tells the
 * same as Maglev's (v8_safepoints.h), but its entries have no fixed size: an entry has the
 * distances from the one before. Source: V8's src/codegen/safepoint-table.h and
 * src/codegen/safepoint-table.cc. */
#ifndef RUNTIME_V8_V8_PACKED_SAFEPOINTS_H
#define RUNTIME_V8_V8_PACKED_SAFEPOINTS_H

#include <stddef.h>
#include <stdint.h>

#define V8_PACKED_SAFEPOINTS_HEAD_BYTES 8

/* Returns the size of a table, by its first V8_PACKED_SAFEPOINTS_HEAD_BYTES bytes; 0 if it is
 * damaged, has no deoptimization data, or is larger than V8_SAFEPOINTS_MAX_BYTES. */
size_t v8_packed_safepoints_size(const uint8_t *head);

/* Returns the index of the deoptimization data for a return address, counted from the start of the
 * instructions; -1 if there is none. `len` is at least V8_PACKED_SAFEPOINTS_HEAD_BYTES. */
int32_t v8_packed_safepoints_find(const uint8_t *table, size_t len, uint32_t pc_offset);

#endif
