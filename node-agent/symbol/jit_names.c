/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit_names.h"

#include "base/parse.h"

#include <ctype.h>
#include <string.h>

#define V8_MARKS "*~^+-"

/* A part of a name. */
struct part {
	const char *text;
	size_t len;
};

struct v8_prefix {
	const char *text;
	bool is_source; /* mark, name and place of a function follow */
};

static const struct v8_prefix v8_prefixes[] = {
	{ "JS:", true },
	{ "LazyCompile:", true },
	{ "Function:", true },
	{ "Eval:", true },
	{ "Script:", true },
	{ "Builtin:", false },
	{ "BytecodeHandler:", false },
	{ "RegExp:", false },
	{ "Stub:", false },
};

static const struct v8_prefix *find_v8_prefix(const char *name)
{
	for (size_t i = 0; i < array_len(v8_prefixes); i++)
		if (strncmp(name, v8_prefixes[i].text, strlen(v8_prefixes[i].text)) == 0)
			return &v8_prefixes[i];
	return NULL;
}

bool jit_names_is_v8(const char *system_name)
{
	return find_v8_prefix(system_name) != NULL;
}

static struct jit_name as_it_is(const char *system_name)
{
	return (struct jit_name){ .name = system_name, .filename = "" };
}

/* Takes ":NUMBER" off the end; false when there is none. */
static bool cut_number(struct part *part, uint32_t *ret_number)
{
	size_t start = part->len;
	uint64_t number;

	while (start > 0 && isdigit((unsigned char)part->text[start - 1]))
		start--;
	const char *cursor = part->text + start;
	if (start == 0 || start == part->len || part->text[start - 1] != ':' ||
	    parse_digits(&cursor, part->text + part->len, 10, &number) < 0 || number > UINT32_MAX)
		return false;
	part->len = start - 1;
	*ret_number = (uint32_t)number;
	return true;
}

/* Where the file's name begins in "get x /a dir/b.js": names and paths have blanks, so what looks like a path
 * decides, and else the last blank. */
static size_t find_file(const struct part *part)
{
	static const char *const starts[] = { " /", " node:", " file:" };
	size_t found = part->len;

	for (size_t i = 0; i < array_len(starts); i++) {
		const char *start = memmem(part->text, part->len, starts[i], strlen(starts[i]));

		if (start && (size_t)(start - part->text) < found)
			found = (size_t)(start - part->text);
	}
	const char *blank = memrchr(part->text, ' ', part->len);
	return found == part->len && blank ? (size_t)(blank - part->text) : found;
}

static struct part base_name(struct part path)
{
	const char *slash = memrchr(path.text, '/', path.len);
	size_t skipped = slash ? (size_t)(slash + 1 - path.text) : 0;

	return (struct part){ path.text + skipped, path.len - skipped };
}

static void append_part(struct strbuf *scratch, struct part part)
{
	strbuf_append(scratch, part.text, part.len);
}

/* Writes "(anonymous) x.js:12", by which functions without a name are told apart. */
static void append_anonymous(struct strbuf *scratch, struct part file, uint32_t line)
{
	strbuf_append_str(scratch, "(anonymous)");
	if (file.len == 0)
		return;
	strbuf_append_char(scratch, ' ');
	append_part(scratch, base_name(file));
	strbuf_appendf(scratch, ":%u", line);
}

struct jit_name jit_names_read_v8(const char *system_name, struct strbuf *scratch)
{
	const struct v8_prefix *prefix = find_v8_prefix(system_name);
	uint32_t line = 0;
	uint32_t other;

	if (!prefix || !prefix->is_source)
		return as_it_is(system_name);
	const char *text = system_name + strlen(prefix->text);
	size_t nr_marks = *text && strchr(V8_MARKS, *text) ? 1 : 0;
	struct part rest = { text + nr_marks, strlen(text + nr_marks) };
	if (cut_number(&rest, &line) && cut_number(&rest, &other))
		line = other; /* the last was the column */
	size_t name_len = line > 0 ? find_file(&rest) : rest.len;
	struct part file = { rest.text + name_len, rest.len - name_len };
	if (file.len > 0)
		file = (struct part){ file.text + 1, file.len - 1 };

