/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot_writer.h"
#include "recorded_files.h"
#include "tracee.h"

#include "base/err.h"
#include "bpf/shared/cfi.h"
#include "bpf/shared/events.h"

#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define MAX_SNAPSHOTS 128
#define MAX_STACK_FRAMES 64
#define MAX_PIECES 128 /* of memory, of a snapshot */
#define STACK_BELOW 128 /* bytes kept below the lowest stack pointer … */
#define STACK_ABOVE 256 /* … and above the highest one of a mapping */
#define CODE_BYTES 8 /* kept from each address of a frame on … */
#define CALL_BYTES 4 /* … and before it */
#define LINE_BYTES 32
#define MAX_LINES 8192 /* of memory */

struct piece {
	uint64_t address;
	uint64_t end;
	uint8_t *data; /* owned; NULL: not read yet */
};

struct frame {
	uint64_t address;
	uint64_t sp;
	char *symbol; /* owned */
	bool is_signal; /* what it goes back to was interrupted */
};

struct snapshot {
	struct tracee_registers registers;
	struct frame frames[MAX_STACK_FRAMES];
	size_t nr_frames;
	bool is_open; /* libdw did not find all frames */
	struct piece pieces[MAX_PIECES];
	size_t nr_pieces;
};

/* Memory as it was last written. */
struct line {
	uint64_t address;
	uint8_t data[LINE_BYTES];
};

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	char perms[8];
	char path[256];
};

static struct snapshot snapshots[MAX_SNAPSHOTS];
static size_t nr_snapshots;
static struct line lines[MAX_LINES];
static size_t nr_lines;
static struct mapping mappings[256];
static size_t nr_mappings;

/* NOLINTNEXTLINE(readability-function-size): libdwfl's parameters */
static int find_no_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
			     Dwarf_Addr base, const char *path, const char *link, GElf_Word crc,
			     char **ret_path)
{
	(void)module, (void)userdata, (void)name, (void)base, (void)path, (void)link, (void)crc;
	*ret_path = NULL;
	return -1;
}

Dwfl *snapshot_attach(pid_t pid)
{
	static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_linux_proc_find_elf,
						  .find_debuginfo = find_no_debuginfo };
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (!dwfl || dwfl_linux_proc_report(dwfl, pid) != 0 ||
	    dwfl_report_end(dwfl, NULL, NULL) != 0 || dwfl_linux_proc_attach(dwfl, pid, true) < 0)
		errx(1, "libdwfl: %s", dwfl_errmsg(-1));
	return dwfl;
}

static void read_mappings(pid_t pid)
{
	char path[64];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		err(1, "%s", path);
	for (char line[512]; fgets(line, sizeof(line), maps);) {
		struct mapping *mapping = &mappings[nr_mappings];

		recorded_must_fit(nr_mappings, array_len(mappings), "mappings");
		mapping->path[0] = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", &mapping->start, &mapping->end,
			   mapping->perms, &mapping->offset, mapping->path) >= 4)
			nr_mappings++;
	}
	fclose(maps);
}

static const struct mapping *find_mapping(uint64_t address)
{
	for (size_t i = 0; i < nr_mappings; i++)
		if (address >= mappings[i].start && address < mappings[i].end)
			return &mappings[i];
	return NULL;
}

static int take_frame(Dwfl_Frame *state, void *argument)
{
	struct snapshot *snapshot = argument;
	size_t index = snapshot->nr_frames;
	struct frame *frame = &snapshot->frames[index];
	bool is_interrupted = index > 0 && frame[-1].is_signal;
	Dwfl *dwfl = dwfl_thread_dwfl(dwfl_frame_thread(state));
	Dwfl_Module *module;
	GElf_Addr bias;

	/* If libdw does not notice the last frame, it loops for ever. */
	if (index == MAX_STACK_FRAMES || !dwfl_frame_pc(state, &frame->address, NULL) ||
	    frame->address == 0 || dwfl_frame_reg(state, CFI_SP, &frame->sp) != 0)
		return DWARF_CB_ABORT;
	uint64_t code = frame->address - (index > 0 && !is_interrupted);
	module = dwfl_addrmodule(dwfl, code);
	if (module) {
		Elf *elf = dwfl_module_getelf(module, &bias);
		const char *name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL,
						    NULL);
		const char *symbol = dwfl_module_addrname(module, code);

		frame->is_signal = recorded_file_keep(recorded_file_get(name, elf), code - bias);
		frame->symbol = recorded_name(symbol ? symbol : recorded_base_name(name));
	}
	if (is_interrupted)
		frame->address |= FRAME_INTERRUPTED;
	snapshot->nr_frames++;
	return DWARF_CB_OK;
}

static void add_piece(struct snapshot *snapshot, uint64_t address, uint64_t end)
{
	recorded_must_fit(snapshot->nr_pieces, MAX_PIECES, "pieces of memory");
	address -= address % LINE_BYTES;
	end += -end % LINE_BYTES;
	snapshot->pieces[snapshot->nr_pieces++] = (struct piece){ address, end, NULL };
}

