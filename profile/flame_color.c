/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flame_color.h"

#include <stdint.h>

#define LEGEND_POSITION 96

struct color {
	int red, green, blue;
};

/* Shades of a kind lie between two colours. */
static const struct {
	const char *legend;
	struct color from, to;
} kinds[] = {
	[FLAME_ALL] = { NULL, { 0xe5, 0xe7, 0xeb }, { 0xe5, 0xe7, 0xeb } },
	[FLAME_PROCESS] = { "process", { 0x93, 0xd6, 0xb0 }, { 0xbb, 0xe5, 0xb3 } },
	[FLAME_NATIVE] = { "user space", { 0xf9, 0xa8, 0x6f }, { 0xfd, 0xdb, 0x7c } },
	[FLAME_KERNEL] = { "kernel", { 0x8f, 0xb4, 0xf2 }, { 0x9b, 0xd8, 0xee } },
	[FLAME_STOP] = { "truncated stack", { 0xc3, 0xc8, 0xd1 }, { 0xd9, 0xdc, 0xe2 } },
	[FLAME_GO] = { "Go", { 0x6f, 0xcf, 0xc9 }, { 0xa5, 0xe3, 0xd9 } },
	[FLAME_RUST] = { "Rust", { 0xe8, 0x8f, 0x7a }, { 0xf2, 0xb0, 0x9b } },
	[FLAME_JVM] = { "JVM", { 0xf3, 0xa6, 0xc0 }, { 0xf7, 0xc0, 0xd2 } },
	[FLAME_V8JS] = { "JavaScript", { 0xd8, 0xd4, 0x6a }, { 0xe9, 0xe7, 0x94 } },
	[FLAME_CPYTHON] = { "Python", { 0xa9, 0xb9, 0xe8 }, { 0xc9, 0xc4, 0xf0 } },
	[FLAME_JIT] = { "other JIT", { 0xd2, 0xb8, 0x9c }, { 0xe0, 0xcd, 0xb8 } },
	[FLAME_LABEL] = { "label", { 0xd3, 0xb5, 0xf0 }, { 0xe3, 0xd0, 0xf7 } },
};

static int shade(int from, int to, uint32_t position)
{
	return from + (to - from) * (int)(position % 256) / 255;
}

/* FNV-1a. Not hash_bytes(), which differs from run to run. */
static uint32_t name_position(const char *name)
{
	uint32_t hash = 2166136261;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619;
	return hash ^ hash >> 16;
}

static void append_color(struct strbuf *out, enum flame_kind kind, bool is_inlined,
			 uint32_t position)
{
	const struct color *from = &kinds[kind].from, *to = &kinds[kind].to;
	const int parts[] = {
		shade(from->red, to->red, position),
		shade(from->green, to->green, position),
		shade(from->blue, to->blue, position),
	};

	strbuf_append_char(out, '#');
	for (size_t i = 0; i < array_len(parts); i++)
		strbuf_appendf(out, "%02x",
			       (unsigned int)(is_inlined ? (parts[i] + 255) / 2 : parts[i]));
}

void flame_color_append(struct strbuf *out, enum flame_kind kind, bool is_inlined, const char *name)
{
	append_color(out, kind, is_inlined, name_position(name));
}

void flame_color_append_legend(struct strbuf *out, enum flame_kind kind, bool is_inlined)
{
	append_color(out, kind, is_inlined, LEGEND_POSITION);
}

const char *flame_color_legend(enum flame_kind kind)
{
	return kinds[kind].legend;
}
