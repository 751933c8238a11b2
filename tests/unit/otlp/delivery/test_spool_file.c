/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/hash.h"
#include "base/zstd.h"
#include "otlp/delivery/spool_file.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "remove_tree.h"

#define SEQ 42
#define NAME "00000000000000000042.spool"
#define TEMP_NAME NAME "-temp"
#define MAX_BYTES ((size_t)1 << 20)

/* Where the fields of the head are. */
enum {
	VERSION_AT = 8,
	PACKED_BYTES_AT = 40,
	BODY_BYTES_AT = 48,
	HEAD_HASH_AT = 72,
};

static const char BODY[] = "the body of a request, of a request, of a request";

struct directory {
	char path[64];
	int fd;
	struct strbuf packed; /* BODY */
	struct spool_file file;
};

static int setup(void **state)
{
	struct directory *dir = calloc(1, sizeof(*dir));

	assert_non_null(dir);
	snprintf(dir->path, sizeof(dir->path), "/dev/shm/test_spool_file.XXXXXX");
	assert_non_null(mkdtemp(dir->path));
	dir->fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir->fd >= 0);
	dir->packed = strbuf_with_max(MAX_BYTES);
	zstd_append(&dir->packed, BODY, sizeof(BODY));
	assert_int_equal(strbuf_error(&dir->packed), 0);
	dir->file = (struct spool_file){
		.item = { .nr_samples = UINT64_MAX,
			  .time_unix_ns = 2,
			  .nr_profiles = UINT32_MAX,
			  .cost_bytes = 4 },
		.format = 5,
		.packed_bytes = dir->packed.len,
		.body_bytes = sizeof(BODY),
	};
	*state = dir;
	return 0;
}

static int teardown(void **state)
{
	struct directory *dir = *state;

	remove_tree(dir->path);
	close(dir->fd);
	strbuf_done(&dir->packed);
	free(dir);
	return 0;
}

static void write_it(const struct directory *dir)
{
	assert_int_equal(spool_file_write(dir->fd, SEQ, &dir->file, dir->packed.data), 0);
}

static bool is_there(const struct directory *dir, const char *name)
{
	return faccessat(dir->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Replaces the file by these bytes. */
static void put_bytes(const struct directory *dir, const void *data, size_t len)
{
	_cleanup_close_ int fd = openat(dir->fd, NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
					0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, data, len), 0);
}

static void get_bytes(const struct directory *dir, struct strbuf *bytes)
{
	write_it(dir);
	assert_int_equal(file_read_at(dir->fd, NAME, bytes), 0);
	assert_int_equal(bytes->len, SPOOL_FILE_HEAD_BYTES + dir->packed.len);
}

static int read_head(const struct directory *dir, bool *ret_is_whole)
{
	struct spool_file file;

	return spool_file_read_head(dir->fd, SEQ, &file, ret_is_whole);
}

static int read_body(const struct directory *dir)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(MAX_BYTES);
	int r;

	strbuf_append_str(&body, "head");
	r = spool_file_read_body(dir->fd, SEQ, &body);
	assert_memory_equal(body.data, "head", 4);
	assert_int_equal(body.len, r == 0 ? 4 + sizeof(BODY) : 4);
	if (r == 0)
		assert_memory_equal(body.data + 4, BODY, sizeof(BODY));
	return r;
}

static void what_was_written_is_read(void **state)
{
	const struct directory *dir = *state;
	struct spool_file file;
	bool is_whole;

	write_it(dir);
	assert_int_equal(spool_file_read_head(dir->fd, SEQ, &file, &is_whole), 0);
	assert_true(is_whole);
	assert_true(file.item.nr_samples == UINT64_MAX);
	assert_int_equal(file.item.time_unix_ns, 2);
	assert_int_equal(file.item.nr_profiles, UINT32_MAX);
	assert_int_equal(file.item.cost_bytes, 4);
	assert_int_equal(file.item.nr_failures, 0);
	assert_int_equal(file.item.mark, 0);
	assert_int_equal(file.format, 5);
	assert_int_equal(file.packed_bytes, dir->packed.len);
	assert_int_equal(file.body_bytes, sizeof(BODY));
	assert_int_equal(read_body(dir), 0);
	assert_true(is_there(dir, NAME));
	assert_false(is_there(dir, TEMP_NAME));
}

static void a_file_gets_another_number_and_goes(void **state)
{
	const struct directory *dir = *state;
	bool is_whole;

	write_it(dir);
	assert_int_equal(spool_file_rename(dir->fd, SEQ, SEQ + 1), 0);
	assert_int_equal(read_head(dir, &is_whole), -ENOENT);
	assert_int_equal(spool_file_rename(dir->fd, SEQ, SEQ + 1), -ENOENT);
	assert_int_equal(spool_file_rename(dir->fd, SEQ + 1, SPOOL_FILE_SEQ_MAX + 1), -EOVERFLOW);
	assert_int_equal(spool_file_rename(dir->fd, SEQ + 1, SPOOL_FILE_SEQ_MAX), 0);
	spool_file_remove(dir->fd, SPOOL_FILE_SEQ_MAX);
	assert_int_equal(unlinkat(AT_FDCWD, dir->path, AT_REMOVEDIR), 0);
}

