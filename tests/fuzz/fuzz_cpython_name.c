/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of CPython in memory that is all the input's: the head below, then the memory as in
 * sparse_input.h. A frame gets one valid line or none, and little memory is read for it. */
#include "bpf/shared/runtime.h"
#include "cpython_naming_table.h"
#include "frame_target.h"
#include "runtime/cpython/cpython_name.h"

#include <string.h>

#define FRAME_MAX_BYTES ((uint64_t)512 << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct head {
	uint8_t minor; /* the version */
	uint8_t field; /* an index of naming that is another one, if there is such a field */
	uint8_t keeps_check; /* else the tag gets the check that fits */
	uint8_t pad[5];
	uint64_t offset; /* of that field */
	uint64_t words[2];
};

static void make_naming(const struct head *head, uint64_t *naming)
{
	int nr = CPYTHON_LAST_MINOR - CPYTHON_FIRST_MINOR + 1;
	const uint64_t *of_version = cpython_naming_of(CPYTHON_FIRST_MINOR + head->minor % nr);

	memcpy(naming, of_version, sizeof(cpython_naming_table[0]));
	if (head->field < CPYTHON_NAMING_NR)
		naming[head->field] = head->offset;
}

static void fit_check(struct process_memory *memory, const uint64_t *naming, uint64_t *words)
{
	__u64 checked[RUNTIME_CHECK_WORDS];

	if (process_memory_read(memory, (words[1] & ~7ULL) + naming[CPYTHON_NAMING_CHECK], checked,
				sizeof(checked)) == 0)
		words[0] = RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, runtime_check_words(checked),
				       words[0]);
}

static int name(struct process_memory *memory, const void *bytes, struct frame_writer *writer)
{
	uint64_t naming[CPYTHON_NAMING_NR];
	struct head head;

	memcpy(&head, bytes, sizeof(head));
	make_naming(&head, naming);
	if (!head.keeps_check)
		fit_check(memory, naming, head.words);
	return cpython_name(memory, naming, head.words, writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct frame_target target = {
		.head_bytes = sizeof(struct head),
		.quota_bytes = FRAME_MAX_BYTES,
		.max_lines = 1,
		.max_line = INT32_MAX,
		.name = name,
	};

	frame_target_run(&target, data, size);
	return 0;
}
