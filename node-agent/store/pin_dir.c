/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pin_dir.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/minmax.h"
#include "base/own_dir.h"
#include "base/parse.h"
#include "store/event_reader.h"
#include "store/store_dir.h"
#include "store/store_file.h"
#include "store/store_reader.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define MESSAGE_BYTES 4096
#define MAX_PINS 10000
#define LOCK_NAME "lock"
#define LIMIT_NAME "limit"
#define LIMIT_BYTES 32
#define TEMP_NAME "new"
#define DEFAULT_MAX_BYTES (UINT64_C(2) << 30) /* of a record that names no limit */
#define DAY_S UINT64_C(86400)
#define NR_WORST 5 /* events of a day that are pinned */
#define AROUND_S 30 /* seconds that are pinned before and after an event */

/* The pins of a record, locked. */
struct pin_dir {
	const char *dir; /* borrowed; of the record */
	char path[PATH_BYTES];
	int fd, lock_fd; /* owned */
	uint64_t max_bytes; /* of all pins */
};

void pin_list_done(struct pin_list *list)
{
	free(list->items);
	*list = (struct pin_list){ 0 };
}

static void close_dir(struct pin_dir *pins)
{
	cleanup_closep(&pins->lock_fd);
	cleanup_closep(&pins->fd);
}

static int make_path(const char *dir, const char *name, char path[static PATH_BYTES])
{
	return snprintf(path, PATH_BYTES, "%s/%s", dir, name) < PATH_BYTES ? 0 : -ENAMETOOLONG;
}

static int make_pin_path(const char *dir, const char *name, char path[static PATH_BYTES])
{
	return snprintf(path, PATH_BYTES, "%s/" PIN_DIR_NAME "/%s", dir, name) < PATH_BYTES
		       ? 0
		       : -ENAMETOOLONG;
}

static uint64_t read_limit(const struct pin_dir *pins)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(LIMIT_BYTES);
	uint64_t max_bytes;

	if (file_read_at(pins->fd, LIMIT_NAME, &text) < 0 ||
	    parse_u64(strbuf_str(&text), &max_bytes) < 0)
		return DEFAULT_MAX_BYTES / PIN_DIR_SHARE;
	return max_bytes / PIN_DIR_SHARE;
}

/* Opens and locks the directory. `operation` is one of flock(2). */
static int open_dir(const char *dir, int operation, struct strbuf *reterr_msg, struct pin_dir *pins)
{
	*pins = (struct pin_dir){ .dir = dir, .fd = -EBADF, .lock_fd = -EBADF };
	int r = make_path(dir, PIN_DIR_NAME, pins->path);

	if (r == 0)
		r = own_dir_open(pins->path, OWN_DIR_FOR_FILES, OWN_DIR_MAKE_LAST, reterr_msg,
				 &pins->fd);
	if (r < 0)
		return r;
	pins->lock_fd = openat(pins->fd, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			       0600);
	if (pins->lock_fd < 0 || flock(pins->lock_fd, operation) < 0) {
		r = errno == EWOULDBLOCK ? -EBUSY : -errno;
		strbuf_appendf(reterr_msg, "%s/" LOCK_NAME ": %s", pins->path, strerror(-r));
		return r;
	}
	pins->max_bytes = read_limit(pins);
	return 0;
}

int pin_dir_prepare(const char *dir, uint64_t max_bytes, struct strbuf *reterr_msg)
{
	_cleanup_(close_dir) struct pin_dir pins;
	char text[LIMIT_BYTES];
	struct file_content content = { .name = LIMIT_NAME,
					.temp_name = LIMIT_NAME "." TEMP_NAME,
					.mode = 0600,
					.parts = { { text, 0 } } };
	int r = open_dir(dir, LOCK_EX, reterr_msg, &pins);

	if (r < 0)
		return r;
	content.parts[0].len = (size_t)snprintf(text, sizeof(text), "%" PRIu64, max_bytes);
	unlinkat(pins.fd, content.temp_name, 0); /* of a killed process */
	r = file_replace_at(pins.fd, &content);
	if (r < 0)
		strbuf_appendf(reterr_msg, "%s/" LIMIT_NAME ": %s", pins.path, strerror(-r));
	return r;
}

/* Lists. */

static int add_to_list(struct pin_list *list, const struct pin *pin)
{
	int r = array_grow(list->items, list->cap, list->nr + 1, MAX_PINS);

	if (r == 0)
		list->items[list->nr++] = *pin;
	return r;
}

static int collect(const struct pin *pin, void *context)
{
	return add_to_list(context, pin);
}

/* Appends the pins of a file; none if it does not exist. */
static int read_file(const char *path, struct pin_list *list)
{
	_cleanup_(store_file_closep) struct store_file *file = NULL;

	int r = store_file_open(path, &file);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return pin_table_read(file, collect, list);
}

