/* SPDX-License-Identifier: Apache-2.0 */
#include "base/parse.h"

#include "base/clock.h"
#include "base/minmax.h"

#include <string.h>
#include <strings.h>

#define WORD_MAX 64

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

int parse_digits(const char **cursor, const char *end, unsigned int base, uint64_t *ret_value)
{
	const char *c = *cursor;
	uint64_t value = 0;

	for (; c < end && (unsigned int)digit_value(*c) < base; c++) {
		if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit_value(*c), &value))
			return -ERANGE;
	}
	if (c == *cursor)
		return -EINVAL;
	*cursor = c;
	*ret_value = value;
	return 0;
}

int parse_u64(const char *text, uint64_t *ret_value)
{
	const char *end = text + strlen(text);
	uint64_t value;

	int r = parse_digits(&text, end, 10, &value);
	if (r < 0)
		return r;
	if (text != end)
		return -EINVAL;
	*ret_value = value;
	return 0;
}

int parse_u32(const char *text, uint32_t *ret_value)
{
	uint64_t value;

	int r = parse_u64(text, &value);
	if (r < 0)
		return r;
	if (value > UINT32_MAX)
		return -ERANGE;
	*ret_value = (uint32_t)value;
	return 0;
}

int parse_bool(const char *text, bool *ret_value)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "0", "1" };

	for (size_t i = 0; i < array_len(words); i++) {
		if (strcasecmp(text, words[i]) == 0) {
			*ret_value = i % 2 == 1;
			return 0;
		}
	}
	return -EINVAL;
}

struct unit {
	const char *name;
	uint64_t factor;
};

static int parse_unit(const char *text, const struct unit *units, size_t nr, uint64_t *ret_factor)
{
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(text, units[i].name) == 0) {
			*ret_factor = units[i].factor;
			return 0;
		}
	}
	return -EINVAL;
}

/* Adds the digits behind a decimal point, each worth a tenth of the one before. */
static int parse_fraction(const char **cursor, const char *end, uint64_t *frac, uint64_t *scale)
{
	const char *digits = *cursor + 1;

	*frac = 0;
	*scale = 1;
	if (**cursor != '.')
		return 0;
	int r = parse_digits(&digits, end, 10, frac);
	if (r < 0)
		return r;
	if (digits - *cursor > 10)
		return -ERANGE;
	for (const char *c = *cursor + 1; c < digits; c++)
		*scale *= 10;
	*cursor = digits;
	return 0;
}

int parse_duration_ns(const char *text, uint64_t *ret_ns)
{
	static const struct unit units[] = {
		{ "", NSEC_PER_SEC },
		{ "s", NSEC_PER_SEC },
		{ "ms", NSEC_PER_MSEC },
		{ "us", NSEC_PER_USEC },
		{ "ns", 1 },
		{ "m", 60 * NSEC_PER_SEC },
		{ "h", 3600 * NSEC_PER_SEC },
		{ "d", 86400 * NSEC_PER_SEC },
	};
	const char *end = text + strlen(text);
	uint64_t whole, frac, scale, factor, ns;

	int r = parse_digits(&text, end, 10, &whole);
	if (r < 0)
		return r;
	r = parse_fraction(&text, end, &frac, &scale);
	if (r < 0)
		return r;
	r = parse_unit(text, units, array_len(units), &factor);
	if (r < 0)
		return r;
	if (__builtin_mul_overflow(whole, factor, &ns) ||
	    __builtin_add_overflow(ns, (uint64_t)((__uint128_t)frac * factor / scale), &ns))
		return -ERANGE;
	*ret_ns = ns;
	return 0;
}

int parse_bytes(const char *text, uint64_t *ret_bytes)
{
	static const struct unit units[] = {
		{ "", 1 },
		{ "K", UINT64_C(1) << 10 },
		{ "Ki", UINT64_C(1) << 10 },
		{ "M", UINT64_C(1) << 20 },
		{ "Mi", UINT64_C(1) << 20 },
		{ "G", UINT64_C(1) << 30 },
		{ "Gi", UINT64_C(1) << 30 },
	};
	const char *end = text + strlen(text);
	uint64_t number, factor, bytes;

	int r = parse_digits(&text, end, 10, &number);
	if (r < 0)
		return r;
	r = parse_unit(text, units, array_len(units), &factor);
	if (r < 0)
		return r;
	if (__builtin_mul_overflow(number, factor, &bytes))
		return -ERANGE;
	*ret_bytes = bytes;
	return 0;
}

unsigned int word_distance(const char *a, const char *b)
{
	unsigned int row[WORD_MAX + 1];
	size_t len_a = strlen(a), len_b = strlen(b);

	if (len_a > WORD_MAX || len_b > WORD_MAX)
		return WORD_MAX;
	for (size_t j = 0; j <= len_b; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 1; i <= len_a; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= len_b; j++) {
			unsigned int above = row[j];

			row[j] = (unsigned int)min_u64(min_u64(above, row[j - 1]) + 1,
						       diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[len_b];
}
