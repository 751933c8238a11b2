/* SPDX-License-Identifier: Apache-2.0 */
/* A mangled name can refer back to its own parts, so that a hundred bytes stand for gigabytes: each part
 * twice the one before. libiberty would print them all. It bounds its recursion (DMGL_NO_RECURSE_LIMIT
 * must stay off) but not its output, and the function it hands text to cannot make it stop. Hence the
 * longjmp() out of that function once the text is too long.
 *
 * That is safe as far as libiberty holds no memory at that moment. Its C++ demangler uses the stack only.
 * Its Rust demangler allocates where it decodes a Punycode identifier, whose text always has a byte that is
 * not ASCII; the jump waits for the next piece of text that has none. */
#include "symbol/demangle.h"

#include "base/cleanup.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#define MAX_PIECES (4 * DEMANGLE_MAX_BYTES)

struct output {
	char text[DEMANGLE_MAX_BYTES + 1];
	size_t len;
	size_t nr_pieces;
	bool is_full; /* no more room, or far more pieces than a name has */
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
	if (len > DEMANGLE_MAX_BYTES - output->len || output->nr_pieces > MAX_PIECES)
		output->is_full = true;
	if (output->is_full && is_ascii(text, len))
		longjmp(output->give_up, 1);
	if (output->is_full || len == 0)
		return;
	memcpy(output->text + output->len, text, len);
	output->len += len;
}

static void reset(struct output *output)
{
	output->len = 0;
	output->nr_pieces = 0;
	output->is_full = false;
}

/* Runs one of libiberty's demanglers; true when the name is of its kind, even if output->is_full. */
static bool run(int (*demangler)(const char *, int, demangle_callbackref, void *), const char *name,
		int options, struct output *output)
{
	reset(output);
	if (setjmp(output->give_up) != 0)
		return true;
	return demangler(name, options, take_text, output) != 0;
}

/* Without DMGL_PARAMS libiberty does not look at what follows the name and takes anything there. So the
 * long form decides whether the name is one, and the short form is what we want. */
static bool demangle_cplus(const char *name, struct output *output)
{
	return run(cplus_demangle_v3_callback, name, DMGL_PARAMS, output) &&
	       run(cplus_demangle_v3_callback, name, DMGL_NO_OPTS, output);
}

static bool demangle_any(const char *name, struct output *output)
{
	if (run(rust_demangle_callback, name, DMGL_NO_OPTS, output))
		return true;
	return name[1] == 'Z' && demangle_cplus(name, output);
}

bool demangle_is_candidate(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* Where the compiler's suffix begins. Rust's legacy names have dots of their own, but only before an "E". */
static size_t length_without_suffix(const char *name, size_t len)
{
	const char *dot = strchr(name, '.');
	const char *last_e = strrchr(name, 'E');

	while (dot && last_e && dot < last_e)
		dot = strchr(dot + 1, '.');
	return dot ? (size_t)(dot - name) : len;
}

static char *demangle_candidate(const char *name, size_t len)
{
	_cleanup_free_ struct output *output = malloc(sizeof(*output));
	_cleanup_free_ char *bare = strndup(name, length_without_suffix(name, len));

	if (!output || !bare)
		return NULL;
	if (!demangle_any(bare, output) || output->is_full || output->len == 0)
		return strdup(name);
	return strndup(output->text, output->len);
}

char *demangle(const char *name)
{
	size_t len = strnlen(name, DEMANGLE_MAX_BYTES + 1);

	if (!demangle_is_candidate(name) || len > DEMANGLE_MAX_BYTES)
		return strdup(name);
	return demangle_candidate(name, len);
}
