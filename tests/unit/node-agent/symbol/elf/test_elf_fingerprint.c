/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf/elf_fingerprint.h"

#include "base/cleanup.h"
#include "elf_maker.h"
#include "unit.h"

#include <elf.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_BYTES ((size_t)1 << 20)
#define CONTENT_BYTES 100
#define DATA_BYTES                                                                                 \
	16384 /* keeps other sections away from the file's ends, which count for themselves */
#define SEED UINT64_C(0x123456789)

static const struct maker_symbol functions[] = { { "function", 0, 0x10 }, { 0 } };

/* What may decide on a function's name. */
static const struct {
	const char *name;
	uint32_t type;
	uint64_t flags;
} sections[] = {
	{ ".gnu_debugdata", SHT_PROGBITS, 0 },
	{ ".gopclntab", SHT_PROGBITS, SHF_ALLOC },
	{ ".go.module", SHT_PROGBITS, SHF_ALLOC },
	{ ".gnu_debuglink", SHT_PROGBITS, 0 },
	{ ".gnu_debugaltlink", SHT_PROGBITS, 0 },
	{ ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR },
	{ ".plt.sec", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR },
	{ ".plt.got", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR },
	{ ".eh_frame", SHT_PROGBITS, SHF_ALLOC },
	{ ".rela.plt", SHT_RELA, SHF_ALLOC },
	{ ".rela.dyn", SHT_RELA, SHF_ALLOC },
	{ ".debug_str", SHT_PROGBITS, 0 },
	{ ".zdebug_info", SHT_PROGBITS, 0 },
};

static int take_of(int fd, size_t max_bytes, bool wants_lines, struct elf_fingerprint *ret_print)
{
	const struct elf_fingerprint_opts opts = { SEED, max_bytes, wants_lines, 0 };

	return elf_fingerprint_take(fd, &opts, ret_print);
}

/* .data decides on nothing. */
static void make_file(struct elf_maker *maker)
{
	static const char content[CONTENT_BYTES];
	static const char data[DATA_BYTES];

	elf_maker_init(maker);
	elf_maker_add_plain(maker, ".data", data, sizeof(data));
	elf_maker_add_symbols(maker, SHT_SYMTAB, functions);
	for (size_t i = 0; i < array_len(sections); i++)
		elf_maker_add(
			maker, sections[i].name,
			(Elf64_Shdr){ .sh_type = sections[i].type, .sh_flags = sections[i].flags },
			content, sizeof(content));
	elf_maker_add_plain(maker, ".data", data, sizeof(data));
	elf_maker_finish(maker);
}

static struct elf_fingerprint take(const struct elf_maker *maker)
{
	_cleanup_close_ int fd = elf_maker_write(maker->bytes.data, maker->bytes.len);
	struct elf_fingerprint print;

	assert_int_equal(take_of(fd, MAX_BYTES, true, &print), 0);
	return print;
}

static void copies_have_one_fingerprint(void **state)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;
	(void)state;

	make_file(&maker);
	const struct elf_fingerprint first = take(&maker);
	const struct elf_fingerprint second = take(&maker);
	assert_true(elf_fingerprint_is_equal(&first, &second));
}

static void a_changed_byte_that_may_name_something_gives_another(void **state)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;
	(void)state;

	make_file(&maker);
	const struct elf_fingerprint first = take(&maker);
	for (size_t i = 1; i < maker.nr_sections; i++) {
		const Elf64_Shdr *section = &maker.sections[i];
		const char *name = maker.names.data + section->sh_name;

		if (section->sh_type == SHT_NOBITS)
			continue;
		maker.bytes.data[section->sh_offset + section->sh_size / 2] ^= 1;
		const struct elf_fingerprint changed = take(&maker);
		assert_int_equal(elf_fingerprint_is_equal(&first, &changed),
				 strcmp(name, ".data") == 0);
		maker.bytes.data[section->sh_offset + section->sh_size / 2] ^= 1;
	}
}

/* By its ends others name a file. */
static void changed_ends_give_another(void **state)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;
	(void)state;

	make_file(&maker);
	const struct elf_fingerprint first = take(&maker);
	elf_maker_header(&maker)->e_ident[EI_PAD] ^= 1;
	const struct elf_fingerprint begin = take(&maker);
	elf_maker_header(&maker)->e_ident[EI_PAD] ^= 1;
	maker.bytes.data[maker.bytes.len - 1] ^= 1;
	const struct elf_fingerprint end = take(&maker);

	assert_false(elf_fingerprint_is_equal(&first, &begin));
	assert_false(elf_fingerprint_is_equal(&first, &end));
}

