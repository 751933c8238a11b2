/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/clock.h"
#include "base/printable.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 2048

static const char *const level_names[] = {
	[LOG_LEVEL_ERROR] = "error",
	[LOG_LEVEL_WARN] = "warn",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_DEBUG] = "debug",
};

static enum log_level max_level = LOG_LEVEL_INFO;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void log_set_level(enum log_level level)
{
	__atomic_store_n(&max_level, level, __ATOMIC_RELAXED);
}

/* Returns whether the site may write a line now; *ret_held is the number of suppressed lines. */
static int site_admits(struct log_site *site, unsigned int *ret_held)
{
	uint64_t minute = clock_mono_ns() / (60 * NSEC_PER_SEC) + 1;

	*ret_held = 0;
	if (site->minute != minute) {
		*ret_held = site->nr_held;
		*site = (struct log_site){ .minute = minute };
	}
	if (site->nr_lines >= LOG_SITE_BURST) {
		site->nr_held++;
		return 0;
	}
	site->nr_lines++;
	return 1;
}

/* Copies `text`, as far as it fits, escaped for a quoted logfmt value: names come from containers
 * and must not end the line or forge another one. */
static void quote(char line[static LINE_MAX_BYTES], const char *text)
{
	size_t nr = 0;

	for (struct printable p = printable_of(text); printable_next(&p);) {
		bool is_special = *p.piece == '"' || *p.piece == '\\';

		if (nr + is_special + p.len >= LINE_MAX_BYTES)
			break;
		if (is_special)
			line[nr++] = '\\';
		memcpy(line + nr, p.piece, p.len);
		nr += p.len;
	}
	line[nr] = '\0';
}

static void write_line(struct log_site *site, enum log_level level, const char *msg)
{
	unsigned int nr_held;

	pthread_mutex_lock(&lock);
	if (site_admits(site, &nr_held)) {
		if (nr_held > 0)
			fprintf(stderr, "level=%s msg=\"%s\" suppressed=%u\n", level_names[level],
				msg, nr_held);
		else
			fprintf(stderr, "level=%s msg=\"%s\"\n", level_names[level], msg);
	}
	pthread_mutex_unlock(&lock);
}

int log_write(struct log_site *site, enum log_level level, int error, const char *format, ...)
{
	char text[LINE_MAX_BYTES], line[LINE_MAX_BYTES];
	va_list args;

	if (level > __atomic_load_n(&max_level, __ATOMIC_RELAXED))
		return error;
	va_start(args, format);
	int length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length < 0)
		length = snprintf(text, sizeof(text), "(message cannot be formatted)");
	if (error < 0 && (size_t)length < sizeof(text))
		snprintf(text + length, sizeof(text) - (size_t)length, ": %s", strerror(-error));
	quote(line, text);
	write_line(site, level, line);
	return error;
}
