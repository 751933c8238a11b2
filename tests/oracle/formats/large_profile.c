/* SPDX-License-Identifier: Apache-2.0 */
#include "large_profile.h"

#include "profile/builder.h"

#include <stdio.h>

#define MAX_BYTES ((size_t)64 << 20)
#define NR_STACKS 400
#define NR_FRAMES 49
#define MIN_COUNT 60 /* and up to 19 more */
#define PERIOD_NS 10000000
#define DURATION_NS 10000000000

static int add_frame(struct builder *builder, const char *name, uint64_t address,
		     uint32_t *ret_location)
{
	const struct profile_location location = { .address = address, .kind = FRAME_GO };
	struct profile_function function = { 0 };
	struct profile_line line = { 0 };

	int r = builder_add_string(builder, name, &function.name);
	if (r == 0)
		r = builder_add_function(builder, &function, &line.function);
	if (r == 0)
		r = builder_add_named_location(builder, &location, &line, 1, ret_location);
	return r;
}

static int add_sample(struct builder *builder, const uint32_t *leaf_first, size_t nr,
		      uint32_t count)
{
	struct profile_sample sample = { .pid = 7, .tid = 7, .count = count };

	int r = builder_add_string(builder, "shop", &sample.process_comm);
	if (r == 0)
		r = builder_add_stack(builder, leaf_first, nr, &sample.stack);
	if (r == 0)
		r = builder_add_sample(builder, &sample);
	return r;
}

static int add_stack(struct builder *builder, unsigned int nth)
{
	uint32_t leaf_first[NR_FRAMES];
	char name[80];
	int r = 0;

	for (unsigned int i = 0; i < NR_FRAMES && r == 0; i++) {
		snprintf(name, sizeof(name), "github.com/acme/shop/cart.step%u_%u", nth, i);
		r = add_frame(builder, name, 1 + nth * NR_FRAMES + i,
			      &leaf_first[NR_FRAMES - 1 - i]);
	}
	return r < 0 ? r : add_sample(builder, leaf_first, NR_FRAMES, MIN_COUNT + nth % 20);
}

static int add_needle(struct builder *builder)
{
	uint32_t leaf_first[2];

	int r = add_frame(builder, "needle", NR_STACKS * NR_FRAMES + 1, &leaf_first[0]);
	if (r == 0)
		r = add_frame(builder, "github.com/acme/shop/cart.step0_0", 1, &leaf_first[1]);
	return r < 0 ? r : add_sample(builder, leaf_first, 2, 1);
}

struct profile *large_profile(void)
{
	struct builder *builder = NULL;

	int r = builder_new(MAX_BYTES, &builder);
	for (unsigned int i = 0; i < NR_STACKS && r == 0; i++)
		r = add_stack(builder, i);
	if (r == 0)
		r = add_needle(builder);
	if (r < 0) {
		builder_free(builder);
		return NULL;
	}
	builder_set_time(builder, 0, DURATION_NS, PERIOD_NS);
	return builder_seal(builder);
}
