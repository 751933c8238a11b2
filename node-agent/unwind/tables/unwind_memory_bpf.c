/* SPDX-License-Identifier: Apache-2.0 */
/* BPF maps. Chunks are written and read through short-lived mappings, so that they do not count as
 * resident memory twice. */
#include "unwind/tables/unwind_memory.h"

#include "base/capabilities.h"
#include "base/locked.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#define TABLES_BYTES (MAX_TABLE_SLOTS * sizeof(struct table_slot))

struct bpf_memory {
	struct unwind_memory memory;
	int arena_fd; /* borrowed */
	int processes_fd; /* borrowed */
	struct unwind_file_maps file_maps; /* borrowed; -EBADF: none */
	size_t page_bytes;
	pthread_mutex_t unwinding; /* held by local unwinders */
	pthread_mutex_t adding; /* guards the chunks */
	uint32_t nr_chunks;
	int chunk_fds[ARENA_MAX_CHUNKS]; /* owned */
};

static struct bpf_memory *get_bpf(struct unwind_memory *memory)
{
	return (struct bpf_memory *)memory;
}

static void free_bpf(struct unwind_memory *memory)
{
	struct bpf_memory *bpf = get_bpf(memory);

	for (uint32_t i = 0; i < bpf->nr_chunks; i++)
		close(bpf->chunk_fds[i]);
	munmap(memory->tables, TABLES_BYTES);
	pthread_mutex_destroy(&bpf->unwinding);
	pthread_mutex_destroy(&bpf->adding);
	free(bpf);
}

static int add_chunk(struct unwind_memory *memory, uint32_t index)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	struct bpf_memory *bpf = get_bpf(memory);

	if (index < bpf->nr_chunks)
		return 0;
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "arena_chunk", sizeof(index),
						ARENA_BLOCK_BYTES, ARENA_CHUNK_BLOCKS, &opts);
	if (fd < 0)
		return fd;
	int r = bpf_map_update_elem(bpf->arena_fd, &index, &fd, BPF_ANY);
	if (r < 0)
		return r;
	LOCKED(&bpf->adding);
	bpf->chunk_fds[bpf->nr_chunks++] = take_fd(fd);
	return 0;
}

/* Maps the pages from the first one that the piece lies in. */
static int map(struct unwind_memory *memory, uint64_t address, size_t len,
	       struct unwind_window *ret_window)
{
	struct bpf_memory *bpf = get_bpf(memory);
	size_t offset = address % ARENA_CHUNK_BYTES;
	size_t first_page = offset / bpf->page_bytes * bpf->page_bytes;

	len += offset - first_page;
	void *pages = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED,
			   bpf->chunk_fds[address / ARENA_CHUNK_BYTES], (off_t)first_page);
	if (pages == MAP_FAILED)
		return -errno;
	*ret_window = (struct unwind_window){
		.place = (uint8_t *)pages + (offset - first_page),
		.pages = pages,
		.len = len,
	};
	return 0;
}

static int bind(struct unwind_memory *memory, uint32_t pid, uint64_t binding)
{
	return bpf_map_update_elem(get_bpf(memory)->processes_fd, &pid, &binding, BPF_EXIST);
}

static int find_binding(struct unwind_memory *memory, uint32_t pid, uint64_t *ret_binding)
{
	return bpf_map_lookup_elem(get_bpf(memory)->processes_fd, &pid, ret_binding);
}

static int set_binding(struct unwind_memory *memory, uint32_t pid, uint64_t binding)
{
	return bpf_map_update_elem(get_bpf(memory)->processes_fd, &pid, &binding, BPF_ANY);
}

static void close_view(struct unwind_view *view)
{
	if (view->arena)
		munmap(view->arena, view->max_bytes);
	view->arena = NULL;
}

/* Unwinders also write: marks in mapping tables. */
static int map_chunks(const struct bpf_memory *bpf, uint8_t *arena)
{
	for (uint32_t i = 0; i < bpf->nr_chunks; i++)
		if (mmap(arena + (size_t)i * ARENA_CHUNK_BYTES, ARENA_CHUNK_BYTES,
			 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, bpf->chunk_fds[i],
			 0) == MAP_FAILED)
			return -errno;
	return 0;
}

