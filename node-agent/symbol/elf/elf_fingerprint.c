/* SPDX-License-Identifier: Apache-2.0 */
/* A fingerprint covers the symbols and everything else that the names of functions depend on: the
 * stubs of the linkage table and the relocations of their slots, the relocation of the base address
 * of Go's table, call frame information, and debug information.
 *
 * Sections may overlap, so their total size has a limit of its own: twice the limit of one section.
 * Names of sections may overlap as well, so only the beginning of each name is searched.
 *
 * The first and last bytes of the file are covered, too, because its htlhash depends on them, and
 * files that share a table share this hash. */
#include "symbol/elf/elf_fingerprint.h"

#include "base/hash.h"
#include "base/hex.h"
#include "symbol/elf/elf_symbol_table.h"
#include "symbol/elf/htlhash.h"
#include "symbol/elf/symbol_source.h"

#include <string.h>

#define CHUNK_BYTES ((size_t)256 * 1024)
#define MAX_SECTION_NAME 256 /* bytes that are searched; compilers write less than 50 */

/* The state while a fingerprint is taken. */
struct taking {
	struct elf_reader reader;
	struct elf_section_names names;
	const struct elf_fingerprint_opts *opts; /* borrowed */
	uint64_t hashed_bytes; /* of all sections together */
	struct elf_fingerprint print;
	char chunk[CHUNK_BYTES];
};

static void taking_freep(struct taking **taking)
{
	if (!*taking)
		return;
	elf_section_names_done(&(*taking)->names);
	elf_reader_done(&(*taking)->reader);
	free(*taking);
}

/* Adds a piece: the new hash is that of the old hash and the hash of the piece. */
static void chain(struct taking *taking, const void *data, size_t len)
{
	uint64_t both[4] = { taking->print.hash[0], taking->print.hash[1] };

	hash_128_seeded(data, len, taking->opts->seed, &both[2]);
	hash_128_seeded(both, sizeof(both), taking->opts->seed, taking->print.hash);
}

static int chain_range(struct taking *taking, uint64_t offset, uint64_t len)
{
	if (len > taking->opts->max_bytes || taking->hashed_bytes > taking->opts->max_bytes)
		return -ENOSPC;
	taking->hashed_bytes += len;
	for (uint64_t pos = 0; pos < len; pos += CHUNK_BYTES) {
		size_t now = len - pos < CHUNK_BYTES ? (size_t)(len - pos) : CHUNK_BYTES;

		int r = elf_reader_read(&taking->reader, offset + pos, taking->chunk, now);
		if (r < 0)
			return r;
		chain(taking, taking->chunk, now);
	}
	return 0;
}

static int chain_table(struct taking *taking, uint32_t type)
{
	struct elf_symbol_table table;

	int r = elf_symbol_table_find(&taking->reader, type, &table);
	if (r < 0)
		return r == -ENOENT ? 0 : r;

	/* Without section headers, nothing else that is hashed has these offsets. */
	chain(taking, &table, sizeof(table));
	r = chain_range(taking, table.symbols_offset, table.symbols_len);
	return r < 0 ? r : chain_range(taking, table.names_offset, table.names_len);
}

static int chain_sections(struct taking *taking)
{
	static const char *const names[] = {
		".gnu_debugdata", ".gopclntab",	    ".data.rel.ro.gopclntab",
		".go.module",	  ".gnu_debuglink", ".gnu_debugaltlink",
		".plt",		  ".plt.sec",	    ".plt.got",
	};
	int r = 0;

	for (size_t i = 0; i < array_len(names) && r == 0; i++) {
		const GElf_Shdr *section = elf_section_find(&taking->names, &taking->reader,
							    names[i]);

		if (section)
			r = chain_range(taking, section->sh_offset, section->sh_size);
	}
	return r;
}

/* Functions without a name come from .eh_frame. */
static int chain_eh_frame(struct taking *taking)
{
	GElf_Shdr section;

	if (!symbol_source_find_eh_frame(&taking->reader, &taking->names, &section))
		return 0;
	chain(taking, &section, sizeof(section));
	return chain_range(taking, section.sh_offset, section.sh_size);
}

