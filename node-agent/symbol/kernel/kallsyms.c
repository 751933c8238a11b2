/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel has 120 thousand functions, listed in a file of 5 MB, which is read in pieces. The table
 * consists of parallel arrays, with 14 bytes per function, and of one block with all names.
 * Addresses have 64 bits because BPF programs and modules can lie far from the kernel. */
#include "symbol/kernel/kallsyms.h"

#include "base/array.h"
#include "base/fileio.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "symbol/kernel/kallsyms_parser.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FUNCTIONS ((size_t)1 << 20)
#define MAX_NAME_BYTES ((size_t)64 << 20)
#define MAX_MODULES 4096
#define CHUNK_BYTES ((size_t)64 * 1024)

struct function {
	uint64_t address;
	uint32_t name; /* offset in `names`, as are those of modules */
	uint16_t name_len;
	uint16_t module_and_rank; /* module << 2 | rank; of two functions the lower rank wins */
};

/* The functions that were read so far, in the order of the file. */
struct builder {
	struct function *functions; /* owned */
	size_t nr_functions;
	size_t cap_functions;
	struct strbuf names;
	uint32_t modules[MAX_MODULES]; /* their names; number 0 is the kernel itself */
	size_t nr_modules;
	bool has_lines; /* well-formed ones */
	uint64_t highest; /* address of any line */
};

struct kallsyms {
	uint64_t *addresses; /* owned, sorted */
	uint32_t *names; /* owned; offsets in `text` */
	uint16_t *modules; /* owned; numbers in `module_names` */
	size_t nr_functions;
	uint32_t *module_names; /* owned; offsets in `text` */
	char *text; /* owned */
	size_t text_len;
};

static struct builder *builder_new(void)
{
	struct builder *builder = calloc(1, sizeof(*builder));

	if (!builder)
		return NULL;
	builder->names = strbuf_with_max(MAX_NAME_BYTES);
	builder->nr_modules = 1;
	strbuf_append_char(&builder->names, '\0');
	return builder;
}

static void builder_free(struct builder *builder)
{
	if (!builder)
		return;
	free(builder->functions);
	strbuf_done(&builder->names);
	free(builder);
}
DEFINE_FREEP(struct builder, builder_free)

static uint32_t add_text(struct strbuf *names, const char *text, size_t len)
{
	uint32_t offset = (uint32_t)names->len;

	strbuf_append(names, text, len);
	strbuf_append_char(names, '\0');
	return offset;
}

static bool is_module(const struct builder *builder, size_t number,
		      const struct kallsyms_line *line)
{
	const char *name = builder->names.data + builder->modules[number];

	return strncmp(name, line->module, line->module_len) == 0 && name[line->module_len] == '\0';
}

/* Returns the number of a line's module. Searches from the newest one down, as the lines of a
 * module follow each other. */
static int find_or_add_module(struct builder *builder, const struct kallsyms_line *line)
{
	if (line->module_len == 0)
		return 0;
	for (size_t i = builder->nr_modules; i > 1; i--)
		if (is_module(builder, i - 1, line))
			return (int)(i - 1);
	if (builder->nr_modules == MAX_MODULES)
		return -ENOSPC;
	builder->modules[builder->nr_modules] = add_text(&builder->names, line->module,
							 line->module_len);
	return strbuf_error(&builder->names) ?: (int)builder->nr_modules++;
}

/* Returns the rank of a symbol type, or -1 if it is not code. */
static int rank_of(char type)
{
	switch (type) {
	case 'T':
		return 0;
	case 'W':
	case 'w':
		return 1;
	case 't':
		return 2;
	default:
		return -1;
	}
}

static int add_function(struct builder *builder, const struct kallsyms_line *line, int rank)
{
	int module = find_or_add_module(builder, line);

	if (module < 0)
		return module;

	int r = array_grow(builder->functions, builder->cap_functions, builder->nr_functions + 1,
			   MAX_FUNCTIONS);
	if (r < 0)
		return r;
	builder->functions[builder->nr_functions++] = (struct function){
		.address = line->address,
		.name = add_text(&builder->names, line->name, line->name_len),
		.name_len = line->name_len < UINT16_MAX ? (uint16_t)line->name_len : UINT16_MAX,
		.module_and_rank = (uint16_t)(module << 2 | rank),
	};
	return strbuf_error(&builder->names);
}

static int add_line(struct builder *builder, const char *text, size_t len)
{
	struct kallsyms_line line;

	if (!kallsyms_parse_line(text, len, &line))
		return 0;
	builder->has_lines = true;
	if (line.address > builder->highest)
		builder->highest = line.address;

	int rank = rank_of(line.type);
	return rank < 0 ? 0 : add_function(builder, &line, rank);
}

/* Adds all complete lines of the text. */
static int add_lines(struct builder *builder, const char *text, size_t len, size_t *ret_used)
{
	const char *end = text + len;
	const char *line = text;

	for (const char *newline;
	     line < end && (newline = memchr(line, '\n', (size_t)(end - line)));
	     line = newline + 1) {
		int r = add_line(builder, line, (size_t)(newline - line));

		if (r < 0)
			return r;
	}
	*ret_used = (size_t)(line - text);
	return 0;
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *left = a;
	const struct function *right = b;
	unsigned int left_rank = left->module_and_rank & 3;
	unsigned int right_rank = right->module_and_rank & 3;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	if (left_rank != right_rank)
		return left_rank < right_rank ? -1 : 1;
	if (left->name_len != right->name_len)
		return left->name_len < right->name_len ? -1 : 1;
	return (left->name > right->name) - (left->name < right->name);
}

