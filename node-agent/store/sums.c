/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sums.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/minmax.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct profile_mapping) == 40, "gap in struct profile_mapping");

#define MAX_SUMS ((size_t)1 << 27)

void sums_done(struct sums *sums)
{
	free(sums->items);
	htable_done(&sums->index);
	*sums = (struct sums){ 0 };
}

static int find_item(const struct sums *sums, uint32_t hash, const struct sum *key, uint32_t *ret_i)
{
	struct htable_iter it = htable_lookup(&sums->index, hash);

	while (htable_next(&it, ret_i)) {
		const struct sum *item = &sums->items[*ret_i];

		if (item->labels == key->labels && item->node == key->node)
			return 0;
	}
	return -ENOENT;
}

static int add_item(struct sums *sums, uint32_t hash, const struct sum *sum)
{
	uint32_t i;

	if (find_item(sums, hash, sum, &i) == 0) {
		sums->items[i].value += sum->value;
		return 0;
	}
	if (array_grow(sums->items, sums->cap, sums->nr + 1, MAX_SUMS) < 0 ||
	    htable_add(&sums->index, hash, (uint32_t)sums->nr) < 0)
		return -ENOMEM;
	sums->items[sums->nr++] = *sum;
	return 0;
}

/* The table is larger than the CPU's caches. Memory is asked for all pending sums first, so that
 * they wait for it together. */
static int flush(struct sums *sums)
{
	uint32_t hashes[SUMS_PENDING];
	size_t nr = sums->nr_pending;
	int r = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct sum *sum = &sums->pending[i];

		hashes[i] = hash_u64((uint64_t)sum->labels << 32 | sum->node);
		htable_prefetch(&sums->index, hashes[i]);
	}
	for (size_t i = 0; i < nr; i++) {
		struct htable_iter it = htable_lookup(&sums->index, hashes[i]);
		uint32_t item;

		if (htable_next(&it, &item))
			__builtin_prefetch(&sums->items[item], 1);
	}
	for (size_t i = 0; r == 0 && i < nr; i++)
		r = add_item(sums, hashes[i], &sums->pending[i]);
	sums->nr_pending = 0;
	return r;
}

int sums_add(struct sums *sums, uint32_t labels, uint32_t node, uint64_t value)
{
	struct sum *last = sums->nr_pending ? &sums->pending[sums->nr_pending - 1] : NULL;

	if (last && last->labels == labels && last->node == node) {
		last->value += value;
		return 0;
	}
	int r = sums->nr_pending == SUMS_PENDING ? flush(sums) : 0;
	sums->pending[sums->nr_pending++] = (struct sum){ labels, node, value };
	return r;
}

void sums_scale(struct sums *sums, uint64_t factor)
{
	for (size_t i = 0; i < sums->nr; i++)
		sums->items[i].value *= factor;
	for (size_t i = 0; i < sums->nr_pending; i++)
		sums->pending[i].value *= factor;
}

/* Translates the dictionary's numbers into the builder's. Translations hold the new number + 1; 0
 * stands for "not asked yet". */
struct translator {
	const struct dict *dict; /* borrowed */
	struct builder *builder; /* borrowed */
	uint32_t *of[DICT_NR_TABLES]; /* owned */
	struct htable mappings; /* of the builder's */
	uint32_t *locations; /* owned; of the stacks of a batch */
	size_t nr_locations, cap_locations;
	struct profile_line *lines; /* owned */
	size_t cap_lines;
	struct attribute *attributes; /* owned */
	size_t cap_attributes;
};

static void translator_done(struct translator *translator)
{
	for (size_t i = 0; i < DICT_NR_TABLES; i++)
		free(translator->of[i]);
	htable_done(&translator->mappings);
	free(translator->locations);
	free(translator->lines);
	free(translator->attributes);
}

static int index_mapping(struct translator *t, uint32_t mapping)
{
	const struct profile_mapping *content = &builder_peek(t->builder)->mappings[mapping];

	return htable_add(&t->mappings, hash_bytes(content, sizeof(*content)), mapping);
}

