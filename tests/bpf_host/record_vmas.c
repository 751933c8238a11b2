/* SPDX-License-Identifier: Apache-2.0 */
/* Records how the running kernel keeps a process's mappings, for tests/fixtures/vmas:
 * record_vmas > FILE. The process is this one, with some dozens of mappings more, so that the
 * tree has levels. Lines, all numbers in hex:
 *
 *	maple ROOT | rbtree ROOT PLACE-OF-NODE
 *	node ADDRESS WORD×32
 *	vma ADDRESS START END FLAGS PAGE INODE LEFT RIGHT */
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "record_vmas.h"
#include "record_vmas_bpf.skel.h"

#define NR_MORE 60
#define MAX_DEPTH 64

static struct record_vmas_bpf *skel;

static struct vma_record ask(enum vma_question question, uint64_t address)
{
	struct vma_record record = { 0 };
	uint64_t args[2] = { question, address };
	uint32_t zero = 0;

	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));
	if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.record), &opts) < 0 ||
	    bpf_map_lookup_elem(bpf_map__fd(skel->maps.found), &zero, &record) < 0)
		fputs("cannot ask the kernel\n", stderr);
	return record;
}

static struct vma_record print_vma(uint64_t address)
{
	struct vma_record record = ask(RECORD_VMA, address);

	printf("vma %llx", (unsigned long long)address);
	for (int i = VMA_START; i <= VMA_RIGHT; i++)
		printf(" %llx", (unsigned long long)record.words[i]);
	putchar('\n');
	return record;
}

/* Entries of a maple node: in all its slots, of which those behind the end may be anything that
 * was there before. */
static void print_node(uint64_t entry, int depth)
{
	uint64_t type = entry >> 3 & 15, node = entry & ~UINT64_C(255);
	struct vma_record record = ask(RECORD_NODE, node);
	int nr_pivots = type == 3 ? 9 : 15;

	printf("node %llx", (unsigned long long)node);
	for (int i = 0; i < 32; i++)
		printf(" %llx", (unsigned long long)record.words[i]);
	putchar('\n');
	for (int i = 0; i <= nr_pivots && depth < MAX_DEPTH; i++) {
		uint64_t child = record.words[1 + nr_pivots + i];

		if (child != 0 && type > 1)
			print_node(child, depth + 1);
		else if (child > 4096)
			print_vma(child);
		if (i < nr_pivots &&
		    (record.words[1 + i] == 0 || record.words[1 + i] == UINT64_MAX))
			break;
	}
}

static void print_rb(uint64_t node, uint64_t place, int depth)
{
	if (node == 0 || depth == MAX_DEPTH)
		return;
	struct vma_record record = print_vma(node - place);

	print_rb(record.words[VMA_LEFT], place, depth + 1);
	print_rb(record.words[VMA_RIGHT], place, depth + 1);
}

/* Neighbours that cannot be one mapping, with holes between some. */
static int map_more(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *all = mmap(NULL, 3 * NR_MORE * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED)
		return -errno;
	for (size_t i = 0; i < NR_MORE; i++) {
		char *place = all + 3 * i * page;

		if (mprotect(place, page, PROT_READ | (i % 2 ? PROT_EXEC : PROT_WRITE)) < 0 ||
		    (i % 3 == 0 && munmap(place + page, page) < 0))
			return -errno;
	}
	return 0;
}

int main(void)
{
	static char buffer[256 * 1024]; /* memory that is allocated would change the tree */

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	skel = record_vmas_bpf__open_and_load();
	if (!skel || map_more() < 0)
		return 1;
	fflush(stdout);
	struct vma_record root = ask(RECORD_ROOT, 0);
	if (root.is_maple) {
		printf("maple %llx\n", (unsigned long long)root.words[0]);
		print_node(root.words[0], 0);
	} else {
		printf("rbtree %llx %llx\n", (unsigned long long)root.words[0],
		       (unsigned long long)root.words[1]);
		print_rb(root.words[0], root.words[1], 0);
	}
	record_vmas_bpf__destroy(skel);
	return 0;
}
