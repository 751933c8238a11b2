/* SPDX-License-Identifier: Apache-2.0 */
#include "sparse_input.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fileio.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct piece {
	uint32_t offset;
	uint32_t repeats;
	uint16_t len;
} __attribute__((packed));

/* Returns the end of the file so far. Takes the copies that it makes from *nr_left. */
static size_t put_piece(char *file, const struct piece *piece, const uint8_t *bytes, size_t end,
			uint32_t *nr_left)
{
	size_t at = piece->offset;

	for (uint32_t i = 0; i<piece->repeats && * nr_left> 0; i++, at += piece->len) {
		if (piece->len == 0 || at + piece->len > SPARSE_INPUT_MAX_BYTES)
			break;
		(*nr_left)--;
		memcpy(file + at, bytes, piece->len);
		end = at + piece->len > end ? at + piece->len : end;
	}
	return end;
}

static size_t put_pieces(char *file, const uint8_t *data, size_t size)
{
	uint32_t nr_left = SPARSE_INPUT_MAX_COPIES;
	struct piece piece;
	size_t end = 0;

	while (size >= sizeof(piece)) {
		memcpy(&piece, data, sizeof(piece));
		data += sizeof(piece);
		size -= sizeof(piece);
		if (piece.len > size)
			break;
		end = put_piece(file, &piece, data, end, &nr_left);
		data += piece.len;
		size -= piece.len;
	}
	return end;
}

static int write_pieces(int fd, const uint8_t *data, size_t size)
{
	if (ftruncate(fd, SPARSE_INPUT_MAX_BYTES) < 0)
		return -errno;

	char *file = mmap(NULL, SPARSE_INPUT_MAX_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		return -errno;

	size_t end = put_pieces(file, data, size);
	munmap(file, SPARSE_INPUT_MAX_BYTES);
	return ftruncate(fd, (off_t)end) < 0 ? -errno : 0;
}

int sparse_input_open(const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (size == 0)
		return -EINVAL;

	int r = data[0] % 2 ? write_pieces(fd, data + 1, size - 1)
			    : fd_write_all(fd, data + 1, size - 1);
	return r < 0 ? r : take_fd(fd);
}
