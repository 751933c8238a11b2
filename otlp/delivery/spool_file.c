/* SPDX-License-Identifier: Apache-2.0 */
/* The head is a struct in host byte order: files stay on the machine, and the magic number of
 * another byte order differs. It contains the checksum of the body and, last, one of the head
 * itself. A reader checks the head first, and then the body.
 *
 * No file in the directory is trusted: links are not followed, FIFOs do not block, and no more is
 * read than a checked head announces and the file has. */
#include "otlp/delivery/spool_file.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/hash.h"
#include "base/parse.h"
#include "base/zstd.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC UINT64_C(0x4c4f4f5053454c46) /* "FLESPOOL" */
#define VERSION 1

#define SUFFIX ".spool"
#define TEMP_SUFFIX SUFFIX "-temp"
#define NR_DIGITS 20
#define NAME_BYTES (NR_DIGITS + sizeof(TEMP_SUFFIX))

/* Every version begins with `magic` and has `head_hash` at this place. */
struct file_head {
	uint64_t magic;
	uint32_t version;
	uint32_t format;
	uint64_t nr_samples;
	uint64_t time_unix_ns;
	uint32_t nr_profiles;
	uint32_t cost_bytes;
	uint64_t packed_bytes;
	uint64_t body_bytes;
	uint64_t packed_hash[2];
	uint64_t head_hash[2]; /* of all fields above */
};
static_assert(sizeof(struct file_head) == SPOOL_FILE_HEAD_BYTES, "the head has no padding");

static void make_name(uint64_t seq, const char *suffix, char ret_name[static NAME_BYTES])
{
	snprintf(ret_name, NAME_BYTES, "%0*" PRIu64 "%s", NR_DIGITS, seq, suffix);
}

enum spool_file_kind spool_file_kind_of(const char *name, uint64_t *ret_seq)
{
	const char *suffix = name + strspn(name, "0123456789");
	bool is_temp = strcmp(suffix, TEMP_SUFFIX) == 0;
	char digits[NR_DIGITS + 1];
	uint64_t seq;

	if (suffix - name != NR_DIGITS || (!is_temp && strcmp(suffix, SUFFIX) != 0))
		return SPOOL_FILE_FOREIGN;
	snprintf(digits, sizeof(digits), "%s", name);
	if (parse_u64(digits, &seq) < 0 || seq > SPOOL_FILE_SEQ_MAX)
		return SPOOL_FILE_FOREIGN;
	*ret_seq = seq;
	return is_temp ? SPOOL_FILE_TEMP : SPOOL_FILE_REQUEST;
}

static void hash_head(const struct file_head *head, uint64_t ret_hash[static 2])
{
	hash_128(head, offsetof(struct file_head, head_hash), ret_hash);
}

static struct file_head make_head(const struct spool_file *file, const void *packed)
{
	struct file_head head = {
		.magic = MAGIC,
		.version = VERSION,
		.format = file->format,
		.nr_samples = file->item.nr_samples,
		.time_unix_ns = file->item.time_unix_ns,
		.nr_profiles = file->item.nr_profiles,
		.cost_bytes = file->item.cost_bytes,
		.packed_bytes = file->packed_bytes,
		.body_bytes = file->body_bytes,
	};

	hash_128(packed, file->packed_bytes, head.packed_hash);
	hash_head(&head, head.head_hash);
	return head;
}

static struct spool_file head_content(const struct file_head *head)
{
	return (struct spool_file){
		.item = { .nr_samples = head->nr_samples,
			  .time_unix_ns = head->time_unix_ns,
			  .nr_profiles = head->nr_profiles,
			  .cost_bytes = head->cost_bytes },
		.format = head->format,
		.packed_bytes = head->packed_bytes,
		.body_bytes = head->body_bytes,
	};
}

/* Returns -ENOENT for a valid head of another version. */
static int check_head(const struct file_head *head)
{
	uint64_t hash[2];

	hash_head(head, hash);
	if (head->magic != MAGIC || memcmp(hash, head->head_hash, sizeof(hash)) != 0)
		return -EBADMSG;
	if (head->version != VERSION)
		return -ENOENT;
	if (head->packed_bytes > SPOOL_BODY_MAX_BYTES || head->body_bytes > SPOOL_BODY_MAX_BYTES)
		return -EBADMSG;
	return 0;
}

