/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines for people and for log collectors: one line each, on stderr, `level=warn msg="…"`.
 *
 * Only code that decides what happens next logs: loops and commands. Parsers, encoders and
 * containers return an errno. A line says what failed, where, and the consequence ("skipping",
 * "retrying in 5s"). Each call site writes at most LOG_SITE_BURST lines per minute; the first line
 * after that reports how many lines were suppressed. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/err.h"

#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

#define LOG_SITE_BURST 10

/* State of one call site; zero-initialised by the macros below. */
struct log_site {
	uint64_t minute;
	unsigned int nr_lines;
	unsigned int nr_held;
};

/* Lines above this level are not written. The default is LOG_LEVEL_INFO. */
void log_set_level(enum log_level level);

/* Writes one line. `error` is 0 or a negative errno whose text is appended. Returns `error`, so
 * that a caller can `return log_warn_errno(r, …)`. */
int log_write(struct log_site *site, enum log_level level, int error, const char *format, ...)
	printf_like(4, 5);

#define log_at(level, error, ...)                                                                  \
	({                                                                                         \
		static struct log_site site_;                                                      \
		log_write(&site_, (level), (error), __VA_ARGS__);                                  \
	})

#define log_error(...) log_at(LOG_LEVEL_ERROR, 0, __VA_ARGS__)
#define log_warn(...) log_at(LOG_LEVEL_WARN, 0, __VA_ARGS__)
#define log_info(...) log_at(LOG_LEVEL_INFO, 0, __VA_ARGS__)
#define log_debug(...) log_at(LOG_LEVEL_DEBUG, 0, __VA_ARGS__)
#define log_error_errno(error, ...) log_at(LOG_LEVEL_ERROR, (error), __VA_ARGS__)
#define log_warn_errno(error, ...) log_at(LOG_LEVEL_WARN, (error), __VA_ARGS__)
#define log_debug_errno(error, ...) log_at(LOG_LEVEL_DEBUG, (error), __VA_ARGS__)

#endif
