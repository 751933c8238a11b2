/* SPDX-License-Identifier: Apache-2.0 */
#include "vitals/vitals.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "vitals/vital_files.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES ((size_t)16 << 10)
#define TEXT_MAX_BYTES ((size_t)4 << 20)

/* /proc/schedstat has many lines for each CPU. Beyond this size, which a node of 16 CPUs stays
 * below, the kernel takes milliseconds to write it. */
#define LARGE_BYTES ((size_t)32 << 10)
#define LARGE_INTERVAL_NS (8 * NSEC_PER_SEC)

static const struct vital_info infos[VITAL_NR] = {
#define VITAL_INFO(symbol, name, unit, is_counter, help)                                           \
	[symbol] = { name, unit, is_counter, help },
	VITALS(VITAL_INFO)
#undef VITAL_INFO
};

const struct vital_info *vital_info(enum vital vital)
{
	return &infos[vital];
}

enum vital vital_find(const char *name)
{
	enum vital vital = 0;

	while (vital < VITAL_NR && strcmp(infos[vital].name, name) != 0)
		vital++;
	return vital;
}

const char *vital_unit_name(enum vital_unit unit)
{
	static const char *const names[] = {
		[VITAL_NS] = "ns",
		[VITAL_BYTES] = "bytes",
		[VITAL_COUNT] = "count",
	};

	return names[unit];
}

void vitals_reader_open(int proc_fd, struct vitals_reader *ret_reader)
{
	*ret_reader = (struct vitals_reader){ .text = strbuf_with_max(TEXT_MAX_BYTES) };
	for (size_t i = 0; i < VITALS_NR_FILES; i++)
		ret_reader->files[i].fd = openat(proc_fd, vital_files[i].path,
						 O_RDONLY | O_CLOEXEC);
}

void vitals_reader_close(struct vitals_reader *reader)
{
	for (size_t i = 0; i < VITALS_NR_FILES; i++) {
		cleanup_closep(&reader->files[i].fd);
		reader->files[i].fd = -EBADF;
	}
	strbuf_done(&reader->text);
}

/* Reads a file from its beginning. */
static int read_text(int fd, struct strbuf *text)
{
	ssize_t nr;

	strbuf_clear(text);
	do {
		size_t len = text->len;
		char *room = strbuf_extend(text, READ_BYTES);

		if (!room)
			return strbuf_error(text);
		nr = pread(fd, room, READ_BYTES, (off_t)len);
		strbuf_truncate(text, len + (nr > 0 ? (size_t)nr : 0));
	} while (nr > 0 || (nr < 0 && errno == EINTR));
	return nr < 0 ? -errno : 0;
}

static uint64_t per_second(uint64_t increase, uint64_t elapsed_ns)
{
	__uint128_t rate = ((__uint128_t)increase * NSEC_PER_SEC + elapsed_ns / 2) / elapsed_ns;

	if (rate == 0 && increase > 0)
		return 1;
	return rate > UINT64_MAX ? UINT64_MAX : (uint64_t)rate;
}

/* Some counters may fall a little, such as that of idle time; nothing was counted then. */
static void add_differences(const struct vitals_file *file, const struct vitals *now,
			    uint64_t elapsed_ns, struct vitals *vitals)
{
	for (enum vital vital = 0; vital < VITAL_NR; vital++) {
		uint64_t value = now->values[vital], last = file->last.values[vital];

		if (!vitals_has(now, vital))
			continue;
		if (!infos[vital].is_counter)
			vitals_set(vitals, vital, value);
		else if (vitals_has(&file->last, vital) && elapsed_ns > 0)
			vitals_set(vitals, vital,
				   per_second(value > last ? value - last : 0, elapsed_ns));
	}
}

static void read_file(struct vitals_reader *reader, size_t index, uint64_t now_ns,
		      struct vitals *vitals)
{
	struct vitals_file *file = &reader->files[index];
	struct vitals now = { 0 };

	if (file->fd < 0 || (file->read_ns > 0 && now_ns < file->read_ns + file->interval_ns))
		return;
	/* What cannot be read now, for instance because pressure is disabled, has no values. */
	if (read_text(file->fd, &reader->text) == 0)
		vital_files[index].parse(strbuf_str(&reader->text), reader->text.len, &now);
	add_differences(file, &now, now_ns - file->read_ns, vitals);
	file->last = now;
	file->read_ns = now_ns;
	bool is_large = vital_files[index].is_costly && reader->text.len > LARGE_BYTES;
	file->interval_ns = is_large ? LARGE_INTERVAL_NS : 0;
}

void vitals_reader_read(struct vitals_reader *reader, uint64_t now_ns, struct vitals *ret_vitals)
{
	*ret_vitals = (struct vitals){ 0 };
	for (size_t i = 0; i < VITALS_NR_FILES; i++)
		read_file(reader, i, now_ns, ret_vitals);
}
