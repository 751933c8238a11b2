/* SPDX-License-Identifier: Apache-2.0 */
/* Names code objects of a process, and says which of the names, files and lines are wrong. Exits
 * with 1 if any is. See tell_names.py, which is that process.
 *
 *	python_names PID < FRAMES */
#include "tests/oracle/runtimes/found_runtime.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "bpf/shared/runtime.h"
#include "runtime/cpython/cpython_naming.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)
#define QUOTA_BYTES ((uint64_t)1 << 40)
#define MAX_SHOWN 20

/* One frame; its name and its file follow. */
struct head {
	uint64_t code;
	int64_t position;
	uint32_t line;
	uint32_t start_line;
	uint32_t name_len;
	uint32_t filename_len;
};

static struct {
	uint64_t nr_frames;
	uint64_t nr_wrong;
	uint64_t time_ns;
} counts;

static int read_texts(const struct head *head, struct strbuf *texts)
{
	size_t len = (size_t)head->name_len + head->filename_len;

	strbuf_clear(texts);
	char *to = strbuf_extend(texts, len);
	if (!to)
		return strbuf_error(texts);
	return fread(to, 1, len, stdin) == len ? 0 : -EBADMSG;
}

static bool is_text(const char *text, size_t len, const char *expected, size_t expected_len)
{
	return len == expected_len && memcmp(text, expected, len) == 0;
}

/* Returns whether the record has the one line that is expected. */
static bool is_expected(const struct strbuf *out, const struct head *head, const char *texts)
{
	struct frame_reader reader = { .bytes = strbuf_str(out), .len = out->len };
	struct runtime_line line;
	uint32_t nr_lines;

	if (frame_reader_next(&reader, &nr_lines) < 0 || nr_lines != 1 ||
	    frame_reader_line(&reader, &line) < 0)
		return false;
	return line.line == head->line && line.start_line == head->start_line &&
	       is_text(line.name, line.name_len, texts, head->name_len) &&
	       is_text(line.filename, line.filename_len, texts + head->name_len,
		       head->filename_len);
}

static int name_frame(struct process_memory *memory, const uint64_t *naming,
		      const struct head *head, struct strbuf *out)
{
	struct frame_writer writer = { .out = out };
	__u64 checked[RUNTIME_CHECK_WORDS];

	strbuf_clear(out);
	frame_writer_begin(&writer);
	int r = process_memory_read(memory, head->code + naming[CPYTHON_NAMING_CHECK], checked,
				    sizeof(checked));
	if (r < 0)
		return r;
	const uint64_t words[] = {
		RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, runtime_check_words(checked),
			    (uint64_t)head->position),
		head->code,
	};
	uint64_t start_ns = clock_mono_ns();
	r = cpython_runtime.name(memory, naming, words, &writer);
	counts.time_ns += clock_mono_ns() - start_ns;
	return r;
}

static int compare_frames(struct process_memory *memory, const uint64_t *naming)
{
	_cleanup_(strbuf_done) struct strbuf texts = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct head head;

	while (fread(&head, sizeof(head), 1, stdin) == 1) {
		if (read_texts(&head, &texts) < 0)
			return -EBADMSG;
		int r = name_frame(memory, naming, &head, &out);
		counts.nr_frames++;
		if (r == 0 && is_expected(&out, &head, strbuf_str(&texts)))
			continue;
		if (counts.nr_wrong++ < MAX_SHOWN)
			printf("%.*s, position %" PRId64 ", line %u: error %d\n",
			       (int)head.name_len, strbuf_str(&texts), head.position, head.line,
			       -r);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct process_memory memory = { .nr_left = QUOTA_BYTES };
	struct runtime_found found;
	char path[64];

	if (argc != 2)
		return 2;
	/* The process tells its frames when it has started. */
	ungetc(getc(stdin), stdin);
	snprintf(path, sizeof(path), "/proc/%s/mem", argv[1]);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		printf("SKIP: %s cannot be opened\n", path);
		return 77;
	}
	memory.fd = fd;
	if (found_runtime_read(&cpython_runtime, &memory, argv[1], &found) < 0) {
		fprintf(stderr, "no Python was found in the process\n");
		return 1;
	}
	memory.nr_left = QUOTA_BYTES;
	if (compare_frames(&memory, found.naming) < 0) {
		fprintf(stderr, "the input ends in a frame\n");
		return 1;
	}
	printf("%" PRIu64 " frames compared, %" PRIu64 " differ, %" PRIu64 " ns and %" PRIu64
	       " bytes each\n",
	       counts.nr_frames, counts.nr_wrong, counts.time_ns / (counts.nr_frames + 1),
	       (QUOTA_BYTES - memory.nr_left) / (counts.nr_frames + 1));
	return counts.nr_frames == 0 || counts.nr_wrong > 0;
}
