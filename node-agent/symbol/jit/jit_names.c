/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jit_names.h"

#include "base/parse.h"
#include "base/strview.h"
#include "symbol/frame/symbol_frames.h"

#include <ctype.h>
#include <string.h>

#define V8_MARKS "*~^+-"

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

/* Removes ":NUMBER" from the end; returns false if there is none. */
static bool cut_number(struct strview *part, uint32_t *ret_number)
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

/* Returns the offset of the blank before the filename in "get x /a dir/b.js". Names and paths may
 * contain blanks, so it is the first blank before something that looks like a path, else the last
 * one. */
static size_t find_file(const struct strview *part)
{
	static const char *const starts[] = { " /", " node:", " file:" };
	const char *end = part->text + part->len;
	const char *blank = memchr(part->text, ' ', part->len);
	size_t found = part->len;

	while (blank) {
		const struct strview rest = { blank, (size_t)(end - blank) };

		found = part->len - rest.len;
		for (size_t i = 0; i < array_len(starts); i++)
			if (strview_starts_with(rest, starts[i]))
				return found;
		blank = memchr(blank + 1, ' ', rest.len - 1);
	}
	return found;
}

static void set_parts(struct jit_name_parts *parts, const char *system_name, struct strview first,
		      struct strview second)
{
	parts->first = (uint16_t)(first.text - system_name);
	parts->first_len = (uint16_t)first.len;
	parts->second = (uint16_t)(second.text - system_name);
	parts->second_len = (uint16_t)second.len;
	parts->base = (uint16_t)(strview_behind_last(second, '/').text - system_name);
}

static void split_v8(const char *system_name, const struct v8_prefix *prefix,
		     struct jit_name_parts *parts)
{
	uint32_t line = 0;
	uint32_t other;

	parts->language = LANGUAGE_V8JS;
	if (!prefix->is_source)
		return;
	const char *text = system_name + strlen(prefix->text);
	size_t nr_marks = *text && strchr(V8_MARKS, *text) ? 1 : 0;
	struct strview rest = { text + nr_marks, strlen(text + nr_marks) };
	if (cut_number(&rest, &line) && cut_number(&rest, &other))
		line = other; /* the last number was the column */
	size_t name_len = line > 0 ? find_file(&rest) : rest.len;
	struct strview file = { rest.text + name_len, rest.len - name_len };
	if (file.len > 0)
		file = (struct strview){ file.text + 1, file.len - 1 };

	parts->shape = name_len > 0 ? JIT_NAME_SOURCE : JIT_NAME_ANONYMOUS;
	parts->start_line = line;
	set_parts(parts, system_name, (struct strview){ text, nr_marks + name_len }, file);
}

/* Removes "/0x0000000036040428" from the end of a class name; also with . or + instead of /. */
static void cut_hidden(struct strview *class_name)
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

static void set_method(struct jit_name_parts *parts, const char *system_name,
		       struct strview class_name, struct strview method)
{
	cut_hidden(&class_name);
	if (class_name.len == 0 || method.len == 0)
		return;
	parts->shape = JIT_NAME_METHOD;
	set_parts(parts, system_name, class_name, method);
}

/* "Lcom/foo/Bar;::baz" or "Lcom/foo/Bar;baz(I)V" */
static void split_signature(const char *system_name, const char *semicolon,
			    struct jit_name_parts *parts)
{
	const char *method = semicolon + 1;

	method += strncmp(method, "::", 2) == 0 ? 2 : 0;
	set_method(parts, system_name,
		   (struct strview){ system_name + 1, (size_t)(semicolon - system_name - 1) },
		   (struct strview){ method, strcspn(method, "(") });
}

/* "double com.foo.Bar.baz(int, long)" or "com.foo.Bar.baz". Not "SafepointBlob
 * (1)", nor "I2C/C2I adapters". */
static void split_declaration(const char *system_name, struct jit_name_parts *parts)
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
		return;
	set_method(parts, system_name, (struct strview){ qualified, (size_t)(dot - qualified) },
		   (struct strview){ dot + 1, (size_t)(end - dot - 1) });
}

static void split_java(const char *system_name, struct jit_name_parts *parts)
{
	const char *semicolon = strchr(system_name, ';');

	parts->language = LANGUAGE_JVM;
	if (system_name[0] == 'L' && semicolon)
		split_signature(system_name, semicolon, parts);
	else
		split_declaration(system_name, parts);
}

struct jit_name_parts jit_names_split(const char *system_name, bool is_java)
{
	struct jit_name_parts parts = { .shape = JIT_NAME_PLAIN, .language = LANGUAGE_JIT };
	const struct v8_prefix *prefix = is_java ? NULL : find_v8_prefix(system_name);

	if (strlen(system_name) > JIT_NAME_MAX_BYTES)
		return parts;
	if (is_java)
		split_java(system_name, &parts);
	else if (prefix)
		split_v8(system_name, prefix, &parts);
	return parts;
}

bool jit_names_can_have(const struct jit_name_parts *parts, size_t name_len)
{
	size_t end = (size_t)parts->second + parts->second_len;

	return parts->shape < JIT_NAME_SHAPES &&
	       (parts->language == LANGUAGE_JIT || parts->language == LANGUAGE_V8JS ||
		parts->language == LANGUAGE_JVM) &&
	       (size_t)parts->first + parts->first_len <= name_len && end <= name_len &&
	       (parts->shape == JIT_NAME_PLAIN ||
		(parts->base >= parts->second && parts->base <= end));
}

/* Appends "(anonymous) x.js:12", which tells functions without a name apart. */
static void append_anonymous(struct strbuf *scratch, const char *system_name,
			     const struct jit_name_parts *parts)
{
	size_t base_len = (size_t)parts->second + parts->second_len - parts->base;

	strbuf_append_str(scratch, "(anonymous)");
	if (parts->second_len == 0)
		return;
	strbuf_append_char(scratch, ' ');
	strbuf_append(scratch, system_name + parts->base, base_len);
	strbuf_appendf(scratch, ":%u", parts->start_line);
}

static void append_method(struct strbuf *scratch, struct strview method)
{
	for (size_t i = 0; i < scratch->len; i++)
		if (scratch->data[i] == '/')
			scratch->data[i] = '.';
	strbuf_append_str(scratch, "::");
	strbuf_append(scratch, method.text, method.len);
}

struct jit_name jit_names_join(const char *system_name, const struct jit_name_parts *parts,
			       struct strbuf *scratch)
{
	const struct strview second = { system_name + parts->second, parts->second_len };
	const struct jit_name plain = { .name = system_name, .filename = "" };

	if (parts->shape == JIT_NAME_PLAIN)
		return plain;
	strbuf_clear(scratch);
	strbuf_append(scratch, system_name + parts->first, parts->first_len);
	if (parts->shape == JIT_NAME_METHOD)
		append_method(scratch, second);
	else if (parts->shape == JIT_NAME_ANONYMOUS)
		append_anonymous(scratch, system_name, parts);
	strbuf_append_char(scratch, '\0');
	size_t file_start = scratch->len;
	if (parts->shape != JIT_NAME_METHOD)
		strbuf_append(scratch, second.text, second.len);
	if (strbuf_error(scratch) < 0)
		return plain;
	return (struct jit_name){
		.name = scratch->data,
		.filename = scratch->data + file_start,
		.start_line = parts->start_line,
	};
}
