/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/pod_asks.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/minmax.h"

#include <string.h>

#define PAUSE_MAX_NS (600 * NSEC_PER_SEC)

/* For a pod that is not listed. */
#define STRANGE_MIN_NS NSEC_PER_SEC
#define STRANGE_FACTOR 3 /* of the age, added to it: 1, 4, 16 */

/* For a container of a listed pod. */
#define PAUSE_MIN_NS (200 * NSEC_PER_MSEC)
#define EAGER_FOR_NS (5 * NSEC_PER_SEC)
#define EAGER_MAX_NS NSEC_PER_SEC

/* The hash is seeded, so that names of cgroups cannot be chosen to replace others' entries. */
static uint64_t key_of(const struct cgroup_owner *owner, bool has_pod)
{
	bool is_pod = owner->pod_uid[0] && (!has_pod || !owner->container_id[0]);
	const char *text = is_pod ? owner->pod_uid : owner->container_id;
	uint64_t hash[2];

	hash_128_seeded(text, strlen(text), hash_u64(0), hash);
	return hash[0] ? hash[0] : 1;
}

static struct pod_ask *find(struct pod_asks *asks, uint64_t key)
{
	struct pod_ask *set = asks->of[key % POD_ASKS_SETS];
	struct pod_ask *first = &set[0];

	for (size_t i = 0; i < POD_ASKS_WAYS; i++) {
		if (set[i].key == key)
			return &set[i];
		if (set[i].next_ns < first->next_ns)
			first = &set[i];
	}
	*first = (struct pod_ask){ .key = key };
	return first;
}

static uint64_t pause_ns(uint64_t age_ns, bool has_pod)
{
	if (!has_pod)
		return min_u64(max_u64(STRANGE_FACTOR * age_ns, STRANGE_MIN_NS), PAUSE_MAX_NS);
	return min_u64(max_u64(age_ns, PAUSE_MIN_NS),
		       age_ns < EAGER_FOR_NS ? EAGER_MAX_NS : PAUSE_MAX_NS);
}

bool pod_asks_is_due(struct pod_asks *asks, const struct cgroup_owner *owner, bool has_pod,
		     uint64_t now_ns)
{
	struct pod_ask *ask = find(asks, key_of(owner, has_pod));

	if (now_ns < ask->next_ns)
		return false;
	if (ask->next_ns == 0)
		ask->first_ns = now_ns;
	ask->next_ns = now_ns + pause_ns(now_ns - ask->first_ns, has_pod);
	return true;
}
