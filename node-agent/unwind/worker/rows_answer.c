/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/worker/rows_answer.h"

#include "base/hex.h"

#include <stdbool.h>
#include <string.h>

int rows_answer_error(int error)
{
	switch (error) {
	case -ENOEXEC:
		return -EBADMSG;
	case -ENODATA:
	case -ENOSPC:
	case -ENOMEM:
	case -ETIMEDOUT:
		return error;
	default:
		return -EIO;
	}
}

/* A build id must be terminated, and consist of lower-case hex digits, because it becomes part
 * of file names. */
static bool is_build_id(const char *text, size_t len)
{
	size_t end = strnlen(text, len);

	return end < len && end % 2 == 0 && hex_is(text, end);
}

static bool is_wanted(const struct elf_rows_wanted *wanted)
{
	return is_build_id(wanted->build_id, sizeof(wanted->build_id)) &&
	       memchr(wanted->link, '\0', sizeof(wanted->link)) && !strchr(wanted->link, '/');
}

int rows_answer_key(const void *bytes, size_t len, struct rows_key_reply *ret_reply)
{
	struct rows_key_reply reply;

	if (!bytes || len != sizeof(reply))
		return -EIO;
	memcpy(&reply, bytes, sizeof(reply));
	if (reply.wants_debug > 1 || !is_wanted(&reply.wanted) ||
	    !is_build_id(reply.key.build_id, sizeof(reply.key.build_id)))
		return -EIO;
	*ret_reply = reply;
	return 0;
}

int rows_answer_table(void *bytes, size_t len, size_t max_bytes, struct row_table_bytes *ret_table,
		      struct unwind_losses *ret_losses)
{
	size_t tail = sizeof(*ret_losses);

	if (!bytes || len < tail || len - tail > max_bytes ||
	    !row_table_is_valid(bytes, len - tail))
		return -EIO;
	*ret_table = (struct row_table_bytes){ bytes, len - tail };
	memcpy(ret_losses, (const char *)bytes + len - tail, tail);
	return 0;
}
