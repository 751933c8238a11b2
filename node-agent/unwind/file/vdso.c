/* SPDX-License-Identifier: Apache-2.0 */
/* The vDSO is an ELF file that is nowhere but in memory, where its file offsets are those from
 * its beginning: it has one PT_LOAD segment, and its section headers lie behind. */
#include "unwind/file/elf_rows.h"

#include "base/cleanup.h"
#include "base/fileio.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_VDSO_BYTES ((uint64_t)1 << 20)
#define VDSO_PAGE_BYTES 4096
#define NAME_BYTES 32

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The kernel maps whole pages, all of them with what its headers name. */
static uint64_t find_size(const uint8_t *image)
{
	uint64_t size = 0;
	Elf64_Ehdr header;

	memcpy(&header, image, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_phentsize != sizeof(Elf64_Phdr))
		return 0;
	for (size_t i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, image + header.e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type == PT_LOAD)
			size = max(size, segment.p_offset + segment.p_filesz);
	}
	size = max(size, header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize);
	return (size + VDSO_PAGE_BYTES - 1) & ~(uint64_t)(VDSO_PAGE_BYTES - 1);
}

/* Before Linux 3.17 there is no memfd_create(2): a file of a file system in memory that has no
 * name any more is as good. */
static int open_memory_file(void)
{
	char name[NAME_BYTES];

	int fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 || errno != ENOSYS)
		return fd < 0 ? -errno : fd;
	snprintf(name, sizeof(name), "/flamelet-vdso-%d", getpid());
	fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return -errno;
	shm_unlink(name);
	return fd;
}

int elf_rows_open_vdso(int *ret_fd)
{
	/* The kernel gives pointers as numbers. NOLINTNEXTLINE(performance-no-int-to-ptr) */
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	uint64_t size = image ? find_size(image) : 0;

	if (size == 0 || size > MAX_VDSO_BYTES)
		return -ENOENT;

	_cleanup_close_ int fd = open_memory_file();
	if (fd < 0)
		return fd;

	int r = fd_write_all(fd, image, (size_t)size);
	if (r < 0)
		return r;
	*ret_fd = take_fd(fd);
	return 0;
}
