/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a CPython in any memory. The first bytes are the minor version, which may be one
 * that keeps states in thread-local variables, and the size of the TLS block; the others are the
 * memory from address 0 on (sparse_input.h). */
#include "base/cleanup.h"
#include "runtime/cpython/cpython_values.h"
#include "runtime/cpython/cpython_versions.h"
#include "sparse_input.h"

#include <stdlib.h>
#include <string.h>

#define MAX_READ_BYTES ((uint64_t)16 << 20)
#define FIRST_MINOR 8
#define NR_MINORS 5 /* that have tables */
#define RUNTIME 0x10000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct runtime_found *found)
{
	const struct cpython_layout *layout = &found->layout.cpython;

	if (found->state >= RUNTIME_NR_STATES ||
	    !memchr(found->reason, '\0', sizeof(found->reason)))
		abort();
	if (found->state == RUNTIME_READY &&
	    (layout->nr_place == 0 || layout->nr_place > CPYTHON_MAX_PLACE))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct process_memory memory = { .fd = -EBADF, .nr_left = MAX_READ_BYTES };
	struct runtime_file file = { .kind = RUNTIME_CPYTHON };
	_cleanup_close_ int fd = -EBADF;
	struct runtime_found found;

	if (size < 2)
		return 0;
	fd = sparse_input_open(data + 2, size - 2);
	file.version = CPYTHON_VERSION(3, FIRST_MINOR + data[0] % NR_MINORS);
	if (fd < 0 || !cpython_versions_fill(&file))
		return 0;
	if (data[0] / NR_MINORS % 2 != 0)
		file.version = CPYTHON_VERSION(3, 15);
	file.values[CPYTHON_RUNTIME] = RUNTIME;
	file.values[CPYTHON_TLS_BYTES] = data[1];
	memory.fd = fd;
	if (cpython_runtime.inspect(&memory, &file, 0, &found) == 0)
		check(&found);
	return 0;
}
