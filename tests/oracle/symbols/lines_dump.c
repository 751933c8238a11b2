/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what debug information says of addresses, as `addr2line -afi -e FILE` does.
 *
 *	lines_dump FILE [SUPPLEMENTARY] < ADDRESSES	hexadecimal, one a line
 */
#include "base/cleanup.h"
#include "base/parse.h"
#include "symbol/dwarf/dwarf_lines.h"
#include "symbol/dwarf/lines_table.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define MAX_ADDRESSES 4096
#define MAX_BYTES ((size_t)64 << 20)

static size_t read_addresses(uint64_t *addresses)
{
	size_t nr = 0;
	char line[64];

	while (nr < MAX_ADDRESSES && fgets(line, sizeof(line), stdin)) {
		const char *cursor = line + (strncmp(line, "0x", 2) == 0 ? 2 : 0);

		if (parse_digits(&cursor, line + strlen(line), 16, &addresses[nr]) == 0)
			nr++;
	}
	return nr;
}

static void print_lines(const struct lines_table *table, uint64_t address)
{
	struct symbol_line lines[SYMBOL_MAX_LINES];
	enum symbol_language language;
	int nr = lines_table_find(table, address, lines, &language);

	printf("0x%016" PRIx64 "\n", address);
	for (int i = 0; i < nr; i++)
		printf("%s\n%s:%" PRIu32 "\n", lines[i].system_name, lines[i].filename,
		       lines[i].line);
}

static int dump(const char *path, const char *supplementary)
{
	static uint64_t addresses[MAX_ADDRESSES];
	_cleanup_(dwarf_lines_closep) struct dwarf_lines *lines = NULL;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	_cleanup_(lines_table_done) struct lines_table table = { 0 };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int alt_fd = supplementary ? open(supplementary, O_RDONLY | O_CLOEXEC) : -1;
	size_t nr = read_addresses(addresses);
	struct lines_added added;

	int r = dwarf_lines_open(fd, alt_fd, &lines);
	if (r == 0)
		r = dwarf_lines_write(lines, addresses, nr, &out);
	if (r == 0)
		r = lines_table_add(&table, out.data, out.len, &added);
	for (size_t i = 0; r == 0 && i < nr; i++)
		print_lines(&table, addresses[i]);
	return r;
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: lines_dump FILE [SUPPLEMENTARY] < ADDRESSES\n");
		return 2;
	}

	int r = dump(argv[1], argc > 2 ? argv[2] : NULL);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-r));
	return r < 0;
}
