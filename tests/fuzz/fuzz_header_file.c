/* SPDX-License-Identifier: Apache-2.0 */
/* A header file of any bytes: what comes of it must be lines that can stand in a request. */
#include "base/cleanup.h"
#include "otlp/transport/header_file.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_(header_list_done) struct header_list list = { .lines = NULL };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);

	int r = header_file_parse((const char *)data, len, "f", &list, &message);
	if (r == 0 && (list.nr_lines == 0 || message.len > 0))
		__builtin_trap();
	if (r < 0 && r != -ENOMEM && message.len == 0)
		__builtin_trap();
	for (size_t i = 0; i < list.nr_lines; i++)
		if (strpbrk(list.lines[i], "\r\n") || !strpbrk(list.lines[i], ":;"))
			__builtin_trap();
	return 0;
}
