/* SPDX-License-Identifier: Apache-2.0 */
/* The socket blocks, but never past the deadline: before each call it is given what is left of
 * the time. */
#include "selfmon/health_client.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/printable.h"

#include <string.h>

#define ANSWER_MAX_BYTES 4096 /* the rest is not read, since the line that counts comes early */
#define REQUEST_MAX_BYTES 128
#define STATUS_AT 9 /* "HTTP/1.1 200" */
#define STATUS_LEN 3

static bool has_version(const char *bytes, size_t len)
{
	return len >= STATUS_AT + STATUS_LEN && memcmp(bytes, "HTTP/1.", 7) == 0 &&
	       bytes[7] >= '0' && bytes[7] <= '9' && bytes[8] == ' ';
}

/* Copies the first line of the body, made printable. */
static void copy_line(const char *body, size_t len, char text[static HEALTH_TEXT_BYTES])
{
	char line[HEALTH_TEXT_BYTES];
	size_t i = 0;

	for (; i < len && i < sizeof(line) - 1 && !strchr("\r\n", body[i]); i++)
		line[i] = body[i];
	line[i] = '\0';
	printable_copy(text, HEALTH_TEXT_BYTES, line);
}

int health_answer_parse(const char *bytes, size_t len, struct health_answer *ret_answer)
{
	static const char separator[] = "\r\n\r\n";
	struct health_answer answer;
	uint64_t status;

	if (!has_version(bytes, len))
		return -EBADMSG;
	const char *digits = bytes + STATUS_AT;
	if (parse_digits(&digits, bytes + STATUS_AT + STATUS_LEN, 10, &status) < 0 ||
	    digits != bytes + STATUS_AT + STATUS_LEN)
		return -EBADMSG;
	const char *end = memmem(bytes, len, separator, strlen(separator));
	const char *body = end ? end + strlen(separator) : bytes + len;
	answer.status = (unsigned int)status;
	copy_line(body, len - (size_t)(body - bytes), answer.text);
	*ret_answer = answer;
	return 0;
}

/* Makes the next call return at the deadline. */
static int limit_time(int fd, uint64_t deadline_ns)
{
	uint64_t now_ns = clock_mono_ns();
	uint64_t left_us = now_ns < deadline_ns ? (deadline_ns - now_ns) / NSEC_PER_USEC : 0;
	const struct timeval left = { .tv_sec = (time_t)(left_us / 1000000),
				      .tv_usec = (suseconds_t)(left_us % 1000000) };

	if (left_us == 0)
		return -ETIMEDOUT; /* to the socket it would mean: no limit */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &left, sizeof(left)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &left, sizeof(left)) < 0)
		return -errno;
	return 0;
}

/* Returns the error of a call that may have timed out. */
static int call_error(void)
{
	return errno == EAGAIN || errno == EINPROGRESS ? -ETIMEDOUT : -errno;
}

static int send_request(int fd, const char *page, uint64_t deadline_ns)
{
	char request[REQUEST_MAX_BYTES];
	int len = snprintf(request, sizeof(request), "GET %s HTTP/1.0\r\n\r\n", page);

	int r = limit_time(fd, deadline_ns);
	if (r < 0)
		return r;
	ssize_t n = send(fd, request, (size_t)len, MSG_NOSIGNAL);
	if (n < 0)
		return call_error();
	return n == len ? 0 : -ETIMEDOUT;
}

/* Reads until the server closes the connection or the buffer is full. */
static int receive(int fd, char bytes[static ANSWER_MAX_BYTES], uint64_t deadline_ns,
		   size_t *ret_len)
{
	size_t len = 0;

	while (len < ANSWER_MAX_BYTES) {
		int r = limit_time(fd, deadline_ns);
		if (r < 0)
			return r;
		ssize_t n = recv(fd, bytes + len, ANSWER_MAX_BYTES - len, 0);
		if (n < 0)
			return call_error();
		if (n == 0)
			break;
		len += (size_t)n;
	}
	*ret_len = len;
	return 0;
}

int health_ask(const struct listen_address *address, const char *page, uint64_t deadline_ns,
	       struct health_answer *ret_answer)
{
	_cleanup_close_ int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char bytes[ANSWER_MAX_BYTES];
	size_t len = 0;

	if (fd < 0)
		return -errno;
	int r = limit_time(fd, deadline_ns);
	if (r < 0)
		return r;
	if (connect(fd, &address->any, address->len) < 0)
		return call_error();
	r = send_request(fd, page, deadline_ns);
	if (r == 0)
		r = receive(fd, bytes, deadline_ns, &len);
	return r < 0 ? r : health_answer_parse(bytes, len, ret_answer);
}
