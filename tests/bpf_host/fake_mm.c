/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_mm.h"

#include "fake_bpf.h"

#include "bpf/kernel.bpf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASK 0xffff888000001000ULL
#define MM 0xffff888000002000ULL
#define OTHER_MM 0xffff888000003000ULL
#define SUPER 0xffff888000004000ULL
#define FILES 0xffff900000000000ULL
#define INODES 0xffffa00000000000ULL
#define DEVICE 0x801

#define LINE_BYTES 1024
#define MAX_VMAS 512

static enum fake_tree tree;
static enum fake_times times;
static uint32_t nr_changes;

#define AT(type, address) ((type *)(uintptr_t)(address))

/* bpf/host/bpf/ declares them. */
__u64 bpf_get_current_task(void)
{
	return TASK;
}

bool host_field_exists(const char *field)
{
	if (strcmp(field, "mm_mt") == 0)
		return tree == FAKE_MAPLE;
	if (strncmp(field, "mm_lock_seq", strlen("mm_lock_seq")) == 0)
		return 0;
	if (strcmp(field, "i_ctime_sec") == 0)
		return times == FAKE_CTIME_SEC;
	if (strcmp(field, "__i_ctime") == 0)
		return times == FAKE_UNDERSCORE_CTIME;
	return 1;
}

static uint64_t rb_node_of(uint64_t vma)
{
	return vma ? vma + offsetof(struct vm_area_struct, vm_rb) : 0;
}

void fake_mm_set(enum fake_tree kind, uint64_t root)
{
	const struct task_struct task = { .mm = AT(struct mm_struct, MM) };
	const struct super_block super = { .s_dev = DEVICE };
	struct mm_struct mm = { .vmacache_seqnum = nr_changes,
				.context.vdso = AT(void, FAKE_VDSO) };

	tree = kind;
	if (kind == FAKE_MAPLE)
		mm.mm_mt.ma_root = AT(void, root);
	else
		mm.mm_rb.rb_node = AT(struct rb_node, rb_node_of(root));
	fake_add_memory(TASK, &task, sizeof(task));
	fake_add_memory(MM, &mm, sizeof(mm));
	fake_add_memory(SUPER, &super, sizeof(super));
}

void fake_mm_set_thread(uint64_t thread_pointer)
{
	const struct task_struct task = {
		.thread = { .fsbase = thread_pointer, .uw.tp_value = thread_pointer },
	};

	fake_add_memory(TASK, &task, sizeof(task));
}

void fake_mm_set_changes(uint32_t nr)
{
	nr_changes = nr;
}

void fake_mm_set_times(enum fake_times which)
{
	times = which;
}

void fake_mm_add_node(uint64_t address, const uint64_t words[static MAPLE_NODE_WORDS])
{
	fake_add_memory(address, words, MAPLE_NODE_WORDS * sizeof(*words));
}

/* As mt_mk_node() and mt_mk_root() of lib/maple_tree.c make them. */
static uint64_t entry_of(uint64_t address, enum maple_type type)
{
	return address | (uint64_t)type << 3 | 2 | 4;
}

uint64_t fake_maple_leaf(uint64_t address)
{
	return entry_of(address, maple_leaf_64);
}

uint64_t fake_maple_range(uint64_t address)
{
	return entry_of(address, maple_range_64);
}

uint64_t fake_maple_arange(uint64_t address)
{
	return entry_of(address, maple_arange_64);
}

struct file_key fake_file_key(uint64_t inode)
{
	return (struct file_key){
		.inode = inode,
		.ctime_s = 1000000 + inode,
		.ctime_ns = 123456789,
		.device = DEVICE,
		.generation = (uint32_t)inode + 7,
	};
}