static int translator_init(struct translator *translator, const struct dict *dict,
			   struct builder *builder)
{
	int r = 0;

	*translator = (struct translator){ .dict = dict, .builder = builder };
	for (size_t i = 0; i < DICT_NR_TABLES; i++) {
		translator->of[i] = calloc(dict->tables[i].nr_rows + 1, sizeof(*translator->of[i]));
		if (!translator->of[i])
			return -ENOMEM;
	}
	for (uint32_t i = 1; r == 0 && i < builder_peek(builder)->nr_mappings; i++)
		r = index_mapping(translator, i);
	return r;
}

static int keep(uint32_t *known, int r, uint32_t id, uint32_t *ret_id)
{
	if (r < 0)
		return r;
	*known = id + 1;
	*ret_id = id;
	return 0;
}

static int put_string(struct translator *t, uint32_t id, uint32_t *ret)
{
	uint32_t *known = &t->of[DICT_STRINGS][id], new = *known - 1;
	int r = *known ? 0 : builder_add_string(t->builder, dict_string(t->dict, id), &new);

	return keep(known, r, new, ret);
}

/* Other files of the record may have added an equal one. */
static int add_mapping(struct translator *t, const struct profile_mapping *mapping,
		       uint32_t *ret_id)
{
	const struct profile *profile = builder_peek(t->builder);
	struct htable_iter it = htable_lookup(&t->mappings, hash_bytes(mapping, sizeof(*mapping)));

	while (htable_next(&it, ret_id))
		if (memcmp(&profile->mappings[*ret_id], mapping, sizeof(*mapping)) == 0)
			return 0;
	int r = builder_add_mapping(t->builder, mapping, ret_id);
	return r < 0 ? r : index_mapping(t, *ret_id);
}

static int put_mapping(struct translator *t, uint32_t id, uint32_t *ret)
{
	const uint32_t *words = dict_get(t->dict, DICT_MAPPINGS, id).words;
	uint32_t *known = &t->of[DICT_MAPPINGS][id], new = *known - 1;
	struct profile_mapping mapping = { 0 };
	int r = 0;

	if (!*known && id == 0) {
		new = 0;
	} else if (!*known) {
		if ((r = put_string(t, words[MAPPING_FILENAME], &mapping.filename)) < 0 ||
		    (r = put_string(t, words[MAPPING_BUILD_ID], &mapping.build_id)) < 0 ||
		    (r = put_string(t, words[MAPPING_GO_BUILD_ID], &mapping.go_build_id)) < 0 ||
		    (r = put_string(t, words[MAPPING_HTLHASH], &mapping.htlhash)) < 0)
			return r;
		r = add_mapping(t, &mapping, &new);
	}
	return keep(known, r, new, ret);
}

static int put_function(struct translator *t, uint32_t id, uint32_t *ret)
{
	const uint32_t *words = dict_get(t->dict, DICT_FUNCTIONS, id).words;
	uint32_t *known = &t->of[DICT_FUNCTIONS][id], new = *known - 1;
	struct profile_function function = { .start_line = words[FUNCTION_START_LINE] };
	int r = 0;

	if (!*known) {
		if ((r = put_string(t, words[FUNCTION_NAME], &function.name)) < 0 ||
		    (r = put_string(t, words[FUNCTION_SYSTEM_NAME], &function.system_name)) < 0 ||
		    (r = put_string(t, words[FUNCTION_FILENAME], &function.filename)) < 0)
			return r;
		r = builder_add_function(t->builder, &function, &new);
	}
	return keep(known, r, new, ret);
}

