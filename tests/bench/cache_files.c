/* SPDX-License-Identifier: Apache-2.0 */
#include "cache_files.h"

#include "base/clock.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PAGE_BYTES 4096

int cache_files_init(struct cache_files *files, const struct cache_files_opts *opts)
{
	int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct elf_cache_opts cache_opts = {
		.proc_fd = proc_fd,
		.max_bytes = CACHE_FILES_MAX_BYTES,
		.worker_program = opts->worker_program,
		.demangle = opts->demangle,
		.wants_lines = opts->wants_lines,
		.debug_files = { .host_root_fd = -EBADF },
	};

	*files = (struct cache_files){ .proc_fd = proc_fd };
	if (proc_fd < 0)
		return -errno;
	int r = elf_cache_new(&cache_opts, &files->cache);
	if (r == 0)
		r = cache_files_wait(files);
	if (r < 0)
		cache_files_done(files);
	return r;
}

void cache_files_done(struct cache_files *files)
{
	elf_cache_free(files->cache);
	cleanup_closep(&files->proc_fd);
	*files = (struct cache_files){ .proc_fd = -EBADF };
}

static int open_mapped(struct cache_files *files, const void *page, const struct stat *status,
		       const char *path, uint32_t *ret_id)
{
	struct mapped_file file = {
		.inode = status->st_ino,
		.dev_major = major(status->st_dev),
		.dev_minor = minor(status->st_dev),
		.path = (char *)path,
	};
	const struct mapping mapping = {
		.start = (uintptr_t)page,
		.end = (uintptr_t)page + PAGE_BYTES,
		.file = &file,
	};

	return elf_cache_open(files->cache, 0, (uint32_t)getpid(), &mapping, ret_id);
}

int cache_files_open(struct cache_files *files, const char *path, uint32_t *ret_id)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	void *page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	int r = open_mapped(files, page, &status, path, ret_id);
	munmap(page, PAGE_BYTES);
	return r;
}

int cache_files_wait(struct cache_files *files)
{
	const struct timespec pause = clock_timespec(NSEC_PER_MSEC); /* until a worker may start */
	uint64_t until_ns = clock_mono_ns() + CACHE_FILES_WAIT_NS;

	while (!elf_cache_wait(files->cache, until_ns)) {
		if (clock_mono_ns() >= until_ns)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
	return 0;
}

uint64_t cache_files_cpu_ns(struct cache_files *files)
{
	bool is_done = elf_cache_wait(files->cache, 0);

	(void)is_done; /* brings the figures up to date */
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) +
	       elf_cache_get_stats(files->cache).worker.cpu_ns;
}
