/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event_log.h"

#include "base/cleanup.h"
#include "base/minmax.h"
#include "base/strbuf.h"
#include "store/event_table.h"
#include "store/store_reader.h"

#define MESSAGE_BYTES 4096

/* Files that cannot be read have no numbers. */
static uint64_t last_number_of(const char *path)
{
	_cleanup_(store_file_closep) struct store_file *file = NULL;
	uint64_t number = 0;

	if (store_file_open(path, &file) < 0 || event_table_last(file, &number) < 0)
		return 0;
	return number;
}

static int find_last_number(const char *dir, uint64_t *ret_number)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	_cleanup_(strbuf_done) struct strbuf ignored = strbuf_with_max(MESSAGE_BYTES);
	uint64_t number = 0;
	int r = store_reader_open(&dir, 1, &ignored, &reader);

	if (r == -ENOMEM)
		return r;
	for (size_t i = 0; i < reader.nr_spans; i++)
		number = max_u64(number, last_number_of(reader.spans[i].path));
	*ret_number = number;
	return 0;
}

int event_log_init(struct event_log *log, const char *dir)
{
	uint64_t number;
	int r = find_last_number(dir, &number);

	*log = (struct event_log){ 0 };
	return r < 0 ? r : event_detector_new(number + 1, &log->detector);
}

void event_log_done(struct event_log *log)
{
	event_detector_free(log->detector);
	log->detector = NULL;
}

void event_log_add(struct event_log *log, const struct store_second *second)
{
	event_detector_add(log->detector, second);
}

void event_log_finish(struct event_log *log)
{
	if (log->detector)
		event_detector_finish(log->detector);
}

int event_log_write(const struct event_log *log, struct store_file *file)
{
	const struct event_list *changes = event_detector_changes(log->detector);
	int r = 0;

	for (size_t i = 0; r == 0 && i < changes->nr; i++)
		r = event_table_put(file, &changes->items[i]);
	return r;
}

void event_log_settle(struct event_log *log)
{
	event_detector_forget_changes(log->detector);
}