/* All kinds of times but one are wrong; the newest one has a flag beside it. */
static void add_file(uint64_t file_address, uint64_t inode_number)
{
	const struct file_key key = fake_file_key(inode_number);
	const struct timespec64 time = { (int64_t)key.ctime_s, key.ctime_ns };
	const struct file file = { .f_inode = AT(struct inode, INODES + inode_number * 0x1000) };
	struct inode inode = {
		.i_ino = inode_number,
		.i_generation = key.generation,
		.i_sb = AT(struct super_block, SUPER),
	};

	if (times == FAKE_I_CTIME)
		inode.i_ctime = time;
	if (times == FAKE_UNDERSCORE_CTIME)
		inode.__i_ctime = time;
	if (times == FAKE_CTIME_SEC) {
		inode.i_ctime_sec = time.tv_sec;
		inode.i_ctime_nsec = (uint32_t)time.tv_nsec | 1U << 31;
	}
	fake_add_memory(file_address, &file, sizeof(file));
	fake_add_memory((uint64_t)(uintptr_t)file.f_inode, &inode, sizeof(inode));
}

static void add_vma(uint64_t mm, uint64_t address, const struct fake_vma *vma, uint64_t left,
		    uint64_t right)
{
	static uint64_t nr_files;
	uint64_t file_address = vma->inode ? FILES + ++nr_files * 0x100 : 0;
	const struct vm_area_struct area = {
		.vm_start = vma->start,
		.vm_end = vma->end,
		.vm_mm = AT(struct mm_struct, mm),
		.vm_flags = vma->flags,
		.vm_pgoff = vma->page,
		.vm_file = AT(struct file, file_address),
		.vm_rb = { AT(struct rb_node, rb_node_of(right)),
			   AT(struct rb_node, rb_node_of(left)) },
	};

	fake_add_memory(address, &area, sizeof(area));
	if (vma->inode)
		add_file(file_address, vma->inode);
}

void fake_mm_add_vma(uint64_t address, const struct fake_vma *vma, uint64_t left, uint64_t right)
{
	add_vma(MM, address, vma, left, right);
}

void fake_mm_add_foreign_vma(uint64_t address, const struct fake_vma *vma)
{
	add_vma(OTHER_MM, address, vma, 0, 0);
}

/* Hexadecimal numbers, one space before each. */
static size_t parse_words(const char *text, uint64_t *words, size_t max)
{
	static const char digits[] = "0123456789abcdef";
	size_t nr = 0;

	while (nr < max && *text == ' ') {
		const char *digit;
		uint64_t word = 0;

		while (*++text && (digit = strchr(digits, *text)))
			word = word << 4 | (uint64_t)(digit - digits);
		words[nr++] = word;
	}
	return nr;
}

static void load_line(const char *line, uint64_t *place, struct fake_recording *recording)
{
	uint64_t words[1 + MAPLE_NODE_WORDS] = { 0 };
	const char *space = strchr(line, ' ');
	size_t nr = space ? parse_words(space, words, 1 + MAPLE_NODE_WORDS) : 0;

	if (strncmp(line, "maple ", 6) == 0) {
		fake_mm_set(FAKE_MAPLE, words[0]);
	} else if (strncmp(line, "rbtree ", 7) == 0) {
		*place = words[1];
		fake_mm_set(FAKE_RBTREE, words[0] - *place);
	} else if (strncmp(line, "node ", 5) == 0 && nr == 1 + MAPLE_NODE_WORDS) {
		fake_mm_add_node(words[0], words + 1);
	} else if (strncmp(line, "vma ", 4) == 0 && recording->nr_vmas < MAX_VMAS) {
		const struct fake_vma vma = { words[1], words[2], words[3], words[4], words[5] };

		fake_mm_add_vma(words[0], &vma, words[6] ? words[6] - *place : 0,
				words[7] ? words[7] - *place : 0);
		recording->vmas[recording->nr_vmas++] = vma;
	}
}

int fake_mm_load(const char *path, struct fake_recording *ret_recording)
{
	struct fake_recording recording = { .vmas = calloc(MAX_VMAS, sizeof(*recording.vmas)) };
	FILE *file = fopen(path, "re");
	char line[LINE_BYTES];
	uint64_t place = 0;

	if (!file || !recording.vmas)
		return -ENOENT;
	while (fgets(line, sizeof(line), file))
		load_line(line, &place, &recording);
	fclose(file);
	*ret_recording = recording;
	return 0;
}
