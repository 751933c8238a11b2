/* SPDX-License-Identifier: Apache-2.0 */
/* V8's deoptimization data: a byte that says where a translation begins in the other bytes. These
 * are read as translations, and as the tables of calls. */
#include "base/err.h"
#include "runtime/v8/v8_packed_safepoints.h"
#include "runtime/v8/v8_safepoints.h"
#include "runtime/v8/v8_translation.h"

#include <stdlib.h>

#define MAX_BYTES ((size_t)256 << 10)
#define MAX_FRAMES 32

static const uint32_t offsets[] = { 0, 1, 32, 0x120, INT32_MAX, UINT32_MAX };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_safepoints(const uint8_t *data, size_t size)
{
	if (size < V8_SAFEPOINTS_HEAD_BYTES)
		return;
	size_t len = v8_safepoints_size(data);
	if (len > V8_SAFEPOINTS_MAX_BYTES || (len > 0 && len < V8_SAFEPOINTS_HEAD_BYTES))
		abort();
	for (size_t i = 0; i < array_len(offsets); i++)
		if (v8_safepoints_find(data, size, offsets[i]) < -1)
			abort();
}

static void check_packed_safepoints(const uint8_t *data, size_t size)
{
	if (size < V8_PACKED_SAFEPOINTS_HEAD_BYTES)
		return;
	size_t len = v8_packed_safepoints_size(data);
	if (len > V8_SAFEPOINTS_MAX_BYTES || (len > 0 && len < V8_PACKED_SAFEPOINTS_HEAD_BYTES))
		abort();
	for (size_t i = 0; i < array_len(offsets); i++)
		if (v8_packed_safepoints_find(data, size, offsets[i]) < -1)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct v8_translated frames[MAX_FRAMES];

	if (size < 1 || size > MAX_BYTES)
		return 0;
	int nr = v8_translation_read(data + 1, size - 1, data[0], frames, MAX_FRAMES);
	if (nr != -ENOENT && (nr < 1 || nr > MAX_FRAMES))
		abort();
	check_safepoints(data + 1, size - 1);
	check_packed_safepoints(data + 1, size - 1);
	return 0;
}
