/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF file, or the pieces of one (sparse_input.h), is told from others. */
#include "base/cleanup.h"
#include "sparse_input.h"
#include "symbol/elf/elf_fingerprint.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(int fd, bool wants_lines)
{
	const struct elf_fingerprint_opts opts = { 1, MAX_BYTES, wants_lines, MAX_BYTES };
	struct elf_fingerprint print, again;

	if (elf_fingerprint_take(fd, &opts, &print) < 0)
		return;
	if (!memchr(print.build_id, '\0', sizeof(print.build_id)))
		abort();
	if (elf_fingerprint_take(fd, &opts, &again) < 0 ||
	    !elf_fingerprint_is_equal(&print, &again))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = sparse_input_open(data, size);

	if (fd < 0)
		return 0;
	take(fd, true);
	take(fd, false);
	return 0;
}