	strbuf_clear(scratch);
	append_part(scratch, (struct part){ text, nr_marks });
	append_part(scratch, (struct part){ rest.text, name_len });
	if (name_len == 0)
		append_anonymous(scratch, file, line);
	strbuf_append_char(scratch, '\0');
	size_t file_start = scratch->len;
	append_part(scratch, file);
	if (strbuf_error(scratch) < 0)
		return as_it_is(system_name);
	return (struct jit_name){
		.name = scratch->data,
		.filename = scratch->data + file_start,
		.start_line = line,
	};
}

/* Cuts "/0x0000000036040428" off the end of a class's name; also with . or + before it. */
static void cut_hidden(struct part *class_name)
{
	const char *start = memmem(class_name->text, class_name->len, "0x", 2);
	size_t kept = start ? (size_t)(start - class_name->text) : 0;

	if (kept < 2 || !strchr("/.+", start[-1]))
		return;
	for (size_t i = kept + 2; i < class_name->len; i++)
		if (!isxdigit((unsigned char)class_name->text[i]))
			return;
	class_name->len = kept - 1;
}

static struct jit_name join_java(const char *system_name, struct part class_name,
				 struct part method, struct strbuf *scratch)
{
	strbuf_clear(scratch);
	cut_hidden(&class_name);
	append_part(scratch, class_name);
	strbuf_append_str(scratch, "::");
	append_part(scratch, method);
	if (class_name.len == 0 || method.len == 0 || strbuf_error(scratch) < 0)
		return as_it_is(system_name);
	for (size_t i = 0; i < class_name.len; i++)
		if (scratch->data[i] == '/')
			scratch->data[i] = '.';
	return (struct jit_name){ .name = scratch->data, .filename = "" };
}

/* "Lcom/foo/Bar;::baz" or "Lcom/foo/Bar;baz(I)V" */
static struct jit_name read_signature(const char *system_name, const char *semicolon,
				      struct strbuf *scratch)
{
	const char *method = semicolon + 1;

	method += strncmp(method, "::", 2) == 0 ? 2 : 0;
	return join_java(system_name,
			 (struct part){ system_name + 1, (size_t)(semicolon - system_name - 1) },
			 (struct part){ method, strcspn(method, "(") }, scratch);
}

/* "double com.foo.Bar.baz(int, long)" or "com.foo.Bar.baz". Not "SafepointBlob (1)", nor "I2C/C2I adapters". */
static struct jit_name read_declaration(const char *system_name, struct strbuf *scratch)
{
	size_t len = strlen(system_name);
	size_t head_len = strcspn(system_name, "(");
	const char *blank = memrchr(system_name, ' ', head_len);
	const char *qualified = blank ? blank + 1 : system_name;
	const char *end = system_name + head_len;
	const char *dot = memrchr(qualified, '.', (size_t)(end - qualified));
	bool has_arguments = head_len < len && system_name[len - 1] == ')';
	bool has_type = blank && memchr(system_name, ' ', head_len) == blank;

	if (!dot || (head_len < len && !has_arguments) || (blank && (!has_arguments || !has_type)))
		return as_it_is(system_name);
	return join_java(system_name, (struct part){ qualified, (size_t)(dot - qualified) },
			 (struct part){ dot + 1, (size_t)(end - dot - 1) }, scratch);
}

struct jit_name jit_names_read_java(const char *system_name, struct strbuf *scratch)
{
	const char *semicolon = strchr(system_name, ';');

	if (system_name[0] == 'L' && semicolon)
		return read_signature(system_name, semicolon, scratch);
	return read_declaration(system_name, scratch);
}