/* The part of a mapping between the stack pointers that are in it. */
static void add_stack(struct snapshot *snapshot, const struct mapping *mapping)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < snapshot->nr_frames; i++) {
		uint64_t sp = snapshot->frames[i].sp;

		if (sp < mapping->start || sp >= mapping->end)
			continue;
		low = sp < low ? sp : low;
		high = sp > high ? sp : high;
	}
	if (low > high)
		return;
	low = low - mapping->start > STACK_BELOW ? low - STACK_BELOW : mapping->start;
	high = mapping->end - high > STACK_ABOVE ? high + STACK_ABOVE : mapping->end;
	add_piece(snapshot, low, high);
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Sorts pieces and joins those that overlap, then reads them. */
static void read_pieces(struct snapshot *snapshot, pid_t pid)
{
	struct piece *pieces = snapshot->pieces;
	size_t nr = 0;

	qsort(pieces, snapshot->nr_pieces, sizeof(*pieces), compare_pieces);
	for (size_t i = 0; i < snapshot->nr_pieces; i++) {
		if (nr > 0 && pieces[i].address <= pieces[nr - 1].end) {
			if (pieces[i].end > pieces[nr - 1].end)
				pieces[nr - 1].end = pieces[i].end;
			continue;
		}
		pieces[nr++] = pieces[i];
	}
	snapshot->nr_pieces = 0;
	for (size_t i = 0; i < nr; i++) {
		size_t len = pieces[i].end - pieces[i].address;
		struct iovec local = { malloc(len), len };
		struct iovec remote = { (void *)pieces[i].address, len };

		if (!local.iov_base)
			err(1, "malloc");
		pieces[i].data = local.iov_base;
		if (process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)len)
			pieces[snapshot->nr_pieces++] = pieces[i];
	}
}

static void drop_snapshot(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->nr_frames; i++)
		free(snapshot->frames[i].symbol);
	for (size_t i = 0; i < snapshot->nr_pieces; i++)
		free(snapshot->pieces[i].data);
	memset(snapshot, 0, sizeof(*snapshot));
	nr_snapshots--;
}

bool snapshot_reaches(const char *symbol)
{
	struct snapshot *snapshot = &snapshots[nr_snapshots - 1];
	const struct frame *last = &snapshot->frames[snapshot->nr_frames - 1];

	if (snapshot->nr_frames > 0 && last->symbol && strcmp(last->symbol, symbol) == 0)
		return true;
	drop_snapshot(snapshot);
	return false;
}

void snapshot_take(Dwfl *dwfl, pid_t pid, pid_t tid, size_t max_frames)
{
	struct snapshot *snapshot = &snapshots[nr_snapshots];

	recorded_must_fit(nr_snapshots, MAX_SNAPSHOTS, "snapshots");
	nr_snapshots++;
	nr_mappings = 0;
	read_mappings(pid);
	tracee_read_registers(tid, &snapshot->registers);
	snapshot->is_open = dwfl_getthread_frames(dwfl, tid, take_frame, snapshot) != 0;
	if (max_frames > 0 && snapshot->nr_frames >= max_frames) {
		snapshot->nr_frames = max_frames;
		snapshot->is_open = true;
	}
	for (size_t i = 0; i < nr_mappings; i++)
		if (mappings[i].perms[0] == 'r' && mappings[i].perms[2] != 'x')
			add_stack(snapshot, &mappings[i]);
	for (size_t i = 0; i < snapshot->nr_frames; i++) {
		uint64_t code = snapshot->frames[i].address & ~FRAME_INTERRUPTED;

		if (find_mapping(code))
			add_piece(snapshot, code - CALL_BYTES, code + CODE_BYTES);
	}
	read_pieces(snapshot, pid);
}

static struct line *find_line(uint64_t address)
{
	for (size_t i = 0; i < nr_lines; i++)
		if (lines[i].address == address)
			return &lines[i];
	recorded_must_fit(nr_lines, MAX_LINES, "lines of memory");
	lines[nr_lines].address = address;
	return &lines[nr_lines++];
}

/* Only what has changed. */
static void write_memory(FILE *out, const struct piece *piece)
{
	for (uint64_t at = piece->address; at < piece->end; at += LINE_BYTES) {
		const uint8_t *data = piece->data + (at - piece->address);
		size_t nr_known = nr_lines;
		struct line *line = find_line(at);

		if (nr_lines == nr_known && memcmp(line->data, data, LINE_BYTES) == 0)
			continue;
		memcpy(line->data, data, LINE_BYTES);
		fprintf(out, "memory %lx ", at);
		recorded_hex(out, data, LINE_BYTES);
	}
}

static void write_code(FILE *out)
{
	for (size_t i = 0; i < nr_mappings; i++) {
		const struct mapping *mapping = &mappings[i];
		size_t slot = recorded_slot(mapping->path);

		if (mapping->perms[2] == 'x' && slot > 0)
			fprintf(out, "code %lx %lx %lx %zu\n", mapping->start, mapping->end,
				mapping->start - mapping->offset, slot);
	}
}

static void write_snapshot(FILE *out, const struct snapshot *snapshot, size_t index)
{
	fprintf(out, "snapshot %zu\nregs", index);
	for (size_t i = 0; i < NR_REGS; i++)
		fprintf(out, " %lx", snapshot->registers.by_number[i]);
	fprintf(out, " %lx\n", snapshot->registers.ip);
	for (size_t i = 0; i < snapshot->nr_pieces; i++)
		write_memory(out, &snapshot->pieces[i]);
	for (size_t i = 0; i < snapshot->nr_frames; i++)
		fprintf(out, "frame %lx %s\n", snapshot->frames[i].address,
			snapshot->frames[i].symbol ? snapshot->frames[i].symbol : "?");
	fprintf(out, "end %s\n", snapshot->is_open ? "any" : "complete");
}

void snapshot_write(const char *path, const char *name)
{
	FILE *out = fopen(path, "we");

	if (!out)
		err(1, "%s", path);
	fprintf(out, "# %s\n", name);
	recorded_files_write(out);
	write_code(out);
	for (size_t i = 0; i < nr_snapshots; i++)
		write_snapshot(out, &snapshots[i], i);
	if (fclose(out) != 0)
		err(1, "%s", path);
}
