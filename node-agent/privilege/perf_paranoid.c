/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege/perf_paranoid.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/parse.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_BYTES 32

static int open_regular(const char *path, int access_mode)
{
	_cleanup_close_ int fd = open(path,
				      access_mode | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? take_fd(fd) : -EINVAL;
}

/* Parses the file's text, such as "3\n" or "-1". */
static int parse_number(const char *text, size_t len, int *ret_number)
{
	const char *end = text + len, *cursor = text;
	bool is_negative = *text == '-';
	uint64_t digits;

	cursor += is_negative;
	int r = parse_digits(&cursor, end, 10, &digits);
	if (r < 0 || digits > INT_MAX)
		return -EBADMSG;
	cursor += *cursor == '\n';
	if (cursor != end)
		return -EBADMSG;
	*ret_number = is_negative ? -(int)digits : (int)digits;
	return 0;
}

static int read_number(const char *path, int *ret_number)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);
	char text[TEXT_BYTES];

	if (fd < 0)
		return fd;
	ssize_t len = read(fd, text, sizeof(text) - 1);
	if (len < 0)
		return -errno;
	text[len] = '\0';
	return parse_number(text, (size_t)len, ret_number);
}

static int write_allowed(const char *path)
{
	_cleanup_close_ int fd = open_regular(path, O_WRONLY);
	char text[TEXT_BYTES];

	if (fd < 0)
		return fd;
	int len = snprintf(text, sizeof(text), "%d\n", PERF_PARANOID_ALLOWED);
	return fd_write_all(fd, text, (size_t)len);
}

static int explain_reading(const char *path, int error, struct strbuf *reterr_msg)
{
	if (error == -EBADMSG)
		strbuf_appendf(reterr_msg, "%s: its content is not a number", path);
	else if (error == -EINVAL || error == -ELOOP)
		strbuf_appendf(reterr_msg, "%s: not a regular file", path);
	else
		strbuf_appendf(reterr_msg,
			       "%s: %s; mount the node's "
			       "/proc/sys/kernel/perf_event_paranoid there",
			       path, strerror(-error));
	return error;
}

static int explain_writing(const char *path, int error, int number, struct strbuf *reterr_msg)
{
	bool is_forbidden = error == -EROFS || error == -EACCES || error == -EPERM;

	strbuf_appendf(reterr_msg, "%s is %d and cannot be changed: %s", path, number,
		       strerror(-error));
	if (is_forbidden)
		strbuf_append_str(reterr_msg, "; mount it writable, and run as user 0 of the node "
					      "(without hostUsers: false)");
	return error;
}

int perf_paranoid_allow(const char *path, int *ret_before, struct strbuf *reterr_msg)
{
	int before = 0, after = 0;

	int r = read_number(path, &before);
	if (r < 0)
		return explain_reading(path, r, reterr_msg);
	if (before > PERF_PARANOID_ALLOWED) {
		r = write_allowed(path);
		if (r == 0)
			r = read_number(path, &after);
		if (r == 0 && after != PERF_PARANOID_ALLOWED)
			r = -EIO;
		if (r < 0)
			return explain_writing(path, r, before, reterr_msg);
	}
	*ret_before = before;
	return 0;
}
