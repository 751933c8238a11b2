/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/lock_places.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/strbuf.h"
#include "process/maps_parser.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAPS_MAX_BYTES ((size_t)16 << 20)

/* Files by which processes share memory. */
static const char *const shared_paths[] = { "/dev/shm/", "/memfd:", "/SYSV", "/dev/zero" };

void lock_places_init(struct lock_places *places, int proc_fd)
{
	places->proc_fd = proc_fd;
}

static void forget(struct lock_process *process)
{
	for (size_t i = 0; i < process->nr_places; i++)
		free(process->places[i].file);
	process->nr_places = 0;
	process->is_known = false;
}

void lock_places_done(struct lock_places *places)
{
	for (size_t i = 0; i < array_len(places->processes); i++) {
		forget(&places->processes[i]);
		free(places->processes[i].places);
	}
}

static bool is_shared(const struct maps_line *line)
{
	for (size_t i = 0; i < array_len(shared_paths); i++) {
		size_t len = strlen(shared_paths[i]);

		if (line->path_len >= len && memcmp(line->path, shared_paths[i], len) == 0)
			return true;
	}
	return false;
}

static char *base_name(const struct maps_line *line)
{
	const char *slash = memrchr(line->path, '/', line->path_len);
	const char *name = slash ? slash + 1 : line->path;

	return strndup(name, (size_t)(line->path + line->path_len - name));
}

static int add_place(struct lock_process *process, const struct maps_line *line, uint64_t base)
{
	int r = array_grow(process->places, process->cap_places, process->nr_places + 1,
			   LOCK_PLACES_MAX_FILES);
	char *file = r == 0 ? base_name(line) : NULL;

	if (!file)
		return r < 0 ? r : -ENOMEM;
	process->places[process->nr_places++] = (struct lock_place){
		.start = line->start,
		.end = line->end,
		.base = base,
		.file = file,
		.is_shared = is_shared(line),
	};
	return 0;
}

/* The mappings of a file follow each other, the first one of them first. The kernel puts the zeros
 * of its data behind them, as memory without a name. */
static void add_lines(struct lock_process *process, const char *text, size_t len)
{
	struct maps_line line, first = { 0 };
	struct maps_parser parser;
	struct lock_place *last;

	maps_parser_init(&parser, text, len);
	while (maps_parser_next(&parser, &line)) {
		last = process->nr_places > 0 ? &process->places[process->nr_places - 1] : NULL;
		if (line.inode == 0 && line.path_len == 0 && last && last->end == line.start &&
		    !last->is_shared)
			last->end = line.end;
		if (line.inode == 0)
			continue;
		if (line.inode != first.inode || line.dev_major != first.dev_major ||
		    line.dev_minor != first.dev_minor || line.file_offset == 0)
			first = line;
		if (line.is_writable &&
		    add_place(process, &line, first.start - first.file_offset) < 0)
			return;
	}
}

static void read_maps(struct lock_places *places, struct lock_process *process, uint64_t now_ns)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAPS_MAX_BYTES);
	char path[32];

	snprintf(path, sizeof(path), "%" PRIu32 "/maps", process->pid);
	int r = file_read_at(places->proc_fd, path, &text);
	if (r == 0 && text.len > 0) {
		forget(process);
		add_lines(process, strbuf_str(&text), text.len);
		process->is_known = true;
	}
	process->next_read_ns = now_ns + LOCK_PLACES_READ_NS;
	places->next_read_ns = now_ns + LOCK_PLACES_SHARE * (clock_mono_ns() - now_ns);
}

static struct lock_process *get_process(struct lock_places *places,
					const struct sample_event *event)
{
	struct lock_process *process = &places->processes[event->pid % LOCK_PLACES_MAX_PROCESSES];

	if (process->pid == event->pid && process->start_ns == event->start_ns)
		return process;
	forget(process);
	process->pid = event->pid;
	process->start_ns = event->start_ns;
	process->next_read_ns = 0;
	return process;
}

static const struct lock_place *find_place(const struct lock_process *process, uint64_t address)
{
	for (size_t i = 0; i < process->nr_places; i++)
		if (address >= process->places[i].start && address < process->places[i].end)
			return &process->places[i];
	return NULL;
}

void lock_places_name(struct lock_places *places, const struct sample_event *event,
		      char name[static LOCK_NAME_BYTES])
{
	struct lock_process *process = get_process(places, event);
	uint64_t address = event->lock;
	const struct lock_place *place = find_place(process, address);
	uint64_t now_ns = clock_mono_ns();

	if (!place && now_ns >= process->next_read_ns && now_ns >= places->next_read_ns) {
		read_maps(places, process, now_ns);
		place = find_place(process, address);
	}
	if (!process->is_known)
		snprintf(name, LOCK_NAME_BYTES, "[lock]");
	else if (!place)
		snprintf(name, LOCK_NAME_BYTES, "[lock on the heap]");
	else if (place->is_shared)
		snprintf(name, LOCK_NAME_BYTES, "[lock in shared memory]");
	else
		snprintf(name, LOCK_NAME_BYTES, "[lock in %.80s+0x%" PRIx64 "]", place->file,
			 address - place->base);
}
