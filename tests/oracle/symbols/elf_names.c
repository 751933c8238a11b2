/* SPDX-License-Identifier: Apache-2.0 */
/* Names hexadecimal addresses, one a line on standard input, by the symbols of an ELF file: prints
 * the name, or "-" where there is none. */
#include "symbol/elf/elf_symbols.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#define MAX_TABLE_BYTES ((size_t)256 << 20)

int main(int argc, char **argv)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	_cleanup_close_ int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -EBADF;
	struct elf_symbol symbol = { .name = "-" };
	uint64_t address;

	int r = elf_symbols_load(fd, MAX_TABLE_BYTES, &symbols);
	if (r < 0) {
		fprintf(stderr, "elf_names: error %d\n", -r);
		return 1;
	}
	printf("%s\n", elf_symbols_info(symbols)->build_id);
	while (scanf("%" SCNx64, &address) == 1) {
		bool is_found = elf_symbols_find(symbols, address, &symbol) == 0;

		printf("%s\n", is_found && symbol.name[0] ? symbol.name : "-");
	}
	return 0;
}