static void a_changed_header_gives_another(void **state)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;
	(void)state;

	make_file(&maker);
	const struct elf_fingerprint first = take(&maker);
	elf_maker_header(&maker)->e_machine = EM_ARM;
	const struct elf_fingerprint machine = take(&maker);
	assert_false(elf_fingerprint_is_equal(&first, &machine));

	elf_maker_header(&maker)->e_machine = EM_X86_64;
	elf_maker_segment(&maker)->p_vaddr++;
	const struct elf_fingerprint segment = take(&maker);
	assert_false(elf_fingerprint_is_equal(&first, &segment));
}

static void many_sections_over_the_same_bytes_have_none(void **state)
{
	static const char content[MAX_BYTES];
	_cleanup_(elf_maker_done) struct elf_maker maker;
	struct elf_fingerprint print;
	(void)state;

	elf_maker_init(&maker);
	elf_maker_add_plain(&maker, ".plt.got", content, sizeof(content));
	for (size_t i = 0; i < 10; i++)
		elf_maker_add_plain(&maker, ".rela", NULL, 0);
	elf_maker_finish(&maker);
	for (size_t i = 3; i < 13; i++)
		*elf_maker_section(&maker, i) = (Elf64_Shdr){
			.sh_type = SHT_RELA,
			.sh_flags = SHF_ALLOC,
			.sh_offset = elf_maker_section(&maker, 2)->sh_offset,
			.sh_size = sizeof(content),
		};
	_cleanup_close_ int fd = elf_maker_write(maker.bytes.data, maker.bytes.len);
	assert_int_equal(take_of(fd, MAX_BYTES, false, &print), -ENOSPC);
}

static void debug_information_matters_to_those_who_read_it(void **state)
{
	static const char other[CONTENT_BYTES] = "other";
	struct elf_fingerprint prints[2][2];
	(void)state;

	for (size_t i = 0; i < 2; i++) {
		_cleanup_(elf_maker_done) struct elf_maker maker;

		make_file(&maker);
		for (size_t k = 0; k < maker.nr_sections && i == 1; k++)
			if (strcmp(maker.names.data + maker.sections[k].sh_name, ".debug_str") == 0)
				memcpy(maker.bytes.data + maker.sections[k].sh_offset, other,
				       sizeof(other));
		_cleanup_close_ int fd = elf_maker_write(maker.bytes.data, maker.bytes.len);
		for (size_t k = 0; k < 2; k++)
			assert_int_equal(take_of(fd, MAX_BYTES, k, &prints[i][k]), 0);
	}
	assert_true(elf_fingerprint_is_equal(&prints[0][0], &prints[1][0]));
	assert_false(elf_fingerprint_is_equal(&prints[0][1], &prints[1][1]));
}

static void much_debug_information_has_none(void **state)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;
	_cleanup_free_ char *content = calloc(1, ELF_FINGERPRINT_MAX_DEBUG_BYTES + 1);
	struct elf_fingerprint print;
	(void)state;

	assert_non_null(content);
	elf_maker_init(&maker);
	elf_maker_add_symbols(&maker, SHT_SYMTAB, functions);
	elf_maker_add_plain(&maker, ".debug_info", content, ELF_FINGERPRINT_MAX_DEBUG_BYTES / 2);
	elf_maker_add_plain(&maker, ".debug_str", content, ELF_FINGERPRINT_MAX_DEBUG_BYTES / 2 + 1);
	elf_maker_finish(&maker);
	_cleanup_close_ int fd = elf_maker_write(maker.bytes.data, maker.bytes.len);
	assert_int_equal(take_of(fd, ELF_FINGERPRINT_MAX_DEBUG_BYTES, true, &print), -ENOSPC);
	assert_int_equal(take_of(fd, ELF_FINGERPRINT_MAX_DEBUG_BYTES, false, &print), 0);
}

static void what_cannot_be_read_whole_has_none(void **state)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;
	struct elf_fingerprint print = { .size = 7 };
	(void)state;

	make_file(&maker);
	_cleanup_close_ int fd = elf_maker_write(maker.bytes.data, maker.bytes.len);
	assert_int_equal(take_of(fd, CONTENT_BYTES - 1, true, &print), -ENOSPC);

	for (size_t i = 2; i < maker.nr_sections; i++) {
		Elf64_Shdr *section = elf_maker_section(&maker, i);
		Elf64_Shdr before = *section;

		if (strcmp(maker.names.data + section->sh_name, ".data") == 0)
			continue;
		section->sh_offset = UINT64_MAX - 8;
		_cleanup_close_ int bad = elf_maker_write(maker.bytes.data, maker.bytes.len);
		assert_int_equal(take_of(bad, MAX_BYTES, true, &print), -EBADMSG);
		*section = before;
	}
	assert_int_equal(print.size, 7);
}

#define NR_SECTIONS 65530
#define NAMES_BYTES ((size_t)16 << 20)
#define MAX_CPU_S 10 /* a thousand times what it takes */

