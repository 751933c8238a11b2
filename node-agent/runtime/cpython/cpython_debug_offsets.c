/* SPDX-License-Identifier: Apache-2.0 */
/* The structure is a cookie, the version, whether the build is free-threaded, and then groups of
 * 64-bit words, one for each C structure. A group begins with the size of its structure. Each
 * version adds words at the end of groups, and new groups, so that the beginning of a group depends
 * on the version. */
#include "runtime/cpython/cpython_debug_offsets.h"

#include "base/cleanup.h"
#include "runtime/cpython/cpython_naming.h"
#include "runtime/cpython/cpython_values.h"

#include <string.h>

#define COOKIE "xdebugpy"
#define VERSION_BITS 0xffffff00u /* without the release level */
#define SHIM_OWNER 3 /* FRAME_OWNED_BY_CSTACK in 3.13, FRAME_OWNED_BY_INTERPRETER since */
#define MAX_OFFSET 0x8000
#define NR_WORDS (CPYTHON_DEBUG_OFFSETS_BYTES / 8)
/* PyCompactUnicodeObject adds utf8_length and utf8 to PyASCIIObject. */
#define COMPACT_UNICODE_BYTES 16

enum { WORD_COOKIE, WORD_VERSION, WORD_FREE_THREADED, WORD_RUNTIME };

enum group {
	GROUP_RUNTIME,
	GROUP_INTERPRETER,
	GROUP_THREAD,
	GROUP_FRAME,
	GROUP_CODE,
	GROUP_BYTES,
	GROUP_UNICODE,
	NR_GROUPS,
};

struct version {
	uint8_t minor;
	uint8_t groups[NR_GROUPS]; /* the index of each group's size */
	uint8_t thread_id; /* in GROUP_THREAD */
	bool has_tlbc;
};

static const struct version versions[] = {
	{ 13, { WORD_RUNTIME, 6, 19, 28, 34, 64, 67 }, 5, false },
	{ 14, { WORD_RUNTIME, 6, 22, 31, 39, 74, 77 }, 5, true },
	{ 15, { WORD_RUNTIME, 6, 22, 39, 47, 86, 89 }, 8, true },
};

/* The place of a field's offset: a word behind the size of its group. */
struct field {
	uint8_t value; /* CPYTHON_OFFSET_… */
	uint8_t group; /* enum group */
	uint8_t word;
};

#define TLBC_INDEX_WORD 7
#define CODE_TLBC_WORD 10

static const struct field fields[] = {
	{ CPYTHON_OFFSET_INTERPRETERS, GROUP_RUNTIME, 2 },
	{ CPYTHON_OFFSET_INTERPRETER_NEXT, GROUP_INTERPRETER, 2 },
	{ CPYTHON_OFFSET_THREADS, GROUP_INTERPRETER, 3 },
	{ CPYTHON_OFFSET_THREAD_NEXT, GROUP_THREAD, 2 },
	{ CPYTHON_OFFSET_CURRENT_FRAME, GROUP_THREAD, 4 },
	{ CPYTHON_OFFSET_FRAME_PREVIOUS, GROUP_FRAME, 1 },
	{ CPYTHON_OFFSET_FRAME_CODE, GROUP_FRAME, 2 },
	{ CPYTHON_OFFSET_FRAME_INSTR, GROUP_FRAME, 3 },
	{ CPYTHON_OFFSET_FRAME_OWNER, GROUP_FRAME, 5 },
	{ CPYTHON_OFFSET_CODE_FILENAME, GROUP_CODE, 1 },
	{ CPYTHON_OFFSET_CODE_NAME, GROUP_CODE, 2 },
	{ CPYTHON_OFFSET_CODE_QUALNAME, GROUP_CODE, 3 },
	{ CPYTHON_OFFSET_CODE_LINETABLE, GROUP_CODE, 4 },
	{ CPYTHON_OFFSET_CODE_FIRSTLINENO, GROUP_CODE, 5 },
	{ CPYTHON_OFFSET_CODE_BYTECODE, GROUP_CODE, 9 },
	{ CPYTHON_OFFSET_BYTES_SIZE, GROUP_BYTES, 1 },
	{ CPYTHON_OFFSET_BYTES_DATA, GROUP_BYTES, 2 },
	{ CPYTHON_OFFSET_UNICODE_STATE, GROUP_UNICODE, 1 },
	{ CPYTHON_OFFSET_UNICODE_LENGTH, GROUP_UNICODE, 2 },
};

