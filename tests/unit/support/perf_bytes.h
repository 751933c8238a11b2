/* SPDX-License-Identifier: Apache-2.0 */
/* Builds perf records byte by byte. */
#ifndef TESTS_UNIT_PERF_BYTES_H
#define TESTS_UNIT_PERF_BYTES_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct perf_bytes {
	uint8_t bytes[512];
	size_t len;
};

static inline void perf_bytes_append(struct perf_bytes *out, const void *data, size_t len)
{
	if (len > 0)
		memcpy(out->bytes + out->len, data, len);
	out->len += len;
}

static inline void perf_bytes_u32(struct perf_bytes *out, uint32_t value)
{
	perf_bytes_append(out, &value, sizeof(value));
}

static inline void perf_bytes_u64(struct perf_bytes *out, uint64_t value)
{
	perf_bytes_append(out, &value, sizeof(value));
}

/* A text with its NUL, padded to eight bytes. */
static inline void perf_bytes_text(struct perf_bytes *out, const char *text)
{
	static const uint8_t zeros[8];
	size_t len = strlen(text) + 1;

	perf_bytes_append(out, text, len);
	perf_bytes_append(out, zeros, (8 - len % 8) % 8);
}

static inline struct perf_bytes perf_bytes_begin(uint32_t type, uint16_t misc)
{
	const struct perf_event_header header = { .type = type, .misc = misc };
	struct perf_bytes out = { .len = 0 };

	perf_bytes_append(&out, &header, sizeof(header));
	return out;
}

/* The time behind the body, and the size into the header. */
static inline void perf_bytes_end(struct perf_bytes *out, uint64_t time_ns)
{
	perf_bytes_u64(out, time_ns);
	uint16_t size = (uint16_t)out->len;
	memcpy(out->bytes + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

#endif