static int compare(const void *a, const void *b)
{
	const struct pin *one = a, *other = b;
	int order = (one->first_s > other->first_s) - (one->first_s < other->first_s);

	return order ? order : strcmp(one->id, other->id);
}

static const struct pin *find(const struct pin_list *list, const char *id)
{
	for (size_t i = 0; i < list->nr; i++)
		if (strcmp(list->items[i].id, id) == 0)
			return &list->items[i];
	return NULL;
}

/* A pin whose range is in several files is in each of them. */
static void remove_duplicates(struct pin_list *list)
{
	size_t nr = list->nr;

	if (nr > 1)
		qsort(list->items, nr, sizeof(*list->items), compare);
	list->nr = 0;
	for (size_t i = 0; i < nr; i++)
		if (!find(list, list->items[i].id))
			list->items[list->nr++] = list->items[i];
}

int pin_dir_list(const char *dir, struct pin_list *ret_list)
{
	_cleanup_(store_dir_list_done) struct store_dir_list files = { 0 };
	struct pin_list list = { 0 };
	char path[PATH_BYTES];
	int r = make_path(dir, PIN_DIR_NAME, path);

	if (r == 0)
		r = store_dir_list(path, &files);
	if (r == -ENOENT)
		r = 0;
	for (size_t i = 0; r == 0 && i < files.nr; i++) {
		r = make_pin_path(dir, files.items[i].name, path);
		if (r == 0)
			r = read_file(path, &list);
	}
	if (r < 0) {
		pin_list_done(&list);
		return r;
	}
	remove_duplicates(&list);
	*ret_list = list;
	return 0;
}

uint64_t pin_dir_bytes(const char *dir)
{
	_cleanup_(store_dir_list_done) struct store_dir_list files = { 0 };
	char path[PATH_BYTES];
	uint64_t bytes = 0;

	if (make_path(dir, PIN_DIR_NAME, path) < 0 || store_dir_list(path, &files) < 0)
		return 0;
	for (size_t i = 0; i < files.nr; i++)
		bytes += files.items[i].bytes;
	return bytes;
}

/* Copies. */

/* Removes what a failure or a killed process left. */
static void remove_temporary(const struct pin_dir *pins)
{
	if (store_dir_remove(pins->path, TEMP_NAME) < 0)
		return; /* there is none */
}

/* Returns the size of all copies besides one. */
static int sum_of_others(const struct pin_dir *pins, const char *name, uint64_t *ret_bytes)
{
	_cleanup_(store_dir_list_done) struct store_dir_list files = { 0 };
	uint64_t bytes = 0;
	int r = store_dir_list(pins->path, &files);

	for (size_t i = 0; r == 0 && i < files.nr; i++)
		if (strcmp(files.items[i].name, name) != 0)
			bytes += files.items[i].bytes;
	if (r == 0)
		*ret_bytes = bytes;
	return r;
}

static bool has_only_automatic(const struct pin_dir *pins, const char *name)
{
	_cleanup_(pin_list_done) struct pin_list list = { 0 };
	char path[PATH_BYTES];

	if (make_pin_path(pins->dir, name, path) < 0 || read_file(path, &list) < 0)
		return false;
	for (size_t i = 0; i < list.nr; i++)
		if (!list.items[i].is_automatic)
			return false;
	return true;
}

/* Removes automatic pins, the oldest first, until another file of that size has room. */
static int make_room(const struct pin_dir *pins, const char *name, uint64_t bytes)
{
	_cleanup_(store_dir_list_done) struct store_dir_list files = { 0 };
	uint64_t others = 0;
	int r = sum_of_others(pins, name, &others);

	if (r == 0)
		r = store_dir_list(pins->path, &files);
	if (r < 0)
		return r;
	for (size_t i = 0; others + bytes > pins->max_bytes && i < files.nr; i++) {
		const struct store_dir_entry *entry = &files.items[i];

		if (strcmp(entry->name, name) != 0 && has_only_automatic(pins, entry->name) &&
		    store_dir_remove(pins->path, entry->name) == 0)
			others -= entry->bytes;
	}
	return others + bytes > pins->max_bytes ? -EDQUOT : 0;
}

static int copy_to(const char *path, const char *source, const struct pin_list *list)
{
	_cleanup_(store_file_closep) struct store_file *from = NULL, *to = NULL;
	int r = store_file_open(source, &from);

	if (r == 0)
		r = store_file_create_like(path, from, &to);
	if (r == 0)
		r = pin_table_import(to, source, list->items, list->nr);
	return r;
}

static uint64_t size_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* Copies the pinned ranges of a file of the record, in place of the copy that there was. Without
 * the original, that one is the source. -ENOENT: it has nothing of these ranges. */