static bool is_version(const struct version *version, uint32_t number)
{
	return CPYTHON_MAJOR(number) == 3 && CPYTHON_MINOR(number) == version->minor;
}

/* Returns the newest version if the number is unknown. */
static const struct version *find_version(uint32_t number)
{
	for (size_t i = 0; i < array_len(versions); i++)
		if (is_version(&versions[i], number))
			return &versions[i];
	return &versions[array_len(versions) - 1];
}

/* Takes a field over, which must lie in its structure. */
static int take_field(const uint64_t *words, uint32_t first, uint32_t word, uint64_t *ret_offset)
{
	uint64_t offset = words[first + word];

	if (offset >= MAX_OFFSET || offset >= words[first])
		return -EBADMSG;
	*ret_offset = offset;
	return 0;
}

static int take_text(const uint64_t *words, const struct version *version, uint64_t *values)
{
	uint32_t unicode = version->groups[GROUP_UNICODE];
	uint64_t ascii_bytes = words[unicode + 3];

	if (ascii_bytes == 0 || ascii_bytes > words[unicode] || words[unicode] > MAX_OFFSET)
		return -EBADMSG;
	values[CPYTHON_OFFSET_ASCII_DATA] = ascii_bytes;
	values[CPYTHON_OFFSET_COMPACT_DATA] = ascii_bytes + COMPACT_UNICODE_BYTES;
	return 0;
}

/* Threads have copies of bytecode of their own. */
static int take_tlbc(const uint64_t *words, const struct version *version, uint64_t *values)
{
	int r = take_field(words, version->groups[GROUP_FRAME], TLBC_INDEX_WORD,
			   &values[CPYTHON_OFFSET_FRAME_TLBC_INDEX]);

	return r < 0 ? r
		     : take_field(words, version->groups[GROUP_CODE], CODE_TLBC_WORD,
				  &values[CPYTHON_OFFSET_CODE_TLBC]);
}

static int take_offsets(const uint64_t *words, const struct version *version, uint64_t *values)
{
	for (size_t i = 0; i < CPYTHON_NR_OFFSETS; i++)
		values[CPYTHON_FIRST_OFFSET + i] = CPYTHON_NONE;
	for (size_t i = 0; i < array_len(fields); i++) {
		int r = take_field(words, version->groups[fields[i].group], fields[i].word,
				   &values[fields[i].value]);
		if (r < 0)
			return r;
	}

	int r = take_field(words, version->groups[GROUP_THREAD], version->thread_id,
			   &values[CPYTHON_OFFSET_THREAD_ID]);
	if (r == 0)
		r = take_text(words, version, values);
	if (r == 0 && version->has_tlbc && words[WORD_FREE_THREADED] != 0)
		r = take_tlbc(words, version, values);
	return r;
}

int cpython_debug_offsets_decode(const uint8_t bytes[static CPYTHON_DEBUG_OFFSETS_BYTES],
				 struct runtime_file *file)
{
	struct runtime_file fresh = *file;
	uint64_t words[NR_WORDS];

	memcpy(words, bytes, sizeof(words));
	if (memcmp(bytes, COOKIE, sizeof(words[WORD_COOKIE])) != 0 ||
	    words[WORD_VERSION] > UINT32_MAX ||
	    ((uint32_t)words[WORD_VERSION] & VERSION_BITS) != file->version)
		return -EBADMSG;

	const struct version *version = find_version(file->version);
	int r = take_offsets(words, version, fresh.values);
	if (r < 0)
		return r;
	fresh.values[CPYTHON_CHAIN] = CPYTHON_CHAIN_BY_SHIM;
	fresh.values[CPYTHON_INSTR] = CPYTHON_INSTR_POINTER;
	fresh.values[CPYTHON_LINES] = CPYTHON_LINES_LOCATIONS;
	fresh.values[CPYTHON_SHIM_OWNER] = SHIM_OWNER;
	fresh.values[CPYTHON_FREE_THREADED] = words[WORD_FREE_THREADED] != 0;
	fresh.values[CPYTHON_IS_GUESS] = !is_version(version, file->version);
	fresh.values[CPYTHON_HAS_OFFSETS] = 1;
	*file = fresh;
	return 0;
}