static void a_failed_write_leaves_nothing(void **state)
{
	const struct directory *dir = *state;

	assert_int_equal(
		spool_file_write(dir->fd, SPOOL_FILE_SEQ_MAX + 1, &dir->file, dir->packed.data),
		-EOVERFLOW);
	assert_int_equal(mkdirat(dir->fd, NAME, 0700), 0);
	assert_int_equal(spool_file_write(dir->fd, SEQ, &dir->file, dir->packed.data), -EISDIR);
	assert_false(is_there(dir, TEMP_NAME));
	assert_int_equal(unlinkat(dir->fd, NAME, AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(AT_FDCWD, dir->path, AT_REMOVEDIR), 0);
}

/* What is in the way of a temporary file is not written through. */
static void a_link_is_not_written_through(void **state)
{
	const struct directory *dir = *state;

	assert_int_equal(symlinkat("victim", dir->fd, TEMP_NAME), 0);
	assert_int_equal(spool_file_write(dir->fd, SEQ, &dir->file, dir->packed.data), -EEXIST);
	assert_false(is_there(dir, "victim"));
}

static void files_are_told_by_their_names(void **state)
{
	static const struct {
		const char *name;
		enum spool_file_kind kind;
		uint64_t seq;
	} cases[] = {
		{ "00000000000000000000.spool", SPOOL_FILE_REQUEST, 0 },
		{ "01700000000000000001.spool", SPOOL_FILE_REQUEST, UINT64_C(1700000000000000001) },
		{ "09223372036854775807.spool", SPOOL_FILE_REQUEST, INT64_MAX },
		{ "00000000000000000042.spool-temp", SPOOL_FILE_TEMP, 42 },
		{ "09223372036854775808.spool", SPOOL_FILE_FOREIGN, 0 },
		{ "18446744073709551616.spool", SPOOL_FILE_FOREIGN, 0 },
		{ "99999999999999999999.spool-temp", SPOOL_FILE_FOREIGN, 0 },
		{ "0000000000000000042.spool", SPOOL_FILE_FOREIGN, 0 },
		{ "000000000000000000042.spool", SPOOL_FILE_FOREIGN, 0 },
		{ "-0000000000000000042.spool", SPOOL_FILE_FOREIGN, 0 },
		{ "0000000000000000004a.spool", SPOOL_FILE_FOREIGN, 0 },
		{ "00000000000000000042", SPOOL_FILE_FOREIGN, 0 },
		{ "00000000000000000042.", SPOOL_FILE_FOREIGN, 0 },
		{ "00000000000000000042.spoo", SPOOL_FILE_FOREIGN, 0 },
		{ "00000000000000000042.spools", SPOOL_FILE_FOREIGN, 0 },
		{ "00000000000000000042.spool-temp2", SPOOL_FILE_FOREIGN, 0 },
		{ "00000000000000000042.SPOOL", SPOOL_FILE_FOREIGN, 0 },
		{ ".spool", SPOOL_FILE_FOREIGN, 0 },
		{ ".", SPOOL_FILE_FOREIGN, 0 },
		{ "", SPOOL_FILE_FOREIGN, 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		uint64_t seq = 0;

		assert_int_equal(spool_file_kind_of(cases[i].name, &seq), cases[i].kind);
		assert_true(seq == cases[i].seq);
	}
}

static void every_changed_byte_is_noticed(void **state)
{
	const struct directory *dir = *state;
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);
	bool is_whole;

	get_bytes(dir, &bytes);
	for (size_t i = 0; i < bytes.len; i++) {
		bytes.data[i] ^= 1;
		put_bytes(dir, bytes.data, bytes.len);
		assert_int_equal(read_head(dir, &is_whole),
				 i < SPOOL_FILE_HEAD_BYTES ? -EBADMSG : 0);
		assert_int_equal(read_body(dir), -EBADMSG);
		bytes.data[i] ^= 1;
	}
}

static void every_other_length_is_noticed(void **state)
{
	const struct directory *dir = *state;
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);
	bool is_whole;

	get_bytes(dir, &bytes);
	for (size_t len = 0; len <= bytes.len; len++) {
		put_bytes(dir, bytes.data, len);
		if (len < SPOOL_FILE_HEAD_BYTES) {
			assert_int_equal(read_head(dir, &is_whole), -EBADMSG);
		} else {
			assert_int_equal(read_head(dir, &is_whole), 0);
			assert_int_equal(is_whole, len == bytes.len);
		}
		assert_int_equal(read_body(dir), len == bytes.len ? 0 : -EBADMSG);
	}
	strbuf_append_char(&bytes, 'x');
	put_bytes(dir, bytes.data, bytes.len);
	assert_int_equal(read_head(dir, &is_whole), 0);
	assert_false(is_whole);
	assert_int_equal(read_body(dir), -EBADMSG);
}