/* Large files have many megabytes of relocations, but only few files need them. */
static int chain_relocations(struct taking *taking)
{
	const struct elf_reader *reader = &taking->reader;
	const GElf_Shdr *plt = elf_section_find(&taking->names, reader, ".rela.plt");
	bool needs_all = elf_section_find(&taking->names, reader, ".plt.got") ||
			 elf_sections_find_gopclntab(&taking->names, reader);
	int r = 0;

	for (size_t i = 0; i < reader->nr_sections && r == 0; i++) {
		const GElf_Shdr *section = &reader->sections[i];

		if (section == plt ||
		    (needs_all && section->sh_type == SHT_RELA && section->sh_flags & SHF_ALLOC))
			r = chain_range(taking, section->sh_offset, section->sh_size);
	}
	return r;
}

/* ".debug_info", ".zdebug_info", ".gnu.debuglto_.debug_info" */
static bool is_debug_section(const struct taking *taking, const GElf_Shdr *section)
{
	const struct elf_section_names *names = &taking->names;

	if (section->sh_type == SHT_NOBITS || section->sh_name >= names->len)
		return false;

	const char *name = names->names + section->sh_name;
	return memmem(name, strnlen(name, MAX_SECTION_NAME), "debug_", strlen("debug_"));
}

static int chain_debug_sections(struct taking *taking)
{
	const struct elf_reader *reader = &taking->reader;
	uint64_t left = taking->opts->max_debug_bytes;
	int r = 0;

	if (left == 0)
		left = ELF_FINGERPRINT_MAX_DEBUG_BYTES;
	for (size_t i = 0; i < reader->nr_sections && r == 0; i++) {
		const GElf_Shdr *section = &reader->sections[i];

		if (!is_debug_section(taking, section))
			continue;
		if (section->sh_size > left)
			return -ENOSPC;
		left -= section->sh_size;
		r = chain_range(taking, section->sh_offset, section->sh_size);
	}
	return r;
}

static int chain_headers(struct taking *taking)
{
	const struct elf_reader *reader = &taking->reader;

	chain(taking, reader->segments, reader->nr_segments * sizeof(GElf_Phdr));
	chain(taking, reader->sections, reader->nr_sections * sizeof(GElf_Shdr));
	chain(taking, &reader->machine, sizeof(reader->machine));

	int r = elf_section_names_load(&taking->names, &taking->reader);
	if (r == 0)
		chain(taking, taking->names.names, taking->names.len);
	return r;
}

/* Makes sure that copies have the same htlhash. */
static int chain_htlhash(struct taking *taking)
{
	struct htlhash_input input;

	int r = htlhash_read(&taking->reader, &input);
	if (r == 0)
		chain(taking, input.bytes, input.len);
	return r;
}

int elf_fingerprint_take(int fd, const struct elf_fingerprint_opts *opts,
			 struct elf_fingerprint *ret_print)
{
	_cleanup_(taking_freep) struct taking *taking = calloc(1, sizeof(*taking));

	if (!taking)
		return -ENOMEM;
	taking->opts = opts;
	taking->reader.fd = -EBADF;

	int r = elf_reader_init(&taking->reader, fd);
	if (r < 0)
		return r;
	taking->print.size = taking->reader.size;
	elf_reader_build_id(&taking->reader, taking->print.build_id);
	r = chain_htlhash(taking);
	if (r == 0)
		r = chain_headers(taking);
	if (r == 0)
		r = chain_table(taking, SHT_SYMTAB);
	if (r == 0)
		r = chain_table(taking, SHT_DYNSYM);
	if (r == 0)
		r = chain_sections(taking);
	if (r == 0)
		r = chain_eh_frame(taking);
	if (r == 0)
		r = chain_relocations(taking);
	if (r == 0 && opts->wants_lines)
		r = chain_debug_sections(taking);
	if (r == 0)
		*ret_print = taking->print;
	return r;
}

/* Returns whether there are only zeros behind the digits, so that fingerprints
 * can be compared as bytes. */
static bool is_build_id_sound(const struct elf_fingerprint *print)
{
	size_t len = strnlen(print->build_id, sizeof(print->build_id));

	if (len > 2 * ELF_BUILD_ID_MAX || !hex_is(print->build_id, len))
		return false;
	while (len < sizeof(print->build_id) && print->build_id[len] == '\0')
		len++;
	return len == sizeof(print->build_id);
}

int elf_fingerprint_parse(const void *bytes, size_t len, struct elf_fingerprint *ret_print)
{
	struct elf_fingerprint print;

	if (len != sizeof(print))
		return -EBADMSG;
	memcpy(&print, bytes, sizeof(print));
	if (print.size > ELF_MAX_FILE_BYTES || !is_build_id_sound(&print))
		return -EBADMSG;
	*ret_print = print;
	return 0;
}

bool elf_fingerprint_is_equal(const struct elf_fingerprint *a, const struct elf_fingerprint *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}
