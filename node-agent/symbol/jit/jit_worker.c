/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jit_worker.h"

#include "worker/worker_server.h"

#include <string.h>
#include <unistd.h>

/* A file being read. */
struct reading {
	const struct jit_request *request;
	int fd; /* borrowed */
	struct jit_writer writer;
	struct jit_answer answer;
	char buffer[JIT_PIECE_BYTES];
};

/* Reads the bytes before an offset. */
static uint32_t read_tail(int fd, uint64_t offset, char tail[static JIT_TAIL_BYTES])
{
	size_t len = offset < JIT_TAIL_BYTES ? (size_t)offset : JIT_TAIL_BYTES;
	ssize_t n = pread(fd, tail, len, (off_t)(offset - len));

	return n < 0 ? 0 : (uint32_t)n;
}

/* Returns whether the file was rewritten: the bytes before the position have changed, or a record
 * that was complete is not any more. */
static bool is_rewritten(const struct reading *reading)
{
	const struct jit_request *request = reading->request;
	const struct jit_place *place = &request->place;
	char tail[JIT_TAIL_BYTES];

	return request->compares_tail &&
	       (place->dump.nr_record_bytes > request->size - place->offset ||
		read_tail(reading->fd, place->offset, tail) != place->tail_len ||
		memcmp(tail, place->tail, place->tail_len) != 0);
}

/* Parses a piece of the file. */
static int64_t feed(struct reading *reading, size_t len, uint64_t nr_left)
{
	struct jit_place *place = &reading->answer.place;

	if (reading->request->source == JIT_SOURCE_MAP)
		return (int64_t)perf_map_feed(&place->map, reading->buffer, len, &reading->writer);
	return jitdump_feed(&place->dump, reading->buffer, len, nr_left, &reading->writer);
}

/* Reads a piece. Returns whether there may be another one. */
static bool read_piece(struct reading *reading)
{
	struct jit_answer *answer = &reading->answer;
	uint64_t nr_left = reading->request->size - answer->place.offset;
	size_t want = nr_left < JIT_PIECE_BYTES ? (size_t)nr_left : JIT_PIECE_BYTES;
	ssize_t got = pread(reading->fd, reading->buffer, want, (off_t)answer->place.offset);

	if (got <= 0)
		return false;
	answer->nr_read += (uint64_t)got;
	int64_t done = feed(reading, (size_t)got, nr_left);
	if (done > 0)
		answer->place.offset += (uint64_t)done;
	answer->is_damaged = done < 0;
	return done > 0;
}

static void read_pieces(struct reading *reading)
{
	const struct jit_request *request = reading->request;
	struct jit_answer *answer = &reading->answer;
	bool goes_on = true;

	while (goes_on && answer->place.offset < request->size &&
	       answer->nr_read < request->max_read && !jit_writer_is_full(&reading->writer))
		goes_on = read_piece(reading);
	answer->has_more = !answer->is_damaged && answer->place.offset < request->size &&
			   (goes_on || jit_writer_is_full(&reading->writer));
	answer->place.tail_len = read_tail(reading->fd, answer->place.offset, answer->place.tail);
	answer->nr_bad = reading->writer.nr_bad;
}

static bool is_request_good(const struct jit_request *request)
{
	const struct jit_place *place = &request->place;
	uint64_t nr_left = request->size - place->offset;

	return request->source < JIT_SOURCE_KINDS && request->is_java <= 1 &&
	       request->compares_tail <= 1 && request->size <= INT64_MAX &&
	       place->offset <= request->size && place->tail_len <= JIT_TAIL_BYTES &&
	       perf_map_reader_is_valid(&place->map) &&
	       jitdump_reader_is_valid(&place->dump, request->compares_tail ? UINT64_MAX : nr_left);
}

int jit_worker_read(struct worker_call *call, struct strbuf *reply, void *data)
{
	struct jit_request request;

	(void)data;
	if (call->nr_fds != 1 || call->request.kind != JIT_REQUEST_READ ||
	    call->request.nr_bytes != sizeof(request))
		return -EINVAL;
	memcpy(&request, call->bytes, sizeof(request));
	if (!is_request_good(&request))
		return -EINVAL;
	if (reply->max < sizeof(struct jit_answer))
		return -ENOSPC;
	_cleanup_free_ struct reading *reading = calloc(1, sizeof(*reading));
	if (!reading)
		return -ENOMEM;
	reading->request = &request;
	reading->fd = call->fds[0];
	reading->answer.place = request.place;
	jit_writer_init(&reading->writer, reply->max - sizeof(struct jit_answer),
			request.is_java != 0);
	reading->answer.is_rewritten = is_rewritten(reading);
	if (!reading->answer.is_rewritten)
		read_pieces(reading);
	strbuf_append(reply, &reading->answer, sizeof(reading->answer));
	int r = jit_writer_finish(&reading->writer, reply);
	jit_writer_done(&reading->writer);
	return r;
}

int jit_worker_main(void)
{
	const struct worker_server_opts opts = {
		.name = "the JIT worker",
		.sandbox = WORKER_SANDBOX_FILES,
		.max_request_bytes = sizeof(struct jit_request),
		.answer = jit_worker_read,
	};

	return worker_server_run(&opts);
}