/* Sorts the functions and keeps one per address. Returns the size of their names in bytes. */
static size_t sort_functions(struct builder *builder)
{
	size_t nr_kept = 0;
	size_t name_bytes = 0;

	if (builder->nr_functions > 0)
		qsort(builder->functions, builder->nr_functions, sizeof(*builder->functions),
		      compare_functions);
	for (size_t i = 0; i < builder->nr_functions; i++) {
		const struct function *function = &builder->functions[i];

		if (nr_kept && builder->functions[nr_kept - 1].address == function->address)
			continue;
		name_bytes += strlen(builder->names.data + function->name) + 1;
		builder->functions[nr_kept++] = *function;
	}
	builder->nr_functions = nr_kept;
	return name_bytes;
}

static uint32_t copy_text(struct kallsyms *kallsyms, const char *text)
{
	size_t len = strlen(text) + 1;
	uint32_t offset = (uint32_t)kallsyms->text_len;

	memcpy(kallsyms->text + offset, text, len);
	kallsyms->text_len += len;
	return offset;
}

static int allocate(struct kallsyms *kallsyms, const struct builder *builder, size_t name_bytes)
{
	for (size_t i = 0; i < builder->nr_modules; i++)
		name_bytes += strlen(builder->names.data + builder->modules[i]) + 1;
	kallsyms->addresses = calloc(builder->nr_functions + 1, sizeof(*kallsyms->addresses));
	kallsyms->names = calloc(builder->nr_functions + 1, sizeof(*kallsyms->names));
	kallsyms->modules = calloc(builder->nr_functions + 1, sizeof(*kallsyms->modules));
	kallsyms->module_names = calloc(builder->nr_modules + 1, sizeof(*kallsyms->module_names));
	kallsyms->text = malloc(name_bytes + 1);
	if (!kallsyms->addresses || !kallsyms->names || !kallsyms->modules ||
	    !kallsyms->module_names || !kallsyms->text)
		return -ENOMEM;
	return 0;
}

static int finish(struct builder *builder, struct kallsyms **ret_kallsyms)
{
	_cleanup_(kallsyms_freep) struct kallsyms *kallsyms = NULL;

	if (!builder->has_lines)
		return -EBADMSG;
	if (builder->highest == 0)
		return -EPERM;
	kallsyms = calloc(1, sizeof(*kallsyms));
	if (!kallsyms)
		return -ENOMEM;

	int r = allocate(kallsyms, builder, sort_functions(builder));
	if (r < 0)
		return r;
	for (size_t i = 0; i < builder->nr_modules; i++)
		kallsyms->module_names[i] = copy_text(kallsyms,
						      builder->names.data + builder->modules[i]);
	for (size_t i = 0; i < builder->nr_functions; i++) {
		const struct function *function = &builder->functions[i];

		kallsyms->addresses[i] = function->address;
		kallsyms->modules[i] = function->module_and_rank >> 2;
		kallsyms->names[i] = copy_text(kallsyms, builder->names.data + function->name);
	}
	kallsyms->nr_functions = builder->nr_functions;
	*ret_kallsyms = take_ptr(kallsyms);
	return 0;
}

/* Reads the file through one buffer. A longer line counts as several malformed ones. */
static int add_file(struct builder *builder, int fd)
{
	_cleanup_free_ char *chunk = malloc(CHUNK_BYTES);
	size_t len = 0;

	if (!chunk)
		return -ENOMEM;
	for (;;) {
		size_t used = 0;
		ssize_t n = fd_read(fd, chunk + len, CHUNK_BYTES - len);

		if (n < 0)
			return (int)n;
		if (n == 0)
			return len > 0 ? add_line(builder, chunk, len) : 0;
		len += (size_t)n;

		int r = add_lines(builder, chunk, len, &used);
		if (r == 0 && used == 0 && len == CHUNK_BYTES) {
			r = add_line(builder, chunk, len);
			used = len;
		}
		if (r < 0)
			return r;
		len -= used;
		memmove(chunk, chunk + used, len);
	}
}

int kallsyms_load(int dir_fd, const char *path, struct kallsyms **ret_kallsyms)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	if (!builder)
		return -ENOMEM;

	int r = add_file(builder, fd);
	return r < 0 ? r : finish(builder, ret_kallsyms);
}

void kallsyms_free(struct kallsyms *kallsyms)
{
	if (!kallsyms)
		return;
	free(kallsyms->addresses);
	free(kallsyms->names);
	free(kallsyms->modules);
	free(kallsyms->module_names);
	free(kallsyms->text);
	free(kallsyms);
}

const char *kallsyms_find(const struct kallsyms *kallsyms, uint64_t address,
			  const char **ret_module)
{
	const uint64_t *addresses = kallsyms->addresses;
	size_t next = search_count(kallsyms->nr_functions, i, addresses[i] <= address);

	if (next == 0 || address - addresses[next - 1] >= KALLSYMS_MAX_FUNCTION_BYTES)
		return NULL;
	if (ret_module)
		*ret_module = kallsyms->text + kallsyms->module_names[kallsyms->modules[next - 1]];
	return kallsyms->text + kallsyms->names[next - 1];
}

void kallsyms_each(const struct kallsyms *kallsyms,
		   void (*handle)(const char *name, uint64_t start, uint64_t end, void *data),
		   void *data)
{
	const uint64_t *addresses = kallsyms->addresses;

	for (size_t i = 0; i < kallsyms->nr_functions; i++) {
		uint64_t end = addresses[i] + KALLSYMS_MAX_FUNCTION_BYTES;

		if (i + 1 < kallsyms->nr_functions)
			end = min_u64(end, addresses[i + 1]);
		handle(kallsyms->text + kallsyms->names[i], addresses[i], end, data);
	}
}