/* Sections whose names are one long text, each beginning one byte behind the other. */
static int write_many_sections(void)
{
	static Elf64_Shdr headers[NR_SECTIONS];
	_cleanup_(strbuf_done) struct strbuf file = strbuf_with_max(MAKER_MAX_BYTES);
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(headers[0]),
		.e_shoff = sizeof(header),
		.e_shstrndx = 1,
	};

	headers[0].sh_size = NR_SECTIONS; /* as there are too many for e_shnum */
	for (size_t i = 1; i < NR_SECTIONS; i++)
		headers[i] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
					   .sh_name = (uint32_t)i,
					   .sh_size = 0 };
	headers[1].sh_type = SHT_STRTAB;
	headers[1].sh_offset = sizeof(header) + sizeof(headers);
	headers[1].sh_size = NAMES_BYTES;
	strbuf_append(&file, &header, sizeof(header));
	strbuf_append(&file, headers, sizeof(headers));
	char *names = strbuf_extend(&file, NAMES_BYTES);
	assert_non_null(names);
	memset(names, 'n', NAMES_BYTES - 1);
	names[NAMES_BYTES - 1] = '\0';
	return elf_maker_write(file.data, file.len);
}

/* A process that takes too long is killed. */
static void many_sections_with_endless_names_are_read_soon(void **state)
{
	_cleanup_close_ int fd = write_many_sections();
	int status = 0;
	(void)state;

	pid_t pid = fork();
	if (pid == 0) {
		const struct rlimit limit = { MAX_CPU_S, MAX_CPU_S };
		struct elf_fingerprint print;

		_exit(setrlimit(RLIMIT_CPU, &limit) < 0 ||
		      take_of(fd, 2 * NAMES_BYTES, true, &print) < 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void other_seeds_give_other_fingerprints(void **state)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;
	struct elf_fingerprint prints[2];
	(void)state;

	make_file(&maker);
	_cleanup_close_ int fd = elf_maker_write(maker.bytes.data, maker.bytes.len);
	for (uint64_t i = 0; i < 2; i++) {
		const struct elf_fingerprint_opts opts = { SEED + i, MAX_BYTES, true, 0 };

		assert_int_equal(elf_fingerprint_take(fd, &opts, &prints[i]), 0);
	}
	assert_true(prints[0].hash[0] != prints[1].hash[0]);
	assert_true(prints[0].hash[1] != prints[1].hash[1]);
}

static void a_worker_is_not_believed_any_fingerprint(void **state)
{
	struct elf_fingerprint print;
	struct elf_fingerprint good = { .build_id = "0123456789abcdef", .size = 4096 };
	struct elf_fingerprint bad[6];
	(void)state;

	for (size_t i = 0; i < array_len(bad); i++)
		bad[i] = good;
	bad[0].build_id[3] = '/';
	bad[1].build_id[3] = 'A';
	bad[2].build_id[sizeof(good.build_id) - 1] = '0'; /* behind the end of the text */
	memset(bad[3].build_id, 'a', 2 * ELF_BUILD_ID_MAX + 1); /* one digit too many */
	memset(bad[4].build_id, 'a', sizeof(good.build_id)); /* no end */
	bad[5].size = ELF_MAX_FILE_BYTES + 1;
	for (size_t i = 0; i < array_len(bad); i++)
		assert_int_equal(elf_fingerprint_parse(&bad[i], sizeof(bad[i]), &print), -EBADMSG);
	for (size_t len = 0; len < sizeof(good); len++)
		assert_int_equal(elf_fingerprint_parse(&good, len, &print), -EBADMSG);
	assert_int_equal(elf_fingerprint_parse(bad, sizeof(good) + 1, &print), -EBADMSG);

	assert_int_equal(elf_fingerprint_parse(&good, sizeof(good), &print), 0);
	assert_true(elf_fingerprint_is_equal(&good, &print));
	memset(good.build_id, 'a', 2 * ELF_BUILD_ID_MAX);
	assert_int_equal(elf_fingerprint_parse(&good, sizeof(good), &print), 0);
	memset(good.build_id, 0, sizeof(good.build_id));
	assert_int_equal(elf_fingerprint_parse(&good, sizeof(good), &print), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_have_one_fingerprint),
		cmocka_unit_test(a_changed_byte_that_may_name_something_gives_another),
		cmocka_unit_test(changed_ends_give_another),
		cmocka_unit_test(a_changed_header_gives_another),
		cmocka_unit_test(many_sections_over_the_same_bytes_have_none),
		cmocka_unit_test(debug_information_matters_to_those_who_read_it),
		cmocka_unit_test(much_debug_information_has_none),
		cmocka_unit_test(what_cannot_be_read_whole_has_none),
		cmocka_unit_test(many_sections_with_endless_names_are_read_soon),
		cmocka_unit_test(other_seeds_give_other_fingerprints),
		cmocka_unit_test(a_worker_is_not_believed_any_fingerprint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