static int copy(const struct pin_dir *pins, const char *name, const struct pin_list *list)
{
	char source[PATH_BYTES], old[PATH_BYTES], temporary[PATH_BYTES];
	int r;

	if ((r = make_path(pins->dir, name, source)) < 0 ||
	    (r = make_pin_path(pins->dir, name, old)) < 0 ||
	    (r = make_pin_path(pins->dir, TEMP_NAME, temporary)) < 0)
		return r;
	remove_temporary(pins); /* of a killed process */
	r = copy_to(temporary, access(source, F_OK) == 0 ? source : old, list);
	if (r == 0)
		r = -ENOENT;
	if (r > 0)
		r = make_room(pins, name, size_of(temporary));
	if (r == 0 && rename(temporary, old) < 0)
		r = -errno;
	if (r < 0)
		remove_temporary(pins);
	return r;
}

/* Makes the copy of a file that is to have these pins only. */
static int set_pins(const struct pin_dir *pins, const char *name, const struct pin_list *list)
{
	return list->nr > 0 ? copy(pins, name, list) : store_dir_remove(pins->path, name);
}

/* Changes by users. */

static void explain(const struct pin_dir *pins, int error, struct strbuf *message)
{
	if (error == -EDQUOT)
		strbuf_appendf(
			message,
			"all pins together may have %.1f MB, a quarter of the record's limit "
			"(--store-max of the agent); remove a pin, or pin a shorter range",
			(double)pins->max_bytes / 1e6);
	else if (error == -ENOENT)
		strbuf_append_str(message, "the record has nothing of that time");
	else
		strbuf_appendf(message, "%s: %s", pins->path, strerror(-error));
}

static int choose_id(const char *dir, char id[static PIN_ID_BYTES])
{
	_cleanup_(pin_list_done) struct pin_list list = { 0 };
	uint64_t last = 0, number;
	int r = pin_dir_list(dir, &list);

	if (r < 0)
		return r;
	for (size_t i = 0; i < list.nr; i++)
		if (list.items[i].id[0] == 'p' && parse_u64(list.items[i].id + 1, &number) == 0 &&
		    number < INT64_MAX)
			last = max_u64(last, number);
	snprintf(id, PIN_ID_BYTES, "p%" PRIu64, last + 1);
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int add_to_file(const struct pin_dir *pins, const char *name, const struct pin *pin)
{
	_cleanup_(pin_list_done) struct pin_list list = { 0 };
	char path[PATH_BYTES];
	int r = make_pin_path(pins->dir, name, path);

	if (r == 0)
		r = read_file(path, &list);
	if (r == 0)
		r = add_to_list(&list, pin);
	return r < 0 ? r : copy(pins, name, &list);
}

static int remove_from_file(const struct pin_dir *pins, const char *name, const char *id)
{
	_cleanup_(pin_list_done) struct pin_list list = { 0 };
	char path[PATH_BYTES];
	int r = make_pin_path(pins->dir, name, path);

	if (r == 0)
		r = read_file(path, &list);
	if (r < 0)
		return r;
	size_t nr_before = list.nr;
	list.nr = 0;
	for (size_t i = 0; i < nr_before; i++)
		if (strcmp(list.items[i].id, id) != 0)
			list.items[list.nr++] = list.items[i];
	return list.nr < nr_before ? set_pins(pins, name, &list) : -ENOENT;
}

/* Returns the number of files that had the pin. */
static int remove_from_all(const struct pin_dir *pins, const char *id)
{
	_cleanup_(store_dir_list_done) struct store_dir_list files = { 0 };
	int nr = 0;
	int r = store_dir_list(pins->path, &files);

	for (size_t i = 0; r == 0 && i < files.nr; i++) {
		r = remove_from_file(pins, files.items[i].name, id);
		nr += r == 0;
		r = r == -ENOENT ? 0 : r;
	}
	return r < 0 ? r : nr;
}

static int add_to_spans(const struct pin_dir *pins, const struct pin *pin)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	_cleanup_(strbuf_done) struct strbuf warnings = { 0 };
	int nr = 0;
	int r = store_reader_open(&pins->dir, 1, &warnings, &reader);

	for (size_t i = 0; r == 0 && i < reader.nr_spans; i++) {
		const struct store_span *span = &reader.spans[i];

		if (span->end_s <= pin->first_s || span->first_s >= pin->end_s)
			continue;
		r = add_to_file(pins, base_name(span->path), pin);
		nr += r == 0;
		r = r == -ENOENT ? 0 : r;
	}
	if (r == 0)
		return nr > 0 ? 0 : -ENOENT;
	if (nr > 0)
		(void)remove_from_all(pins, pin->id);
	return r;
}

