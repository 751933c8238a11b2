/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/ranking.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define LABEL_BYTES_MAX ((size_t)64 << 20)

int ranking_init(struct ranking *ranking)
{
	*ranking = (struct ranking){ 0 };
	return intern_init(&ranking->labels, RANKING_LABELS_MAX, LABEL_BYTES_MAX);
}

void ranking_done(struct ranking *ranking)
{
	intern_done(&ranking->labels);
	free(ranking->counts);
	ranking->counts = NULL;
}

int ranking_add(struct ranking *ranking, const char *label, uint64_t count)
{
	uint32_t id;

	int r = intern_add(&ranking->labels, label, &id);
	if (r < 0)
		return r;
	r = array_grow(ranking->counts, ranking->cap_counts, (size_t)id + 1, RANKING_LABELS_MAX);
	if (r < 0)
		return r;
	while (ranking->nr_counts <= id)
		ranking->counts[ranking->nr_counts++] = 0;
	ranking->counts[id] += count;
	return 0;
}

uint64_t ranking_get(const struct ranking *ranking, const char *label)
{
	uint32_t id;

	if (intern_find(&ranking->labels, label, &id) < 0 || id >= ranking->nr_counts)
		return 0;
	return ranking->counts[id];
}

size_t ranking_size(const struct ranking *ranking)
{
	size_t nr = 0;

	for (size_t id = 0; id < ranking->nr_counts; id++)
		nr += ranking->counts[id] > 0;
	return nr;
}

size_t ranking_top(const struct ranking *ranking, size_t max_ranks, struct rank *ret_ranks)
{
	size_t nr_ranks = 0;

	for (size_t id = 0; id < ranking->nr_counts; id++) {
		uint64_t count = ranking->counts[id];
		size_t at = nr_ranks;

		while (at > 0 && ret_ranks[at - 1].count < count)
			at--;
		if (count == 0 || at == max_ranks)
			continue;
		if (nr_ranks < max_ranks)
			nr_ranks++;
		memmove(&ret_ranks[at + 1], &ret_ranks[at],
			(nr_ranks - at - 1) * sizeof(*ret_ranks));
		ret_ranks[at] = (struct rank){
			.label = intern_get(&ranking->labels, (uint32_t)id),
			.count = count,
		};
	}
	return nr_ranks;
}
