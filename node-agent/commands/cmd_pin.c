/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet pin: keeps a range of the record longer than its limits allow, lists such ranges, and
 * gives them up. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/minmax.h"
#include "base/printable.h"
#include "commands/commands.h"
#include "commands/denied.h"
#include "commands/event_rows.h"
#include "commands/pin_text.h"
#include "commands/record_query.h"
#include "store/pin_dir.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_MAX_BYTES 65536
#define TEXT_MAX_BYTES ((size_t)16 << 20)

static int refuse(const char *reason)
{
	fprintf(stderr, "flamelet: %s\n", reason);
	return STATUS_USAGE;
}

/* If this user may not read the record, the message says whose it is. */
static int tell_unread(const struct options *options, int error)
{
	_cleanup_(strbuf_done) struct strbuf messages = strbuf_with_max(MESSAGE_MAX_BYTES);

	if (denied_tell(&options->stores, &messages))
		record_query_warn(&messages);
	else
		fprintf(stderr, "flamelet: cannot read the pins of %s: %s\n",
			options->stores.items[0], strerror(-error));
	return STATUS_FAILED;
}

static int tell(const char *what, const struct strbuf *message, int error)
{
	fprintf(stderr, "flamelet: %s: %s\n", what,
		message->len > 0 ? strbuf_str(message) : strerror(-error));
	return STATUS_FAILED;
}

static int print(const struct strbuf *out)
{
	int r = strbuf_error(out);

	if (r == 0)
		r = fd_write_all(STDOUT_FILENO, strbuf_str(out), out->len);
	if (r < 0)
		fprintf(stderr, "flamelet: cannot write the list: %s\n", strerror(-r));
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}

static int list(const struct options *options, const char *dir)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(TEXT_MAX_BYTES);
	_cleanup_(pin_list_done) struct pin_list pins = { 0 };

	int r = access(dir, F_OK) < 0 ? -errno : pin_dir_list(dir, &pins);
	if (r < 0)
		return tell_unread(options, r);
	if (options->json) {
		strbuf_append_str(&out, "{\"pins\":");
		pin_text_append_json(&pins, &out);
		strbuf_appendf(&out, ",\"bytes\":%" PRIu64 "}\n", pin_dir_bytes(dir));
	} else {
		pin_text_append(&pins, pin_dir_bytes(dir), &out);
	}
	return print(&out);
}

static int remove_one(const char *dir, const char *id)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);

	int r = pin_dir_remove(dir, id, &message);
	return r < 0 ? tell("cannot remove the pin", &message, r) : STATUS_OK;
}

/* The record may begin later than the range, and end earlier. */
static struct time_range clip(const struct store_reader *reader, struct time_range range)
{
	uint64_t first_s = UINT64_MAX;

	for (size_t i = 0; i < reader->nr_spans; i++)
		if (reader->spans[i].end_s > 0)
			first_s = min_u64(first_s, reader->spans[i].first_s);
	return (struct time_range){ max_u64(range.first_s, first_s),
				    min_u64(range.end_s, store_reader_newest(reader) + 1) };
}

static void print_pin(const char *what, const struct pin *pin)
{
	char first[RECORD_TIME_BYTES], end[RECORD_TIME_BYTES];

	record_query_format_time(pin->first_s, first);
	record_query_format_time(pin->end_s, end);
	printf("%s %s: %s to %s\n", what, pin->id, first, end);
}

/* If the user gave no note, the note of an event is its name and text: later, "@worst" may mean
 * another event. */
static void make_note(const struct options *options, const struct asked_range *asked,
		      char note[static PIN_NOTE_BYTES])
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PIN_NOTE_BYTES - 1);

	if (options->pin_note)
		strbuf_append_str(&text, options->pin_note);
	else if (*asked->name)
		event_rows_append_sentence(asked, &text);
	else
		strbuf_append_str(&text, options->ranges.items[0]);
	printable_copy(note, PIN_NOTE_BYTES, strbuf_str(&text));
}

/* Returns whether a user has pinned the range already, and prints that pin. Automatic pins do not
 * count, as they may give way to others. If the list cannot be read, pin_dir_add() tells why. */
static bool is_pinned(const char *dir, const struct pin *pin)
{
	_cleanup_(pin_list_done) struct pin_list pins = { 0 };

	if (pin_dir_list(dir, &pins) < 0)
		return false;
	for (size_t i = 0; i < pins.nr; i++) {
		const struct pin *one = &pins.items[i];

		if (one->is_automatic || one->first_s > pin->first_s || one->end_s < pin->end_s)
			continue;
		print_pin("already pinned as", one);
		return true;
	}
	return false;
}

static int add(const struct options *options, const char *dir)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	_cleanup_(strbuf_done) struct strbuf messages = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	struct pin pin = { .made_s = clock_real_ns() / NSEC_PER_SEC };
	struct asked_range asked;

	int status = record_query_open(options, &messages, &reader);
	if (status == STATUS_OK)
		status = record_query_range(options, &reader, "", &messages, &asked);
	record_query_warn(&messages);
	if (status != STATUS_OK)
		return status;
	asked.range = clip(&reader, asked.range);
	pin.first_s = asked.range.first_s;
	pin.end_s = asked.range.end_s;
	make_note(options, &asked, pin.note);
	if (is_pinned(dir, &pin))
		return STATUS_OK;
	int r = pin_dir_add(dir, &pin, &message);
	if (r < 0)
		return tell("cannot pin this range", &message, r);
	print_pin("pinned as", &pin);
	return STATUS_OK;
}

int cmd_pin(const struct options *options)
{
	bool has_range = options->ranges.nr > 0;

	if (options->stores.nr != 1)
		return refuse("name one record with --store: a pin belongs to one directory");
	if (has_range + options->pin_list + (options->pin_remove != NULL) != 1)
		return refuse("say what to pin, for example flamelet pin @e12 or flamelet pin "
			      "14:05..14:07; or use --list or --remove ID");
	if (options->pin_note && strlen(options->pin_note) >= PIN_NOTE_BYTES) {
		fprintf(stderr, "flamelet: the note is too long: %d bytes are the most\n",
			PIN_NOTE_BYTES - 1);
		return STATUS_USAGE;
	}
	if (options->pin_list)
		return list(options, options->stores.items[0]);
	if (options->pin_remove)
		return remove_one(options->stores.items[0], options->pin_remove);
	return add(options, options->stores.items[0]);
}