int pin_dir_add(const char *dir, struct pin *pin, struct strbuf *reterr_msg)
{
	_cleanup_(close_dir) struct pin_dir pins;
	int r = open_dir(dir, LOCK_EX, reterr_msg, &pins);

	if (r < 0)
		return r;
	r = choose_id(dir, pin->id);
	if (r == 0)
		r = add_to_spans(&pins, pin);
	if (r < 0)
		explain(&pins, r, reterr_msg);
	return r;
}

int pin_dir_add_event(const char *dir, const struct pin *pin, struct strbuf *reterr_msg)
{
	_cleanup_(close_dir) struct pin_dir pins;
	int r = open_dir(dir, LOCK_EX | LOCK_NB, reterr_msg, &pins);

	if (r < 0)
		return r;
	r = add_to_spans(&pins, pin);
	if (r < 0)
		explain(&pins, r, reterr_msg);
	return r;
}

int pin_dir_remove(const char *dir, const char *id, struct strbuf *reterr_msg)
{
	_cleanup_(close_dir) struct pin_dir pins;
	int r = open_dir(dir, LOCK_EX, reterr_msg, &pins);

	if (r < 0)
		return r;
	r = remove_from_all(&pins, id);
	if (r > 0)
		return 0;
	if (r == 0)
		strbuf_appendf(reterr_msg, "there is no pin %s; flamelet pin --list lists the pins",
			       id);
	else
		explain(&pins, r, reterr_msg);
	return r < 0 ? r : -ENOENT;
}

/* Changes by the agent. */

/* Makes pins of those of the worst events of a file's day that the file has seconds of. */
static int add_worst(const struct store_reader *reader, const struct store_span *span,
		     struct pin_list *list)
{
	_cleanup_(found_events_done) struct found_events events = { 0 };
	_cleanup_(strbuf_done) struct strbuf warnings = { 0 };
	const uint64_t day = span->first_s / DAY_S * DAY_S;
	const struct time_range range = { day, day + DAY_S };
	int r = event_reader_read(reader, &range, &warnings, &events);

	found_events_sort_by_score(&events);
	for (size_t i = 0; r == 0 && i < events.nr && i < NR_WORST; i++) {
		const struct event *event = &events.items[i].event;
		struct pin pin = {
			.first_s = event->first_s > AROUND_S ? event->first_s - AROUND_S : 0,
			.end_s = event->end_s + AROUND_S,
			.made_s = clock_real_ns() / NSEC_PER_SEC,
			.is_automatic = true,
		};

		event_reader_name(event, pin.id);
		snprintf(pin.note, sizeof(pin.note), "%s", event->text);
		if (pin.end_s > span->first_s && pin.first_s < span->end_s && !find(list, pin.id))
			r = add_to_list(list, &pin);
	}
	return r;
}

static const struct store_span *find_span(const struct store_reader *reader, const char *name)
{
	for (size_t i = 0; i < reader->nr_spans; i++)
		if (strcmp(base_name(reader->spans[i].path), name) == 0)
			return &reader->spans[i];
	return NULL;
}

/* Copies again, without the automatic pins if they have no room. Returns how many these are. */
static int copy_what_fits(const struct pin_dir *pins, const char *name, struct pin_list *list)
{
	size_t nr_before = list->nr;
	int r = list->nr > 0 ? copy(pins, name, list) : 0;

	if (r != -EDQUOT)
		return r == -ENOENT ? 0 : r;
	list->nr = 0;
	for (size_t i = 0; i < nr_before; i++)
		if (!list->items[i].is_automatic)
			list->items[list->nr++] = list->items[i];
	/* What the pins of users have already, they keep. */
	r = list->nr > 0 ? copy(pins, name, list) : 0;
	return r == -EDQUOT || r == -ENOENT || r == 0 ? (int)(nr_before - list->nr) : r;
}

int pin_dir_keep(const char *dir, const char *name, uint64_t max_bytes)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	_cleanup_(strbuf_done) struct strbuf ignored = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(pin_list_done) struct pin_list list = { 0 };
	_cleanup_(close_dir) struct pin_dir pins;
	char path[PATH_BYTES];
	int r;

	if ((r = open_dir(dir, LOCK_EX | LOCK_NB, &ignored, &pins)) < 0 ||
	    (r = make_pin_path(dir, name, path)) < 0 ||
	    (r = store_reader_open(&dir, 1, &ignored, &reader)) < 0)
		return r;
	pins.max_bytes = max_bytes / PIN_DIR_SHARE;
	const struct store_span *span = find_span(&reader, name);
	if (!span) /* it is damaged */
		return 0;
	if ((r = read_file(path, &list)) < 0 || (r = add_worst(&reader, span, &list)) < 0)
		return r;
	return copy_what_fits(&pins, name, &list);
}
