/* SPDX-License-Identifier: Apache-2.0 */
/* A note's descriptor: the address of the probe, that of .stapsdt.base and that of the semaphore,
 * 8 bytes each; then three texts, each with its NUL: provider, name and arguments. */
#include "elf/elf_probes.h"

#include "elf/elf_dynamic_section.h"
#include "elf/probe_argument.h"

#include <stdbool.h>
#include <string.h>

#define NT_STAPSDT 3
#define MAX_SECTIONS 64 /* of notes */
#define SEMAPHORE_BYTES 2

struct description {
	uint64_t address;
	uint64_t base;
	uint64_t semaphore;
	const char *provider, *name, *arguments;
};

static const struct {
	const char *name;
	int nr_arguments;
} probes_of_contract[HEAP_NR_CONTRACT_KINDS] = {
	[HEAP_PROBE_ALLOC] = { "alloc", 3 },
	[HEAP_PROBE_FREE] = { "free", 1 },
};

/* Takes a text that ends with a NUL before `end`. */
static const char *take_text(const char **cursor, const char *end)
{
	const char *text = *cursor, *nul = memchr(text, '\0', (size_t)(end - text));

	if (!nul)
		return NULL;
	*cursor = nul + 1;
	return text;
}

static bool read_description(const char *bytes, size_t len, struct description *ret_description)
{
	const char *cursor = bytes + offsetof(struct description, provider), *end = bytes + len;

	if (len < offsetof(struct description, provider))
		return false;
	memcpy(ret_description, bytes, offsetof(struct description, provider));
	ret_description->provider = take_text(&cursor, end);
	ret_description->name = ret_description->provider ? take_text(&cursor, end) : NULL;
	ret_description->arguments = ret_description->name ? take_text(&cursor, end) : NULL;
	return ret_description->arguments != NULL;
}

static bool find_kind(const struct description *description, uint32_t *ret_kind)
{
	if (strcmp(description->provider, "otel_memory") != 0)
		return false;
	for (uint32_t kind = 0; kind < HEAP_NR_CONTRACT_KINDS; kind++)
		if (strcmp(description->name, probes_of_contract[kind].name) == 0) {
			*ret_kind = kind;
			return true;
		}
	return false;
}

static int add_probe(const struct elf_reader *reader, const struct description *description,
		     uint32_t kind, struct heap_probes *probes)
{
	uint64_t arguments = 0, offset = 0,
		 semaphore = 0; /* the kernel's 64-bit type is not ours */

	if (probes->nr == HEAP_MAX_PROBES)
		return 0;
	int r = probe_argument_parse_all(description->arguments,
					 probes_of_contract[kind].nr_arguments, &arguments);
	if (r < 0)
		return 0;
	r = elf_dynamic_section_find_offset(reader, description->address, 1, &offset);
	if (r == 0 && description->semaphore != 0)
		r = elf_dynamic_section_find_offset(reader, description->semaphore, SEMAPHORE_BYTES,
						    &semaphore);
	if (r == 0)
		probes->of[probes->nr++] = (struct heap_probe){
			.offset = offset,
			.semaphore = semaphore,
			.arguments = arguments,
			.kind = kind,
		};
	return r;
}

static int read_notes(struct elf_reader *reader, Elf_Data *data, struct heap_probes *probes)
{
	const char *notes = data->d_buf;
	struct description description;
	uint32_t kind = 0;
	GElf_Nhdr note;
	size_t name, desc;
	int r = 0;

	for (size_t pos = 0; r == 0 && (pos = gelf_getnote(data, pos, &note, &name, &desc)) > 0;) {
		if (note.n_type == NT_STAPSDT && note.n_namesz == sizeof("stapsdt") &&
		    memcmp(notes + name, "stapsdt", sizeof("stapsdt")) == 0 &&
		    read_description(notes + desc, note.n_descsz, &description) &&
		    find_kind(&description, &kind))
			r = add_probe(reader, &description, kind, probes);
	}
	return r;
}

int elf_probes_find(struct elf_reader *reader, struct heap_probes *ret_probes)
{
	struct heap_probes probes = { 0 };
	size_t nr_searched = 0;
	Elf_Data *data;

	if (elf_reader_entry_bytes(reader, ELF_T_ADDR) != sizeof(uint64_t)) {
		*ret_probes = probes;
		return 0;
	}
	for (size_t i = 0; i < reader->nr_sections && nr_searched < MAX_SECTIONS; i++) {
		const GElf_Shdr *section = &reader->sections[i];

		if (section->sh_type != SHT_NOTE || section->sh_size == 0 ||
		    section->sh_size > ELF_PROBES_MAX_NOTE_BYTES)
			continue;
		nr_searched++;
		int r = elf_reader_data(reader, section->sh_offset, section->sh_size, ELF_T_NHDR,
					&data);
		if (r == 0)
			r = read_notes(reader, data, &probes);
		if (r < 0)
			return r;
	}
	*ret_probes = probes;
	return 0;
}
