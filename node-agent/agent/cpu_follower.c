/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/cpu_follower.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "privilege/refusal.h"

#define MESSAGE_MAX_BYTES 4096

/* Opens and closes the side bands of CPUs that went online or offline since the last call, or
 * both. The source follows its own timers only. Returns the last error. */
static int follow_sideband(struct cpu_follower *follower, const struct cpu_set_bits *online,
			   const struct cpu_set_bits *restarted)
{
	int error = 0;

	for (uint32_t cpu = 0; cpu < CPU_LIST_MAX; cpu++) {
		uint64_t bit = UINT64_C(1) << (cpu % 64);
		bool is_online = cpu_set_has(online, cpu);
		bool is_followed = cpu_set_has(&follower->followed, cpu);

		if (is_followed && (!is_online || cpu_set_has(restarted, cpu))) {
			sideband_remove_cpu(follower->sideband, cpu);
			follower->followed.words[cpu / 64] &= ~bit;
			is_followed = false;
		}
		if (!is_online || is_followed)
			continue;
		int r = sideband_add_cpu(follower->sideband, cpu);
		if (r == 0)
			follower->followed.words[cpu / 64] |= bit;
		else if (r != -ENODEV) /* it has just gone */
			error = r;
	}
	return error;
}

static void warn(struct cpu_follower *follower, int error)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);

	if (error < 0 && !follower->has_warned) {
		refusal_append_perf(error, &message);
		log_warn("cannot sample all CPUs; retrying every second: %s", strbuf_str(&message));
	}
	follower->has_warned = error < 0;
}

int cpu_follower_follow(struct cpu_follower *follower)
{
	struct cpu_set_bits online, restarted = { 0 };

	int r = cpu_list_online(&online);
	if (r < 0)
		return r;
	r = sample_source_follow_cpus(follower->source, &restarted);
	int error = follow_sideband(follower, &online, &restarted);
	if (r < 0)
		return r;
	int refusal = sample_source_cpu_refusal(follower->source);
	warn(follower, refusal < 0 ? refusal : error);
	return 0;
}
