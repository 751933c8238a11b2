/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime_standin.h"

#include "worker/worker_server.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_NAME_BYTES 64
#define MAX_MAPS_LINE 512

static int read_file(struct elf_exports *exports, struct runtime_file *ret_file)
{
	struct elf_export found;

	if (elf_exports_find(exports, "gnu_get_libc_version", &found) < 0)
		return 0;
	*ret_file = (struct runtime_file){ .kind = RUNTIME_CPYTHON,
					   .version = RUNTIME_STANDIN_VERSION };
	return 1;
}

static int inspect(struct process_memory *memory, const struct runtime_file *file, uint64_t bias,
		   struct runtime_found *ret_found)
{
	struct runtime_standin standin;

	int r = process_memory_read(memory, bias, &standin, sizeof(standin));
	if (r < 0)
		return r;
	*ret_found = (struct runtime_found){
		.state = (uint32_t)standin.state,
		.version = file->version,
		.layout.cpython = { .kind = RUNTIME_CPYTHON,
				    .nr_place = 1,
				    .place = { (int32_t)standin.place } },
		.process = { .kind = RUNTIME_CPYTHON, .words = { bias } },
		.is_shared = standin.is_shared != 0,
		.is_likely = standin.is_likely != 0,
		.has_process = standin.has_process != 0,
		.is_marked = standin.is_marked != 0,
		.naming = { standin.place },
	};
	return 0;
}

static int name(struct process_memory *memory, const uint64_t *naming, const uint64_t *words,
		struct frame_writer *writer)
{
	volatile bool is_for_ever = true;
	char text[MAX_NAME_BYTES] = "";
	struct runtime_line line = {
		.name = text,
		.filename = RUNTIME_STANDIN_FILE,
		.filename_len = strlen(RUNTIME_STANDIN_FILE),
		.line = (uint32_t)RUNTIME_TAG_POSITION(words[0]),
	};

	(void)naming;
	ssize_t n = process_memory_read_some(memory, words[1], text, sizeof(text) - 1);
	if (n < 0)
		return (int)n;
	line.name_len = strlen(text);
	if (strcmp(text, RUNTIME_STANDIN_DEADLY) == 0)
		_exit(1);
	while (strcmp(text, RUNTIME_STANDIN_HANGING) == 0 && is_for_ever)
		;
	if (strcmp(text, RUNTIME_STANDIN_GREEDY) == 0)
		memory->nr_left /= 4;
	if (line.name_len == 0)
		return -ENOENT;
	frame_writer_add(writer, &line);
	return 0;
}

static const struct runtime_ops standin_runtime = {
	.kind = RUNTIME_CPYTHON,
	.label = "standin",
	.read_file = read_file,
	.inspect = inspect,
	.name = name,
};

const struct runtime_ops *runtime_standins[RUNTIME_NR_KINDS] = {
	[RUNTIME_CPYTHON] = &standin_runtime,
};

int runtime_standin_main(void)
{
	const struct worker_server_opts opts = {
		.name = "the stand-in",
		.sandbox = WORKER_SANDBOX_FILES,
		.max_request_bytes = RUNTIME_REQUEST_MAX_BYTES,
		.answer = runtime_worker_answer,
		.data = runtime_standins,
	};

	return worker_server_run(&opts);
}

int runtime_standin_open_file(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[MAX_MAPS_LINE];
	int fd = -EBADF;

	while (maps && fd < 0 && fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/');

		if (!path || !strstr(path, "/libc.so") || !strstr(line, " r-xp "))
			continue;
		path[strcspn(path, "\n")] = '\0';
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (maps)
		fclose(maps);
	return fd;
}

void runtime_standin_frame(const char *name, uint32_t line, uint64_t words[static 2])
{
	words[0] = RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, 0, line);
	words[1] = (uint64_t)(uintptr_t)name;
}
