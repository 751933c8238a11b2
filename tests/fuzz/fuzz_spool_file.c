/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a spool finds in its directory. The first byte of the input says what the rest is: a
 * file as it is, or (random bytes have no right checksums) what the head claims and a compressed
 * body, to which the checksums are made. Whatever it is, it is read whole, left alone, or removed
 * and counted. */
#include "base/cleanup.h"
#include "base/fileio.h"
#include "otlp/delivery/spool.h"
#include "otlp/delivery/spool_file.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEQ 42
#define NAME "00000000000000000042.spool"
#define FORMAT 7
#define BODY_MAX_BYTES ((size_t)1 << 20)

/* Bytes after the first one, for inputs whose checksums must be right. */
struct claims {
	uint64_t nr_samples;
	uint64_t body_bytes;
	uint32_t format;
	uint8_t is_cut_off;
} __attribute__((packed));

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/dev/shm/fuzz_spool_file.XXXXXX";

static void remove_directory(void)
{
	rmdir(path);
}

static int open_directory(void)
{
	static int fd = -EBADF;

	if (fd >= 0)
		return fd;
	if (!mkdtemp(path))
		abort();
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		abort();
	atexit(remove_directory);
	return fd;
}

static void put_bytes(int dir_fd, const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = openat(dir_fd, NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
					0600);

	if (fd < 0 || fd_write_all(fd, data, size) < 0)
		abort();
}

static void put_claims(int dir_fd, const uint8_t *data, size_t size)
{
	struct spool_file file = { 0 };
	struct claims claims;
	char target[64];

	if (size < sizeof(claims))
		return;
	memcpy(&claims, data, sizeof(claims));
	file.item.nr_samples = claims.nr_samples;
	file.body_bytes = claims.body_bytes;
	file.format = claims.format;
	file.packed_bytes = size - sizeof(claims);
	if (spool_file_write(dir_fd, SEQ, &file, data + sizeof(claims)) < 0)
		abort();
	snprintf(target, sizeof(target), "%s/%s", path, NAME);
	if (claims.is_cut_off && truncate(target, SPOOL_FILE_HEAD_BYTES) < 0)
		abort();
}

/* The body is as long as it was said to be, or nothing was appended and the request is to be
 * dropped. */
static void read_first(struct spool *spool)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	int r = spool_read(spool, &body);

	if (r != 0 && r != -EBADMSG && r != -ENOSPC)
		abort();
	if (r != 0 && body.len > 0)
		abort();
	if (r == 0)
		spool_pop(spool);
	else
		spool_drop_damaged(spool);
}

static void check_spool(int dir_fd)
{
	struct spool_opts opts = { .dir = path, .max_bytes = 64 << 20, .format = FORMAT };
	_cleanup_(spool_closep) struct spool *spool = NULL;
	bool was_there = faccessat(dir_fd, NAME, F_OK, 0) == 0, is_left;
	struct spool_stats stats;

	if (spool_open(&opts, &spool) < 0)
		abort();
	stats = spool_get_stats(spool);
	is_left = faccessat(dir_fd, NAME, F_OK, 0) == 0;
	if (was_there && is_left == (stats.nr_files_damaged > 0))
		abort();
	if (stats.nr_requests > 0)
		read_first(spool);
	stats = spool_get_stats(spool);
	if (stats.nr_requests > 0 || stats.nr_samples > 0 || stats.nr_disk_bytes > 0)
		abort();
	unlinkat(dir_fd, NAME, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int dir_fd = open_directory();

	if (size == 0)
		return 0;
	if (data[0] % 2)
		put_claims(dir_fd, data + 1, size - 1);
	else
		put_bytes(dir_fd, data + 1, size - 1);
	check_spool(dir_fd);
	return 0;
}