int spool_file_write(int dir_fd, uint64_t seq, const struct spool_file *file, const void *packed)
{
	struct file_head head = make_head(file, packed);
	char temp[NAME_BYTES], name[NAME_BYTES];
	const struct file_content content = {
		.name = name,
		.temp_name = temp,
		.mode = 0600,
		.is_synced = true,
		.parts = { { &head, sizeof(head) }, { packed, head.packed_bytes } },
	};

	if (seq > SPOOL_FILE_SEQ_MAX)
		return -EOVERFLOW;
	make_name(seq, TEMP_SUFFIX, temp);
	make_name(seq, SUFFIX, name);
	return file_replace_at(dir_fd, &content);
}

/* Converts an error of openat(): sockets and links are not our files, and a lack of descriptors is
 * not the file's fault. */
static int open_error(int error)
{
	switch (error) {
	case ELOOP:
	case ENXIO:
		return -ENOENT;
	case EMFILE:
	case ENFILE:
		return -ENOMEM;
	default:
		return -error;
	}
}

/* Other users may have created files while they could write to the directory. Such files must not
 * be sent. */
static bool is_ours(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
	       (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static int read_head(int fd, struct file_head *ret_head, bool *ret_is_whole)
{
	struct file_head head;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!is_ours(&st))
		return -ENOENT;
	r = fd_read_all(fd, &head, sizeof(head));
	if (r == 0)
		r = check_head(&head);
	if (r < 0)
		return r;
	*ret_is_whole = (uint64_t)st.st_size == sizeof(head) + head.packed_bytes;
	*ret_head = head;
	return 0;
}

/* Opens a file and reads its head; the body follows. */
static int open_file(int dir_fd, uint64_t seq, struct file_head *ret_head, bool *ret_is_whole)
{
	_cleanup_close_ int fd = -EBADF;
	char name[NAME_BYTES];
	int r;

	make_name(seq, SUFFIX, name);
	fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return open_error(errno);
	r = read_head(fd, ret_head, ret_is_whole);
	return r < 0 ? r : take_fd(fd);
}

int spool_file_read_head(int dir_fd, uint64_t seq, struct spool_file *ret_file, bool *ret_is_whole)
{
	struct file_head head;
	_cleanup_close_ int fd = open_file(dir_fd, seq, &head, ret_is_whole);

	if (fd < 0)
		return fd;
	*ret_file = head_content(&head);
	return 0;
}

int spool_file_read_body(int dir_fd, uint64_t seq, struct strbuf *body)
{
	_cleanup_free_ char *packed = NULL;
	struct file_head head;
	uint64_t hash[2];
	bool is_whole = false;
	int r;

	_cleanup_close_ int fd = open_file(dir_fd, seq, &head, &is_whole);
	if (fd < 0)
		return fd;
	if (!is_whole)
		return -EBADMSG;
	packed = malloc(head.packed_bytes + 1);
	if (!packed)
		return -ENOMEM;
	r = fd_read_all(fd, packed, head.packed_bytes);
	if (r < 0)
		return r;
	hash_128(packed, head.packed_bytes, hash);
	if (memcmp(hash, head.packed_hash, sizeof(hash)) != 0)
		return -EBADMSG;
	return zstd_unpack(body, packed, head.packed_bytes, head.body_bytes);
}

int spool_file_rename(int dir_fd, uint64_t from_seq, uint64_t to_seq)
{
	char from[NAME_BYTES], to[NAME_BYTES];

	if (to_seq > SPOOL_FILE_SEQ_MAX)
		return -EOVERFLOW;
	make_name(from_seq, SUFFIX, from);
	make_name(to_seq, SUFFIX, to);
	return renameat(dir_fd, from, dir_fd, to) < 0 ? -errno : 0;
}

void spool_file_remove(int dir_fd, uint64_t seq)
{
	char name[NAME_BYTES];

	make_name(seq, SUFFIX, name);
	unlinkat(dir_fd, name, 0);
}
