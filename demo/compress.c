/* SPDX-License-Identifier: Apache-2.0 */
/* Something to see in a flame graph: compresses a text again and again, as deflate does, and
 * measures what Huffman's code would make of it. Ends by itself after a minute. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES (1 << 18)
#define WINDOW_BYTES (1 << 15)
#define HASH_SLOTS (1 << 14)
#define MAX_CHAIN 64
#define MIN_MATCH 4
#define MAX_MATCH 258
#define NR_SYMBOLS 512 /* bytes, and lengths of matches above them */
#define LIFE_SECONDS 60

struct match {
	size_t distance;
	size_t length;
};

struct compressor {
	const uint8_t *text;
	size_t len;
	int32_t first[HASH_SLOTS]; /* the last place with that hash; -1: none */
	int32_t next[TEXT_BYTES]; /* the one before it */
	uint32_t counts[NR_SYMBOLS];
};

static inline uint32_t hash_bytes(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return (word * 2654435761u) >> 18;
}

static inline size_t match_length(const uint8_t *a, const uint8_t *b, size_t max)
{
	size_t length = 0;

	while (length < max && a[length] == b[length])
		length++;
	return length;
}

static inline void remember(struct compressor *compressor, size_t place)
{
	uint32_t hash = hash_bytes(compressor->text + place);

	compressor->next[place] = compressor->first[hash];
	compressor->first[hash] = (int32_t)place;
}

static __attribute__((noinline)) struct match find_longest_match(
	const struct compressor *compressor, size_t place)
{
	const uint8_t *text = compressor->text;
	size_t left = compressor->len - place;
	size_t max = left < MAX_MATCH ? left : MAX_MATCH;
	struct match best = { 0 };
	int32_t candidate = compressor->first[hash_bytes(text + place)];

	for (int nr = 0; candidate >= 0 && nr < MAX_CHAIN; nr++) {
		size_t distance = place - (size_t)candidate;
		size_t length = match_length(text + candidate, text + place, max);

		if (distance > WINDOW_BYTES)
			break;
		if (length > best.length)
			best = (struct match){ distance, length };
		candidate = compressor->next[candidate];
	}
	return best;
}

static __attribute__((noinline)) void find_matches(struct compressor *compressor)
{
	size_t place = 0;

	while (place + MAX_MATCH < compressor->len) {
		struct match match = find_longest_match(compressor, place);
		size_t step = match.length >= MIN_MATCH ? match.length : 1;

		compressor->counts[step > 1 ? 256 + step / 2 : compressor->text[place]]++;
		for (size_t i = 0; i < step; i++)
			remember(compressor, place + i);
		place += step;
	}
}

static int compare_weights(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a;
	uint32_t second = *(const uint32_t *)b;

	return first < second ? -1 : first > second;
}

/* Joins the two rarest ones until one is left: what all joints weigh together is the
 * length of the text in bits. */
static __attribute__((noinline)) uint64_t measure_huffman(const uint32_t counts[static NR_SYMBOLS])
{
	uint32_t weights[NR_SYMBOLS];
	uint64_t nr_bits = 0;
	size_t nr = 0;

	for (size_t i = 0; i < NR_SYMBOLS; i++)
		if (counts[i] > 0)
			weights[nr++] = counts[i];
	for (; nr > 1; nr--) {
		qsort(weights, nr, sizeof(*weights), compare_weights);
		nr_bits += weights[0] + weights[1];
		weights[0] += weights[1];
		weights[1] = weights[nr - 1];
	}
	return nr_bits;
}

static __attribute__((noinline)) uint64_t compress_text(struct compressor *compressor)
{
	memset(compressor->first, -1, sizeof(compressor->first));
	memset(compressor->counts, 0, sizeof(compressor->counts));
	find_matches(compressor);
	return measure_huffman(compressor->counts);
}

/* Words of a small language, the short ones often. */
static void write_text(uint8_t *text, size_t len)
{
	static const char *const words[] = {
		"the ",	    "flame ", "of ",	"a ",	    "sample ",	 "is ",	       "stack ",
		"kernel ",  "in ",    "frame ", "process ", "and ",	 "where ",     "time ",
		"unwound ", "by ",    "table ", "to ",	    "compiler ", "written.\n",
	};
	uint32_t random = 17;

	for (size_t place = 0; place < len; place++) {
		random = random * 1664525 + 1013904223;
		const char *word = words[(random >> 16) % (sizeof(words) / sizeof(*words))];

		for (; *word && place < len; word++)
			text[place++] = (uint8_t)*word;
		text[place < len ? place : len - 1] = (uint8_t)('a' + (random >> 27) % 26);
	}
}

int main(void)
{
	static struct compressor compressor;
	static uint8_t text[TEXT_BYTES];
	uint64_t nr_bits = 0;

	alarm(LIFE_SECONDS);
	write_text(text, sizeof(text));
	compressor.text = text;
	compressor.len = sizeof(text);
	do
		nr_bits = compress_text(&compressor);
	while (nr_bits > 0);
	return printf("nothing is left of the text\n") < 0;
}
