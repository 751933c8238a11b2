/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/file_owners.h"

#include <stdbool.h>

static bool are_many(const struct file_owners *owners)
{
	return owners->nr > FILE_OWNERS_MAX;
}

void file_owners_add(struct file_owners *owners, uint64_t id)
{
	if (are_many(owners))
		return;
	for (unsigned int i = 0; i < owners->nr; i++)
		if (owners->ids[i] == id)
			return;
	if (id == 0 || owners->nr == FILE_OWNERS_MAX)
		owners->nr = FILE_OWNERS_MAX + 1;
	else
		owners->ids[owners->nr++] = id;
}

void file_owners_merge(struct file_owners *owners, const struct file_owners *others)
{
	if (are_many(others))
		file_owners_add(owners, 0);
	for (unsigned int i = 0; i < others->nr && !are_many(others); i++)
		file_owners_add(owners, others->ids[i]);
}

enum worker_lane file_owners_lane(const struct file_owners *owners,
				  const struct worker_lanes *lanes, uint64_t now_ns)
{
	if (are_many(owners) || owners->nr == 0)
		return WORKER_LANE_FAST;
	for (unsigned int i = 0; i < owners->nr; i++)
		if (worker_lanes_choose(lanes, owners->ids[i], now_ns) == WORKER_LANE_FAST)
			return WORKER_LANE_FAST;
	return WORKER_LANE_SLOW;
}

enum worker_rank file_owners_rank(const struct file_owners *owners,
				  const struct worker_lanes *lanes, uint64_t now_ns)
{
	enum worker_rank best = worker_lanes_rank(lanes, owners->ids[0], now_ns);

	for (size_t i = 1; i < FILE_OWNERS_MAX && owners->ids[i] != 0; i++) {
		enum worker_rank rank = worker_lanes_rank(lanes, owners->ids[i], now_ns);

		if (rank < best)
			best = rank;
	}
	return best;
}

void file_owners_charge(const struct file_owners *owners, struct worker_lanes *lanes,
			uint64_t took_ns, uint64_t now_ns)
{
	worker_lanes_charge(lanes, owners->ids[0], took_ns, now_ns);
	for (size_t i = 1; i < FILE_OWNERS_MAX && owners->ids[i] != 0; i++)
		worker_lanes_charge(lanes, owners->ids[i], took_ns, now_ns);
}

void file_owners_punish(const struct file_owners *owners, struct worker_lanes *lanes,
			uint64_t now_ns)
{
	for (unsigned int i = 0; i < owners->nr && !are_many(owners); i++)
		worker_lanes_punish(lanes, owners->ids[i], now_ns);
}
