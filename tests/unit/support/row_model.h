/* SPDX-License-Identifier: Apache-2.0 */
/* A row builder and what its table must say: the rule of each byte of code, without any merging. */
#ifndef TESTS_UNIT_ROW_MODEL_H
#define TESTS_UNIT_ROW_MODEL_H

#include "unwind/rows/row_builder.h"

#include <stdint.h>

#define ROW_MODEL_MAX_BYTES (16 << 20) /* of a table */
#define ROW_MODEL_BIAS 0x400000 /* addresses are so far above file offsets */
#define ROW_MODEL_TEXT_BYTES 200000

struct row_model {
	struct row_builder *builder; /* owned */
	uint32_t function_end;
	uint8_t is_code[ROW_MODEL_TEXT_BYTES + 1];
	struct cfi_rule rules[ROW_MODEL_TEXT_BYTES + 1];
};

struct row_model *row_model_new(void);
void row_model_free(struct row_model *model);
DEFINE_FREEP(struct row_model, row_model_free)

/* To the builder and to the model alike. */
void row_model_begin(struct row_model *model, uint32_t start, uint32_t len);
void row_model_add(struct row_model *model, uint32_t offset, struct cfi_rule rule);

/* The builder's table, which is valid and has the model's rule for each byte. The caller's to
 * free. */
struct row_table_bytes row_model_seal(struct row_model *model);

#endif
