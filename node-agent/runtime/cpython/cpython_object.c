/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_object.h"

#include <stdbool.h>
#include <string.h>

static bool is_inside(const struct cpython_object *object, uint64_t offset, size_t len)
{
	return len <= object->len && offset <= object->len - len;
}

int cpython_object_read(struct process_memory *memory, uint64_t address, size_t len,
			struct cpython_object *ret_object)
{
	if (len > sizeof(ret_object->bytes))
		len = sizeof(ret_object->bytes);

	ssize_t n = process_memory_read_some(memory, address, ret_object->bytes, len);

	if (n <= 0)
		return n < 0 ? (int)n : -EFAULT;
	ret_object->address = address;
	ret_object->len = (size_t)n;
	return 0;
}

int cpython_object_field(const struct cpython_object *object, uint64_t offset, void *to, size_t len)
{
	if (!is_inside(object, offset, len))
		return -EFAULT;
	memcpy(to, object->bytes + offset, len);
	return 0;
}

int cpython_object_part(struct process_memory *memory, const struct cpython_object *object,
			uint64_t offset, size_t len, struct strbuf *scratch,
			const uint8_t **ret_part)
{
	if (is_inside(object, offset, len)) {
		*ret_part = object->bytes + offset;
		return 0;
	}
	strbuf_clear(scratch);

	char *part = strbuf_extend(scratch, len);
	if (!part)
		return strbuf_error(scratch);
	int r = process_memory_read(memory, object->address + offset, part, len);
	if (r < 0)
		return r;
	*ret_part = (const uint8_t *)part;
	return 0;
}