static void a_huge_file_is_not_read(void **state)
{
	const struct directory *dir = *state;
	bool is_whole;

	write_it(dir);
	_cleanup_close_ int fd = openat(dir->fd, NAME, O_WRONLY | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	assert_int_equal(read_head(dir, &is_whole), 0);
	assert_false(is_whole);
	assert_int_equal(read_body(dir), -EBADMSG);
}

/* Heads with a checksum that is right, and content that is not. */
static void what_a_sound_head_claims_is_bounded(void **state)
{
	static const struct {
		size_t at;
		uint64_t value;
		int head, body;
	} cases[] = {
		{ VERSION_AT, 2 | UINT64_C(5) << 32, -ENOENT, -ENOENT },
		{ VERSION_AT, 0 | UINT64_C(5) << 32, -ENOENT, -ENOENT },
		{ PACKED_BYTES_AT, UINT64_MAX, -EBADMSG, -EBADMSG },
		{ PACKED_BYTES_AT, UINT64_MAX - SPOOL_FILE_HEAD_BYTES + 1, -EBADMSG, -EBADMSG },
		{ PACKED_BYTES_AT, SPOOL_BODY_MAX_BYTES, 0, -EBADMSG },
		{ PACKED_BYTES_AT, 0, 0, -EBADMSG },
		{ BODY_BYTES_AT, UINT64_MAX, -EBADMSG, -EBADMSG },
		{ BODY_BYTES_AT, SPOOL_BODY_MAX_BYTES + 1, -EBADMSG, -EBADMSG },
		{ BODY_BYTES_AT, SPOOL_BODY_MAX_BYTES, 0, -EBADMSG },
		{ BODY_BYTES_AT, sizeof(BODY) - 1, 0, -EBADMSG },
		{ BODY_BYTES_AT, sizeof(BODY) + 1, 0, -EBADMSG },
		{ BODY_BYTES_AT, 0, 0, -EBADMSG },
		{ BODY_BYTES_AT, sizeof(BODY), 0, 0 },
	};
	const struct directory *dir = *state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);
		uint64_t hash[2];
		bool is_whole;

		get_bytes(dir, &bytes);
		memcpy(bytes.data + cases[i].at, &cases[i].value, sizeof(cases[i].value));
		hash_128(bytes.data, HEAD_HASH_AT, hash);
		memcpy(bytes.data + HEAD_HASH_AT, hash, sizeof(hash));
		put_bytes(dir, bytes.data, bytes.len);
		assert_int_equal(read_head(dir, &is_whole), cases[i].head);
		assert_int_equal(read_body(dir), cases[i].body);
	}
}

static void a_body_that_is_no_frame_is_damaged(void **state)
{
	const struct directory *dir = *state;
	struct spool_file file = dir->file;

	file.packed_bytes = sizeof(BODY);
	assert_int_equal(spool_file_write(dir->fd, SEQ, &file, BODY), 0);
	assert_int_equal(read_body(dir), -EBADMSG);
}

static void a_body_above_the_readers_limit_is_refused(void **state)
{
	const struct directory *dir = *state;
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(sizeof(BODY) - 1);

	write_it(dir);
	assert_int_equal(spool_file_read_body(dir->fd, SEQ, &body), -ENOSPC);
}

static void bind_socket(const struct directory *dir)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", dir->path, NAME);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
}

/* A FIFO would be waited for, a link leads anywhere. */
static void what_is_no_regular_file_is_not_ours(void **state)
{
	const struct directory *dir = *state;
	bool is_whole;

	write_it(dir);
	assert_int_equal(renameat(dir->fd, NAME, dir->fd, "target"), 0);
	for (int i = 0; i < 5; i++) {
		switch (i) {
		case 0:
			assert_int_equal(symlinkat("target", dir->fd, NAME), 0);
			break;
		case 1:
			assert_int_equal(symlinkat("nowhere", dir->fd, NAME), 0);
			break;
		case 2:
			assert_int_equal(mkfifoat(dir->fd, NAME, 0600), 0);
			break;
		case 3:
			bind_socket(dir);
			break;
		default:
			assert_int_equal(mkdirat(dir->fd, NAME, 0700), 0);
		}
		assert_int_equal(read_head(dir, &is_whole), -ENOENT);
		assert_int_equal(read_body(dir), -ENOENT);
		assert_int_equal(unlinkat(dir->fd, NAME, i == 4 ? AT_REMOVEDIR : 0), 0);
	}
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(what_was_written_is_read),
		test(a_file_gets_another_number_and_goes),
		test(a_failed_write_leaves_nothing),
		test(a_link_is_not_written_through),
		cmocka_unit_test(files_are_told_by_their_names),
		test(every_changed_byte_is_noticed),
		test(every_other_length_is_noticed),
		test(a_huge_file_is_not_read),
		test(what_a_sound_head_claims_is_bounded),
		test(a_body_that_is_no_frame_is_damaged),
		test(a_body_above_the_readers_limit_is_refused),
		test(what_is_no_regular_file_is_not_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