static int open_view(struct unwind_memory *memory, struct unwind_view *ret_view)
{
	struct bpf_memory *bpf = get_bpf(memory);
	struct unwind_view view = { .unwinding = &bpf->unwinding };

	LOCKED(&bpf->adding);
	view.max_bytes = (size_t)bpf->nr_chunks * ARENA_CHUNK_BYTES;
	if (view.max_bytes > 0) {
		view.arena = mmap(NULL, view.max_bytes, PROT_READ,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (view.arena == MAP_FAILED)
			return -errno;
	}
	int r = map_chunks(bpf, view.arena);
	if (r < 0)
		close_view(&view);
	else
		*ret_view = view;
	return r;
}

/* Replaces the first chunk by itself, which changes nothing but takes a grace period:
 * synchronize_rcu() in the kernel, and BPF programs are its readers (maybe_wait_bpf_programs(),
 * kernel commit 1ae80cf31938). Without a chunk there is nothing that a program could be reading. */
static int wait_for_programs(struct unwind_memory *memory)
{
	struct bpf_memory *bpf = get_bpf(memory);
	uint32_t key = 0;

	pthread_mutex_lock(&bpf->unwinding); /* the stack that was being unwound here is done */
	pthread_mutex_unlock(&bpf->unwinding);
	if (bpf->nr_chunks == 0)
		return 0;
	return bpf_map_update_elem(bpf->arena_fd, &key, &bpf->chunk_fds[0], BPF_ANY);
}

/* Maps the file as any process does, without touching it. The kernel side looks at that mapping. */
static int find_key(struct unwind_memory *memory, int fd, struct file_key *ret_key)
{
	const struct bpf_memory *bpf = get_bpf(memory);
	uint32_t zero = 0;

	if (bpf->file_maps.find_key_fd < 0)
		return -EOPNOTSUPP;
	void *page = mmap(NULL, bpf->page_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	uint64_t address = (uintptr_t)page;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &address, .ctx_size_in = sizeof(address));
	int r = bpf_prog_test_run_opts(bpf->file_maps.find_key_fd, &opts);
	munmap(page, bpf->page_bytes);
	if (r < 0)
		return r;
	if (opts.retval != 0)
		return -EOPNOTSUPP;
	return bpf_map_lookup_elem(bpf->file_maps.found_fd, &zero, ret_key);
}

static int set_file(struct unwind_memory *memory, const struct file_key *key, uint32_t slot)
{
	const struct bpf_memory *bpf = get_bpf(memory);

	if (bpf->file_maps.files_fd < 0)
		return -EOPNOTSUPP;
	return bpf_map_update_elem(bpf->file_maps.files_fd, key, &slot, BPF_ANY);
}

/* Removes the key, unless the same file has got another slot, as one that was seen by other
 * names. */
static void unset_file(struct unwind_memory *memory, const struct file_key *key, uint32_t slot)
{
	const struct bpf_memory *bpf = get_bpf(memory);
	uint32_t present;

	if (bpf_map_lookup_elem(bpf->file_maps.files_fd, key, &present) == 0 && present == slot)
		(void)bpf_map_delete_elem(bpf->file_maps.files_fd, key);
}

static const struct unwind_memory_ops bpf_ops = {
	.free = free_bpf,
	.add_chunk = add_chunk,
	.map = map,
	.bind = bind,
	.find_binding = find_binding,
	.set_binding = set_binding,
	.open_view = open_view,
	.close_view = close_view,
	.wait = wait_for_programs,
	.find_key = find_key,
	.set_file = set_file,
	.unset_file = unset_file,
};

int unwind_memory_bpf_new(int arena_fd, int tables_fd, int processes_fd,
			  struct unwind_memory **ret_memory)
{
	_cleanup_free_ struct bpf_memory *bpf = calloc(1, sizeof(*bpf));

	if (!bpf)
		return -ENOMEM;
	void *tables = mmap(NULL, TABLES_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, tables_fd, 0);
	if (tables == MAP_FAILED)
		return -errno;
	bpf->memory = (struct unwind_memory){ .ops = &bpf_ops,
					      .tables = tables,
					      .capabilities = CAPABILITY(BPF) };
	pthread_mutex_init(&bpf->unwinding, NULL);
	pthread_mutex_init(&bpf->adding, NULL);
	bpf->arena_fd = arena_fd;
	bpf->processes_fd = processes_fd;
	bpf->file_maps = (struct unwind_file_maps){ -EBADF, -EBADF, -EBADF };
	bpf->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	*ret_memory = &take_ptr(bpf)->memory;
	return 0;
}

void unwind_memory_bpf_know_files(struct unwind_memory *memory, const struct unwind_file_maps *maps)
{
	get_bpf(memory)->file_maps = *maps;
}
