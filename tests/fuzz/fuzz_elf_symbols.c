/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/fileio.h"
#include "symbol/elf/elf_fingerprint.h"
#include "symbol/elf/elf_symbols.h"
#include "tests/unit/support/function_count.h"

#include <string.h>
#include <sys/mman.h>

#define MAX_TABLE_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct elf_symbols *symbols)
{
	struct elf_symbol symbol = { .name = "" };
	uint64_t address = 0;

	for (uint64_t offset = 0; offset < 1 << 20; offset += 509) {
		if (elf_symbols_address_of(symbols, offset, &address) == 0 &&
		    elf_symbols_find(symbols, address, &symbol) == 0 &&
		    (address - symbol.address >= symbol.size || strlen(symbol.name) > 4096))
			abort();
	}
}

/* The agent must accept what was made here. */
static void send(const struct elf_symbols *symbols)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *received = NULL;
	size_t len;
	const void *block = elf_symbols_block(symbols, &len);
	void *copy = malloc(len);

	if (!copy)
		return;
	memcpy(copy, block, len);
	if (elf_symbols_from_block(copy, len, &received) < 0 ||
	    function_count(received) != function_count(symbols))
		abort();
	walk(received);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	_cleanup_close_ int fd = memfd_create("elf", MFD_CLOEXEC);
	const struct elf_fingerprint_opts opts = { 1, MAX_TABLE_BYTES, true, MAX_TABLE_BYTES };
	struct elf_fingerprint print, received;

	if (fd < 0 || fd_write_all(fd, data, size) < 0)
		return 0;
	if (elf_symbols_load(fd, MAX_TABLE_BYTES, &symbols) == 0)
		send(symbols);
	if (elf_fingerprint_take(fd, &opts, &print) == 0 &&
	    elf_fingerprint_parse(&print, sizeof(print), &received) < 0)
		abort();
	return 0;
}
