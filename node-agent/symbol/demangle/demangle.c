/* SPDX-License-Identifier: Apache-2.0 */
/* A mangled name can refer back to its own parts. If each part contains the previous one twice, a
 * hundred bytes stand for gigabytes, and libiberty would print them all. It limits its recursion
 * (DMGL_NO_RECURSE_LIMIT must stay off) but not its output, and its callback cannot abort it.
 * Therefore the callback leaves it with longjmp() when the text is too long.
 *
 * This is safe if libiberty holds no memory at that moment. Its C++ demangler uses only the stack.
 * Its Rust demangler allocates memory when it decodes a Punycode identifier, whose text always has
 * a byte that is not ASCII, so the jump waits for the next piece of ASCII text.
 *
 * Its D demangler returns the whole text at once. For some names, a few bytes more double its time
 * or its output, and without memory it ends the process. The time and memory limits of the symbol
 * worker bound it (symbol_worker_names.c). */
#include "symbol/demangle/demangle.h"

#include "base/cleanup.h"
#include "symbol/demangle/short_name.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

/* Maximum length of a name before it is shortened. */
#define MAX_LONG_BYTES (8 * DEMANGLE_MAX_BYTES)
#define MAX_PIECES (4 * MAX_LONG_BYTES)

struct output {
	char text[MAX_LONG_BYTES + 1];
	size_t len;
	size_t nr_pieces;
	bool is_full; /* there is no more room, or there were far too many pieces */
	jmp_buf give_up;
};

static bool is_ascii(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

static void take_text(const char *text, size_t len, void *opaque)
{
	struct output *output = opaque;

	output->nr_pieces++;
	if (len > MAX_LONG_BYTES - output->len || output->nr_pieces > MAX_PIECES)
		output->is_full = true;
	if (output->is_full && is_ascii(text, len))
		longjmp(output->give_up, 1);
	if (output->is_full || len == 0)
		return;
	memcpy(output->text + output->len, text, len);
	output->len += len;
}

/* Runs a demangler of libiberty. Returns true if the name is of its kind,
 * even if the output is full. */
static bool run(int (*demangler)(const char *, int, demangle_callbackref, void *), const char *name,
		int options, struct output *output)
{
	output->len = 0;
	output->nr_pieces = 0;
	output->is_full = false;
	if (setjmp(output->give_up) != 0)
		return true;
	if (demangler(name, options, take_text, output) == 0)
		return false;
	output->text[output->len] = '\0';
	return true;
}

/* Returns a copy of the text, or of the name if the text is empty or too long. */
static char *copy_bounded(const char *text, const char *name)
{
	size_t len = strlen(text);

	return strdup(len == 0 || len > DEMANGLE_MAX_BYTES ? name : text);
}

/* Returns a copy of the output in a style. */
static char *copy_output(const struct output *output, enum demangle_style style,
			 bool (*shorten)(const char *, char *), const char *name)
{
	_cleanup_free_ char *text = malloc(output->len + 1);

	if (!text)
		return NULL;
	if (output->is_full)
		return strdup(name);
	if (style == DEMANGLE_SHORT && shorten(output->text, text))
		return copy_bounded(text, name);
	return copy_bounded(output->text, name);
}

static bool is_plain(const char *name)
{
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_' && *name != '$')
			return false;
	return true;
}

/* Without DMGL_PARAMS, libiberty ignores everything behind the name. This helps where it does
 * not know the types of new compilers. But a name with characters that are rare in mangled names
 * must be valid to its end. */
static bool demangle_without_parameters(const char *name, struct output *output)
{
	if (!is_plain(name) && !run(cplus_demangle_v3_callback, name, DMGL_PARAMS, output))
		return false;
	return run(cplus_demangle_v3_callback, name, DMGL_NO_OPTS, output);
}

static char *demangle_cplus(const char *name, const char *bare, enum demangle_style style,
			    struct output *output)
{
	int full = DMGL_PARAMS | DMGL_ANSI | DMGL_VERBOSE;
	bool is_cplus = style == DEMANGLE_SHORT
				? demangle_without_parameters(bare, output)
				: run(cplus_demangle_v3_callback, name, full, output);

	return is_cplus ? copy_output(output, style, short_name_cplus, name) : strdup(name);
}

static char *demangle_d(const char *name, const char *bare, enum demangle_style style)
{
	_cleanup_free_ char *text = dlang_demangle(bare, DMGL_NO_OPTS);
	_cleanup_free_ char *text_short = text ? strdup(text) : NULL;

	if (!text)
		return strdup(name);
	if (!text_short)
		return NULL;
	if (style == DEMANGLE_SHORT && short_name_d(text, text_short))
		return copy_bounded(text_short, name);
	return copy_bounded(text, name);
}

/* In D's names, "_D" is followed by a length, a back reference or a template. */
static bool is_d(const char *name)
{
	return name[0] == '_' && name[1] == 'D' &&
	       (isdigit((unsigned char)name[2]) || name[2] == 'Q' || name[2] == '_' ||
		strcmp(name + 2, "main") == 0);
}

/* Returns the length without the compiler's suffix, which begins with a dot. Rust's legacy names
 * also contain dots, but only before an "E". */
static size_t length_without_suffix(const char *name, size_t len)
{
	const char *dot = strchr(name, '.');
	const char *last_e = strrchr(name, 'E');

	while (dot && last_e && dot < last_e)
		dot = strchr(dot + 1, '.');
	return dot ? (size_t)(dot - name) : len;
}

static char *demangle_mangled(const char *name, size_t len, enum demangle_style style)
{
	_cleanup_free_ struct output *output = malloc(sizeof(*output));
	_cleanup_free_ char *bare = strndup(name, length_without_suffix(name, len));

	if (!output || !bare)
		return NULL;
	if (name[1] == 'D')
		return demangle_d(name, bare, style);
	if (run(rust_demangle_callback, bare, DMGL_NO_OPTS, output))
		return copy_output(output, style, short_name_rust, name);
	if (name[1] == 'Z')
		return demangle_cplus(name, bare, style, output);
	return strdup(name);
}

static char *shorten_go(const char *name, size_t len)
{
	_cleanup_free_ char *text = malloc(len + 1);

	if (!text)
		return NULL;
	return short_name_go(name, text) ? take_ptr(text) : strdup(name);
}

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || is_d(name));
}

/* Objective-C's methods have brackets, too, but at the beginning: "-[NSString length]". */
static bool may_be_go(const char *name)
{
	const char *bracket = strchr(name, '[');

	return bracket && memchr(name, '.', (size_t)(bracket - name));
}

bool demangle_is_candidate(const char *name)
{
	return is_mangled(name) || may_be_go(name) || strchr(name, '@');
}

/* Returns the length without the version that the linker adds to a library's function:
 * "dlopen@GLIBC_2.2.5", "read@@GLIBC_2.2.5". The name of a stub, "read@plt", has none. */
static size_t length_without_version(const char *name, size_t len)
{
	const char *at = strchr(name, '@');

	return !at || at == name || strcmp(at, "@plt") == 0 ? len : (size_t)(at - name);
}

char *demangle(const char *name, enum demangle_style style)
{
	size_t len = strnlen(name, DEMANGLE_MAX_BYTES + 1);

	if (style == DEMANGLE_NONE || len > DEMANGLE_MAX_BYTES)
		return strdup(name);
	if (style == DEMANGLE_SHORT && may_be_go(name))
		return shorten_go(name, len);
	_cleanup_free_ char *bare = strndup(name, length_without_version(name, len));
	if (!bare || !is_mangled(name))
		return take_ptr(bare);
	return demangle_mangled(bare, strlen(bare), style);
}