static int add_frame(struct translator *t, uint32_t id, uint32_t *ret)
{
	struct word_row row = dict_get(t->dict, DICT_FRAMES, id);
	struct profile_location location = { .kind = row.words[FRAME_KIND] };
	size_t nr = row.nr - FRAME_FIRST_FUNCTION;

	int r = array_grow(t->lines, t->cap_lines, nr, SIZE_MAX);
	for (size_t i = 0; r == 0 && i < nr; i++) {
		t->lines[i].line = 0;
		r = put_function(t, row.words[FRAME_FIRST_FUNCTION + i], &t->lines[i].function);
	}
	if (r == 0)
		r = put_mapping(t, row.words[FRAME_MAPPING], &location.mapping);
	return r < 0 ? r : builder_add_named_location(t->builder, &location, t->lines, nr, ret);
}

static int put_frame(struct translator *t, uint32_t id, uint32_t *ret)
{
	uint32_t *known = &t->of[DICT_FRAMES][id], new = *known - 1;
	int r = *known ? 0 : add_frame(t, id, &new);

	return keep(known, r, new, ret);
}

/* Appends the locations of a stack to those of the batch. */
static int append_locations(struct translator *t, uint32_t node)
{
	int r = 0;

	while (r == 0 && node != 0) {
		r = array_grow(t->locations, t->cap_locations, t->nr_locations + 1, SIZE_MAX);
		if (r == 0)
			r = put_frame(t, dict_frame(t->dict, node), &t->locations[t->nr_locations]);
		if (r == 0)
			t->nr_locations++;
		node = dict_parent(t->dict, node);
	}
	return r;
}

static int put_resource(struct translator *t, uint32_t id, uint32_t *ret)
{
	struct word_row row = dict_get(t->dict, DICT_RESOURCES, id);
	uint32_t *known = &t->of[DICT_RESOURCES][id], new = *known - 1;
	size_t nr = row.nr / 2;

	if (*known)
		return keep(known, 0, new, ret);
	int r = array_grow(t->attributes, t->cap_attributes, nr + 1, SIZE_MAX);
	for (size_t i = 0; r == 0 && i < nr; i++)
		t->attributes[i] = (struct attribute){
			.key = dict_string(t->dict, row.words[2 * i]),
			.value = dict_string(t->dict, row.words[2 * i + 1]),
		};
	if (r == 0)
		r = builder_add_resource(t->builder, t->attributes, nr, &new);
	return keep(known, r, new, ret);
}

static int put_process(struct translator *t, uint32_t id, uint32_t *ret)
{
	const uint32_t *words = dict_get(t->dict, DICT_PROCESSES, id).words;
	uint32_t *known = &t->of[DICT_PROCESSES][id], new = *known - 1;
	struct profile_process process = {
		.start_ns = (uint64_t)words[PROCESS_START_HIGH] << 32 | words[PROCESS_START_LOW],
		.pid = words[PROCESS_PID],
	};
	int r = 0;

	if (!*known) {
		if ((r = put_string(t, words[PROCESS_PATH], &process.path)) < 0 ||
		    (r = put_string(t, words[PROCESS_NAME], &process.name)) < 0)
			return r;
		r = builder_add_process(t->builder, &process, &new);
	}
	return keep(known, r, new, ret);
}

static int put_labels(struct translator *t, uint32_t labels, struct profile_sample *sample)
{
	const uint32_t *words = dict_get(t->dict, DICT_LABELS, labels).words;
	int r;

	sample->cgroup_id = (uint64_t)words[LABELS_CGROUP_HIGH] << 32 | words[LABELS_CGROUP_LOW];
	sample->pid = words[LABELS_PID];
	sample->reason = words[LABELS_REASON];
	sample->cpu = words[LABELS_CPU] ? words[LABELS_CPU] - 1 : PROFILE_CPU_UNKNOWN;
	if ((r = put_resource(t, words[LABELS_RESOURCE], &sample->resource)) < 0 ||
	    (r = put_process(t, words[LABELS_PROCESS], &sample->process)) < 0 ||
	    (r = put_string(t, words[LABELS_PROCESS_COMM], &sample->process_comm)) < 0)
		return r;
	return put_string(t, words[LABELS_THREAD_COMM], &sample->thread_comm);
}

