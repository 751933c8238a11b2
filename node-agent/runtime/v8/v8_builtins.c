/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_builtins.h"

#include "runtime/v8/v8_values.h"

#include <stdbool.h>

#define MIN_BUILTINS_BYTES (512 << 10)
#define MAX_FUNCTIONS (4 << 20)
#define CHUNK_ENTRIES 512
#define EH_POINTER_S4_RELATIVE 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
#define EH_POINTER_U4 0x03 /* DW_EH_PE_udata4 */
#define EH_TABLE 12 /* of the first entry, if both encodings are these */

struct eh_header {
	uint8_t version;
	uint8_t pointer_encoding;
	uint8_t count_encoding;
	uint8_t table_encoding;
	int32_t eh_frame;
	uint32_t nr_functions;
};

/* Both are relative to the header. */
struct eh_entry {
	int32_t function;
	int32_t description;
};

/* The head of a function's description, with pointers of four bytes. */
struct eh_description {
	uint32_t length;
	uint32_t cie;
	int32_t function;
	uint32_t function_bytes;
};

/* The largest distance between the starts of two functions that follow each other. */
struct gap {
	struct eh_entry before;
	int32_t after;
	int64_t bytes;
};

static const GElf_Phdr *find_segment(const struct elf_exports *exports, uint32_t type,
				     uint64_t address)
{
	const struct elf_reader *reader = exports->reader;

	for (size_t i = 0; i < reader->nr_segments; i++) {
		const GElf_Phdr *segment = &reader->segments[i];

		if (segment->p_type == type &&
		    (type != PT_LOAD || (address >= segment->p_vaddr &&
					 address - segment->p_vaddr < segment->p_filesz)))
			return segment;
	}
	return NULL;
}

/* Returns whether both addresses are in one section of code: what lies between sections is none. */
static bool is_in_one_section(const struct elf_exports *exports, uint64_t start, uint64_t end)
{
	const struct elf_reader *reader = exports->reader;

	for (size_t i = 0; i < reader->nr_sections; i++) {
		const GElf_Shdr *section = &reader->sections[i];

		if (section->sh_flags & SHF_EXECINSTR && start >= section->sh_addr &&
		    end >= start && end - section->sh_addr < section->sh_size)
			return true;
	}
	return false;
}

static void compare(const struct elf_exports *exports, uint64_t header,
		    const struct eh_entry *entries, struct gap *gap)
{
	int64_t bytes = (int64_t)entries[1].function - entries[0].function;

	if (bytes > gap->bytes && is_in_one_section(exports, header + (uint64_t)entries[0].function,
						    header + (uint64_t)entries[1].function))
		*gap = (struct gap){ entries[0], entries[1].function, bytes };
}

/* Finds the largest gap of the table, which is sorted. */
static int find_gap(const struct elf_exports *exports, uint64_t header, uint32_t nr_entries,
		    struct gap *ret_gap)
{
	uint64_t table = header + EH_TABLE;
	struct eh_entry entries[CHUNK_ENTRIES + 1];
	struct gap gap = { 0 };

	for (uint32_t i = 0; i + 1 < nr_entries; i += CHUNK_ENTRIES) {
		uint32_t rest = nr_entries - i;
		uint32_t nr = rest < CHUNK_ENTRIES + 1 ? rest : CHUNK_ENTRIES + 1;
		int r = elf_exports_read(exports, table + (uint64_t)i * sizeof(*entries), entries,
					 nr * sizeof(*entries));

		if (r < 0)
			return r;
		for (uint32_t k = 0; k + 1 < nr; k++)
			compare(exports, header, &entries[k], &gap);
	}
	*ret_gap = gap;
	return 0;
}

/* Sets the values for code between two virtual addresses. */
static void set_builtins(const struct elf_exports *exports, uint64_t start, uint64_t end,
			 struct runtime_file *file)
{
	const GElf_Phdr *segment = find_segment(exports, PT_LOAD, start);
	uint64_t offset;

	if (!segment || end <= start || end - start < MIN_BUILTINS_BYTES)
		return;
	offset = start - segment->p_vaddr + segment->p_offset;
	if (offset + (end - start) > UINT32_MAX)
		return;
	file->values[V8_BUILTINS_START] = offset;
	file->values[V8_BUILTINS_END] = offset + (end - start);
}

static int find_builtins(const struct elf_exports *exports, uint64_t header_address,
			 struct runtime_file *file)
{
	struct eh_description description = { 0 };
	struct eh_header header;
	struct gap gap = { 0 };

	int r = elf_exports_read(exports, header_address, &header, sizeof(header));
	if (r < 0)
		return r;
	if (header.table_encoding != EH_POINTER_S4_RELATIVE ||
	    header.count_encoding != EH_POINTER_U4 || header.nr_functions > MAX_FUNCTIONS)
		return 0;
	r = find_gap(exports, header_address, header.nr_functions, &gap);
	if (r == 0)
		r = elf_exports_read(exports, header_address + (uint64_t)gap.before.description,
				     &description, sizeof(description));
	if (r < 0)
		return r;
	set_builtins(exports,
		     header_address + (uint64_t)gap.before.function + description.function_bytes,
		     header_address + (uint64_t)gap.after, file);
	return 0;
}

int v8_builtins_find(const struct elf_exports *exports, struct runtime_file *file)
{
	const GElf_Phdr *segment = find_segment(exports, PT_GNU_EH_FRAME, 0);
	int r = segment ? find_builtins(exports, segment->p_vaddr, file) : 0;

	return r == -ENOENT || r == -EBADMSG ? 0 : r;
}
