/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of CPython in memory that is all the input's: the head below, then the memory as in
 * sparse_input.h. A frame gets one valid line or none, and little memory is read for it. */
#include "base/cleanup.h"
#include "bpf/shared/runtime.h"
#include "cpython_naming_table.h"
#include "runtime/cpython/cpython_name.h"
#include "sparse_input.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define QUOTA_BYTES ((uint64_t)1 << 30)
#define FRAME_MAX_BYTES ((uint64_t)512 << 10)
#define OUT_MAX_BYTES ((size_t)64 << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct head {
	uint8_t minor; /* the version */
	uint8_t field; /* an index of naming that is another one, if there is such a field */
	uint8_t keeps_check; /* else the tag gets the check that fits */
	uint8_t pad[5];
	uint64_t offset; /* of that field */
	uint64_t words[2];
};

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

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

static void check_frame(const struct strbuf *out, bool is_named)
{
	struct frame_reader reader = { .bytes = strbuf_str(out), .len = out->len };
	struct runtime_line line;
	uint32_t nr_lines;

	check(frame_reader_next(&reader, &nr_lines) == 0);
	check(nr_lines <= (is_named ? 1 : 0));
	if (nr_lines == 1)
		check(frame_reader_line(&reader, &line) == 0 && line.line <= INT32_MAX);
	check(reader.position == out->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);
	struct frame_writer writer = { .out = &out };
	uint64_t naming[CPYTHON_NAMING_NR];
	struct head head;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	_cleanup_close_ int fd = sparse_input_open(data + sizeof(head), size - sizeof(head));
	if (fd < 0)
		return 0;

	struct process_memory memory = { .fd = fd, .nr_left = QUOTA_BYTES };
	make_naming(&head, naming);
	if (!head.keeps_check)
		fit_check(&memory, naming, head.words);
	frame_writer_begin(&writer);
	int r = cpython_name(&memory, naming, head.words, &writer);
	check(r == 0 || r == -ENOENT || r == -EFAULT || r == -ENOMEM);
	check(QUOTA_BYTES - memory.nr_left < FRAME_MAX_BYTES);
	check_frame(&out, r == 0);
	return 0;
}