/* Sums on their way into the builder. The tables there are larger than the CPU's caches, so memory
 * is asked for all of a batch first, as in flush(). */
#define BATCH 32

struct batch {
	const struct sum *sums; /* borrowed */
	size_t nr;
	size_t starts[BATCH + 1]; /* of their locations */
	struct profile_sample samples[BATCH];
	int results[BATCH]; /* the first error of each */
};

/* Goes from all nodes to the root side by side, so that the CPU waits for the nodes of all stacks
 * together; collect_stacks() then finds them in its caches. */
static void touch_nodes(const struct translator *t, const struct batch *batch)
{
	uint32_t nodes[BATCH], left = 0;

	for (size_t i = 0; i < batch->nr; i++) {
		uint32_t node = batch->sums[i].node;

		nodes[i] = t->of[DICT_NODES][node] ? 0 : node;
		left |= nodes[i];
	}
	while (left != 0) {
		left = 0;
		for (size_t i = 0; i < batch->nr; i++) {
			nodes[i] = dict_parent(t->dict, nodes[i]);
			left |= nodes[i];
		}
	}
}

static void collect_stacks(struct translator *t, struct batch *batch)
{
	touch_nodes(t, batch);
	t->nr_locations = 0;
	for (size_t i = 0; i < batch->nr; i++) {
		uint32_t node = batch->sums[i].node;

		batch->starts[i] = t->nr_locations;
		batch->results[i] = t->of[DICT_NODES][node] ? 0 : append_locations(t, node);
		if (t->nr_locations > batch->starts[i])
			builder_prefetch_stack(t->builder, t->locations + batch->starts[i],
					       t->nr_locations - batch->starts[i]);
	}
	batch->starts[batch->nr] = t->nr_locations;
}

static int put_stack(struct translator *t, const struct batch *batch, size_t i, uint32_t *ret)
{
	uint32_t *known = &t->of[DICT_NODES][batch->sums[i].node], new = *known - 1;
	size_t start = batch->starts[i], nr = batch->starts[i + 1] - start;
	int r = *known ? 0 : builder_add_stack(t->builder, t->locations + start, nr, &new);

	return keep(known, r, new, ret);
}

static void make_samples(struct translator *t, struct batch *batch, uint64_t time_ns)
{
	for (size_t i = 0; i < batch->nr; i++) {
		struct profile_sample *sample = &batch->samples[i];

		*sample = (struct profile_sample){ .time_ns = time_ns,
						   .count = batch->sums[i].value };
		if (batch->results[i] == 0)
			batch->results[i] = put_stack(t, batch, i, &sample->stack);
		if (batch->results[i] == 0)
			batch->results[i] = put_labels(t, batch->sums[i].labels, sample);
		builder_prefetch_sample(t->builder, sample);
	}
}

static int add_samples(struct translator *t, struct batch *batch, uint64_t *left_out)
{
	for (size_t i = 0; i < batch->nr; i++) {
		int r = batch->results[i];

		if (r == 0)
			r = builder_add_sample(t->builder, &batch->samples[i]);
		if (r == -ENOSPC)
			*left_out += batch->sums[i].value;
		else if (r < 0)
			return r;
	}
	return 0;
}

int sums_build(struct sums *sums, const struct dict *dict, struct builder *builder,
	       uint64_t *left_out)
{
	_cleanup_(translator_done) struct translator translator;
	int r = translator_init(&translator, dict, builder);

	if (r == 0)
		r = flush(sums);
	for (size_t i = 0; r == 0 && i < sums->nr; i += BATCH) {
		struct batch batch = { .sums = sums->items + i };

		batch.nr = min_u64(sums->nr - i, BATCH);
		collect_stacks(&translator, &batch);
		make_samples(&translator, &batch, sums->time_ns);
		r = add_samples(&translator, &batch, left_out);
	}
	return r;
}
