/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/kernel/kernel_data.h"

#include "base/array.h"
#include "base/fileio.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "symbol/kernel/kallsyms_parser.h"

#include <stdlib.h>
#include <string.h>

#define MAX_VARIABLES ((size_t)1 << 20)
#define MAX_TEXT_BYTES ((size_t)64 << 20)

struct variable {
	uint64_t address;
	uint32_t name; /* offset in `names` */
};

struct kernel_data {
	struct variable *variables; /* owned, sorted by address */
	size_t nr_variables, cap_variables;
	struct strbuf names;
};

static bool is_variable(const struct kallsyms_line *line)
{
	return line->address != 0 && line->type != '\0' && strchr("bBdD", line->type);
}

static int add_line(struct kernel_data *data, const char *text, size_t len)
{
	struct kallsyms_line line;

	if (!kallsyms_parse_line(text, len, &line) || !is_variable(&line))
		return 0;
	int r = array_grow(data->variables, data->cap_variables, data->nr_variables + 1,
			   MAX_VARIABLES);
	if (r < 0)
		return r;
	data->variables[data->nr_variables++] = (struct variable){
		.address = line.address,
		.name = (uint32_t)data->names.len,
	};
	strbuf_append(&data->names, line.name, line.name_len);
	strbuf_append_char(&data->names, '\0');
	return strbuf_error(&data->names);
}

static int add_lines(struct kernel_data *data, const struct strbuf *text)
{
	const char *line = strbuf_str(text), *end = line + text->len;
	int r = 0;

	while (r == 0 && line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t len = (size_t)((newline ? newline : end) - line);

		r = add_line(data, line, len);
		line += len + 1;
	}
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct variable *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->name > right->name) - (left->name < right->name);
}

int kernel_data_new(int dir_fd, const char *path, struct kernel_data **ret_data)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_TEXT_BYTES);
	_cleanup_(kernel_data_freep) struct kernel_data *data = calloc(1, sizeof(*data));

	if (!data)
		return -ENOMEM;
	data->names = strbuf_with_max(MAX_TEXT_BYTES);
	int r = file_read_at(dir_fd, path, &text);
	if (r == 0)
		r = add_lines(data, &text);
	if (r < 0)
		return r;
	if (data->nr_variables > 0)
		qsort(data->variables, data->nr_variables, sizeof(*data->variables), compare);
	*ret_data = take_ptr(data);
	return 0;
}

void kernel_data_free(struct kernel_data *data)
{
	if (!data)
		return;
	free(data->variables);
	strbuf_done(&data->names);
	free(data);
}

const char *kernel_data_find(const struct kernel_data *data, uint64_t address, uint64_t *ret_offset)
{
	const struct variable *variables = data->variables;
	size_t next = search_count(data->nr_variables, i, variables[i].address <= address);

	if (next == 0 || address - variables[next - 1].address >= KERNEL_DATA_MAX_BYTES)
		return NULL;
	*ret_offset = address - variables[next - 1].address;
	return data->names.data + variables[next - 1].name;
}
