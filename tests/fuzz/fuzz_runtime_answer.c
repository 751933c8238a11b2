/* SPDX-License-Identifier: Apache-2.0 */
/* The replies of a runtime worker that what it read has taken over: about a file, or about a
 * process. */
#include "runtime/worker/runtime_worker.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_file(const uint8_t *data, size_t size)
{
	struct runtime_file_answer answer;

	if (runtime_answer_file(data, size, 1 << RUNTIME_CPYTHON, &answer) < 0)
		return;
	if (answer.nr_segments > RUNTIME_MAX_SEGMENTS ||
	    (answer.file.kind != RUNTIME_NONE && answer.file.kind != RUNTIME_CPYTHON))
		abort();
}

static void check_process(const uint8_t *data, size_t size, uint32_t kind)
{
	const struct runtime_file file = { .kind = kind };
	struct runtime_found found;

	if (runtime_answer_process(data, size, &file, &found) < 0)
		return;
	if (found.state >= RUNTIME_NR_STATES || strlen(found.reason) >= sizeof(found.reason))
		abort();
	if (found.state == RUNTIME_READY &&
	    (found.layout.kind != kind || found.process.kind != kind))
		abort();
	if (found.state == RUNTIME_READY && kind == RUNTIME_CPYTHON &&
	    found.layout.cpython.nr_place > CPYTHON_MAX_PLACE)
		abort();
}

/* The first byte chooses the kind of the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	check_file(data + 1, size - 1);
	check_process(data + 1, size - 1, 1 + data[0] % (RUNTIME_NR_KINDS - 1));
	return 0;
}
