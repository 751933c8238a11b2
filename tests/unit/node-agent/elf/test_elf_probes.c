/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/elf_probes.h"

#include "base/cleanup.h"
#include "unit.h"

#include <elf.h>
#include <string.h>

#define ADDRESS 0x10000 /* of offset 0 */
#define PROBE 0x40
#define SEMAPHORE 0x60
#define TEXT_BYTES 64
#define NR_NOTES (HEAP_MAX_PROBES + 2)

struct note {
	Elf64_Nhdr header;
	char owner[8];
	uint64_t address, base, semaphore;
	char text[TEXT_BYTES];
} __attribute__((packed, aligned(4)));

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[2];
	struct note notes[NR_NOTES];
};

static void set_text(struct note *note, const char *provider, const char *name,
		     const char *arguments)
{
	const char *const texts[] = { provider, name, arguments };
	size_t used = 0;

	memset(note->text, 0, TEXT_BYTES);
	for (size_t i = 0; i < array_len(texts); i++) {
		memcpy(note->text + used, texts[i], strlen(texts[i]) + 1);
		used += strlen(texts[i]) + 1;
	}
}

static struct image *make_image(void)
{
	static struct image image;

	image = (struct image){
		.header = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct image, segment),
			.e_shoff = offsetof(struct image, sections),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 2,
		},
		.segment = {
			.p_type = PT_LOAD,
			.p_vaddr = ADDRESS,
			.p_filesz = sizeof(struct image),
			.p_memsz = sizeof(struct image),
		},
		.sections[1] = {
			.sh_type = SHT_NOTE,
			.sh_offset = offsetof(struct image, notes),
			.sh_size = 2 * sizeof(struct note),
			.sh_addralign = 4,
		},
	};
	for (size_t i = 0; i < NR_NOTES; i++) {
		image.notes[i] = (struct note){
			.header = { .n_namesz = 8,
				    .n_descsz = sizeof(struct note) -
						offsetof(struct note, address),
				    .n_type = 3 },
			.owner = "stapsdt",
			.address = ADDRESS + PROBE,
			.semaphore = ADDRESS + SEMAPHORE,
		};
		set_text(&image.notes[i], "otel_memory", "alloc", "8@%rdi 8@%rsi 8@%rdx");
	}
	set_text(&image.notes[1], "otel_memory", "free", "8@%rdi");
	return &image;
}

static int find(const struct image *image, struct heap_probes *ret_probes)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };

	int r = elf_reader_init_bytes(&reader, image, sizeof(*image));
	return r < 0 ? r : elf_probes_find(&reader, ret_probes);
}

static void probes_are_found_by_their_notes(void **state)
{
	struct heap_probes probes = { 0 };
	(void)state;

	assert_int_equal(find(make_image(), &probes), 0);
	assert_int_equal(probes.nr, 2);
	assert_int_equal(probes.of[0].kind, HEAP_PROBE_ALLOC);
	assert_int_equal(probes.of[0].offset, PROBE);
	assert_int_equal(probes.of[0].semaphore, SEMAPHORE);
	assert_int_equal(probes.of[0].arguments, HEAP_USUAL_ARGUMENTS);
	assert_int_equal(probes.of[1].kind, HEAP_PROBE_FREE);
}

static void a_probe_without_a_semaphore_has_none(void **state)
{
	struct image *image = make_image();
	struct heap_probes probes = { 0 };
	(void)state;

	image->notes[0].semaphore = 0;
	assert_int_equal(find(image, &probes), 0);
	assert_int_equal(probes.of[0].semaphore, 0);
}

static void other_notes_are_not_probes(void **state)
{
	struct heap_probes probes = { 0 };
	(void)state;

	for (int i = 0; i < 8; i++) {
		struct image *image = make_image();
		struct note *note = &image->notes[0];

		image->sections[1].sh_size = sizeof(struct note);
		if (i == 0)
			note->header.n_type = 4;
		else if (i == 1)
			note->owner[0] = 'S';
		else if (i == 2)
			set_text(note, "otel", "alloc", "8@%rdi 8@%rsi 8@%rdx");
		else if (i == 3)
			set_text(note, "otel_memory", "allocate", "8@%rdi 8@%rsi 8@%rdx");
		else if (i == 4)
			set_text(note, "otel_memory", "alloc", "8@%rdi 8@%rsi");
		else if (i == 5)
			set_text(note, "otel_memory", "alloc", "8@%rdi 8@%rsi 8@$1");
		else if (i == 6)
			memset(note->text, 'a', TEXT_BYTES); /* no end */
		else
			note->header.n_descsz = 8;
		assert_int_equal(find(image, &probes), 0);
		assert_int_equal(probes.nr, 0);
	}
}

static void probes_outside_the_file_are_refused(void **state)
{
	struct image *image = make_image();
	struct heap_probes probes = { .nr = 77 };
	(void)state;

	image->notes[0].address = 5;
	assert_int_equal(find(image, &probes), -EBADMSG);
	image->notes[0].address = ADDRESS + sizeof(struct image);
	assert_int_equal(find(image, &probes), -EBADMSG);
	image = make_image();
	image->notes[1].semaphore = ADDRESS + sizeof(struct image) - 1;
	assert_int_equal(find(image, &probes), -EBADMSG);
	image = make_image();
	image->sections[1].sh_offset = sizeof(struct image);
	assert_true(find(image, &probes) < 0);
	assert_int_equal(probes.nr, 77);
}

static void notes_that_are_cut_end_the_list(void **state)
{
	struct image *image = make_image();
	struct heap_probes probes = { 0 };
	(void)state;

	image->sections[1].sh_size = 2 * sizeof(struct note) - 4;
	assert_int_equal(find(image, &probes), 0);
	assert_int_equal(probes.nr, 1);
	image->notes[0].header.n_namesz = UINT32_MAX;
	assert_int_equal(find(image, &probes), 0);
	assert_int_equal(probes.nr, 0);
	image->sections[1].sh_size = ELF_PROBES_MAX_NOTE_BYTES + 1;
	assert_int_equal(find(image, &probes), 0);
	assert_int_equal(probes.nr, 0);
}

static void only_the_first_probes_count(void **state)
{
	struct image *image = make_image();
	struct heap_probes probes = { 0 };
	(void)state;

	image->sections[1].sh_size = sizeof(image->notes);
	assert_int_equal(find(image, &probes), 0);
	assert_int_equal(probes.nr, HEAP_MAX_PROBES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_are_found_by_their_notes),
		cmocka_unit_test(a_probe_without_a_semaphore_has_none),
		cmocka_unit_test(other_notes_are_not_probes),
		cmocka_unit_test(probes_outside_the_file_are_refused),
		cmocka_unit_test(notes_that_are_cut_end_the_list),
		cmocka_unit_test(only_the_first_probes_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
