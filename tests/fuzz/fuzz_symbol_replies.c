/* SPDX-License-Identifier: Apache-2.0 */
/* Replies of the symbol worker about names and fingerprints, as the agent checks them. The first
 * byte tells which, the second how many names were asked for. */
#include "symbol/elf/elf_fingerprint.h"
#include "symbol/worker/names_block.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touches all that a reader would; a sanitizer tells whether it is there. */
static void check_names(const uint8_t *bytes, size_t len, uint32_t max_names)
{
	struct names_block block;

	if (names_block_parse(bytes, len, max_names, NAMES_GIVEN_UP, &block) < 0)
		return;
	const char *name = block.first;
	for (uint32_t i = 0; i < block.nr_names; i++)
		name = names_block_next(name);
	if (name != (const char *)bytes + len || block.nr_names > max_names)
		abort();
}

static void check_fingerprint(const uint8_t *bytes, size_t len)
{
	struct elf_fingerprint print;

	if (elf_fingerprint_parse(bytes, len, &print) == 0 &&
	    (strlen(print.build_id) > 2 * ELF_BUILD_ID_MAX || strchr(print.build_id, '/')))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	uint8_t *bytes = malloc(size - 2);

	if (!bytes)
		return 0;
	memcpy(bytes, data + 2, size - 2);
	if (data[0] % 2 == 0)
		check_names(bytes, size - 2, data[1]);
	else
		check_fingerprint(bytes, size - 2);
	free(bytes);
	return 0;
}
