/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/identity.h"

#include "base/clock.h"
#include "base/locked.h"
#include "k8s/pod_asks.h"

#include <stdlib.h>
#include <string.h>

#define PATH_MAX_BYTES 8192
#define LINE_START_MAX_BYTES 1024
#define CHECKS_PER_TIDY 64

struct identity {
	struct identity_opts opts; /* strings owned */
	struct strbuf cgroup_line_start; /* of attributes; see cgroup_fs_append_line_start() */
	/* Of all below; the pod index's and the watch's are taken inside it */
	pthread_mutex_t lock;
	struct cgroup_table table;
	struct pod_asks asks;
	uint64_t generation;
	uint64_t nr_checks; /* of whether a cgroup still lives */
	struct identity_stats stats;
};

int identity_new(const struct identity_opts *opts, struct identity **ret_identity)
{
	_cleanup_(identity_freep) struct identity *identity = calloc(1, sizeof(*identity));

	if (!identity)
		return -ENOMEM;
	pthread_mutex_init(&identity->lock, NULL);
	identity->opts = *opts;
	identity->cgroup_line_start = strbuf_with_max(LINE_START_MAX_BYTES);
	cgroup_fs_append_line_start(opts->cgroup_fs, &identity->cgroup_line_start);
	identity->opts.node_name = strdup(opts->node_name ? opts->node_name : "");
	identity->opts.host_name = strdup(opts->host_name);
	if (!identity->opts.node_name || !identity->opts.host_name)
		return -ENOMEM;
	*ret_identity = take_ptr(identity);
	return 0;
}

void identity_free(struct identity *identity)
{
	if (!identity)
		return;
	free((char *)identity->opts.node_name);
	free((char *)identity->opts.host_name);
	strbuf_done(&identity->cgroup_line_start);
	cgroup_table_done(&identity->table);
	pthread_mutex_destroy(&identity->lock);
	free(identity);
}

/* Call this and the next functions with the lock held. */
static struct known_cgroup *add(struct identity *identity, uint64_t id, const char *path,
				uint64_t now_ns)
{
	struct known_cgroup *cgroup = cgroup_table_add(&identity->table, id, path, now_ns);

	if (cgroup)
		identity->generation++;
	else
		identity->stats.nr_missed++;
	return cgroup;
}

/* For a cgroup whose birth was not reported: it is older than the agent, or events were lost.
 * Returns NULL if it is gone. */
static struct known_cgroup *look_up(struct identity *identity, uint64_t id, uint64_t now_ns)
{
	_cleanup_(strbuf_done) struct strbuf path = strbuf_with_max(PATH_MAX_BYTES);

	identity->stats.nr_late++;
	if (cgroup_fs_path(identity->opts.cgroup_fs, id, &path) < 0) {
		identity->stats.nr_missed++;
		return NULL;
	}
	return add(identity, id, strbuf_str(&path), now_ns);
}

/* Result of a look at the index. */
struct finding {
	bool is_final; /* there is nothing to ask or wait for */
	bool has_pod;
};

static void keep_match(const struct pod_match *match, void *data)
{
	*(struct finding *)data = (struct finding){ match->is_final, match->pod != NULL };
}

/* Without a source of pods every cgroup is final. */
static struct finding look_at(struct identity *identity, const struct known_cgroup *cgroup)
{
	struct finding finding = { .is_final = true };

	if (identity->opts.watch && cgroup->owner.kind != CGROUP_HOST &&
	    cgroup->owner.kind != CGROUP_CONTAINER_NO_POD &&
	    clock_mono_ns() < cgroup->first_seen_ns + CGROUP_ASK_FOR_NS)
		pod_index_find(identity->opts.pods, &cgroup->owner, cgroup_table_seen_ns(cgroup),
			       keep_match, &finding);
	return finding;
}

/* Asks for a refresh of the pods if that may add to what is known of the cgroup. Returns whether
 * nothing can be added. */
static bool ask(struct identity *identity, const struct known_cgroup *cgroup)
{
	struct finding finding = look_at(identity, cgroup);

	if (!finding.is_final &&
	    pod_asks_is_due(&identity->asks, &cgroup->owner, finding.has_pod, clock_mono_ns()))
		pod_watch_request_refresh(identity->opts.watch);
	return finding.is_final;
}

void identity_see(struct identity *identity, uint64_t cgroup_id)
{
	uint64_t now_ns = clock_mono_ns();
	LOCKED(&identity->lock);

	struct known_cgroup *cgroup = cgroup_table_find(&identity->table, cgroup_id);
	if (!cgroup)
		cgroup = look_up(identity, cgroup_id, now_ns);
	if (cgroup) {
		/* Asked for now, it is known when the symbolizer comes to the window, which may be
		 * late. */
		(void)ask(identity, cgroup);
		cgroup->is_sampled = true;
		cgroup->last_seen_ns = now_ns;
	}
}

static void bury(struct identity *identity, struct known_cgroup *cgroup)
{
	cgroup->is_dead = true;
	cgroup->is_judged = false;
	identity->generation++;
}

/* A pod's own cgroup is made before those of its containers, so the pod can be
 * known by the time they run. */
void identity_follow(struct identity *identity, const struct cgroup_event *event)
{
	LOCKED(&identity->lock);

	struct known_cgroup *cgroup = cgroup_table_find(&identity->table, event->id);
	if (event->kind == CGROUP_DIED && cgroup) {
		cgroup->last_seen_ns = event->time_ns;
		bury(identity, cgroup);
	} else if (event->kind == CGROUP_BORN && !cgroup) {
		identity->stats.nr_births++;
		/* The end of a truncated path is unknown: the cgroup is looked up when sampled. */
		if (event->path_bytes < CGROUP_PATH_MAX)
			cgroup = add(identity, event->id, event->path, event->time_ns);
		if (cgroup && cgroup->owner.pod_uid[0])
			(void)ask(identity, cgroup);
	}
}

static int learn(const char *path, uint64_t id, void *data)
{
	struct identity *identity = data;
	LOCKED(&identity->lock);

	if (identity->table.nr_cgroups == CGROUP_TABLE_MAX)
		return -ENOSPC;
	if (!cgroup_table_find(&identity->table, id) && !add(identity, id, path, clock_mono_ns()))
		return -ENOMEM;
	return 0;
}

int identity_learn_all(struct identity *identity)
{
	return cgroup_fs_walk(identity->opts.cgroup_fs, learn, identity);
}

bool identity_is_final(struct identity *identity, uint64_t cgroup_id)
{
	LOCKED(&identity->lock);

	const struct known_cgroup *cgroup = cgroup_table_find(&identity->table, cgroup_id);
	return !cgroup || ask(identity, cgroup);
}

void identity_ask_for_undecided(struct identity *identity)
{
	LOCKED(&identity->lock);

	for (size_t i = 0; i < identity->table.nr_cgroups; i++) {
		const struct known_cgroup *cgroup = &identity->table.cgroups[i];

		if (cgroup->verdict == CGROUP_UNDECIDED && cgroup->owner.kind == CGROUP_CONTAINER &&
		    !cgroup->owner.is_nested)
			(void)ask(identity, cgroup);
	}
}

int identity_add_resource(struct identity *identity, uint64_t cgroup_id, struct builder *builder)
{
	struct resource_source source = {
		.node_name = identity->opts.node_name,
		.host_name = identity->opts.host_name,
		.cgroup_line_start = strbuf_str(&identity->cgroup_line_start),
		.capture_backend = identity->opts.capture_backend,
		.pods = identity->opts.pods,
		.is_stale = identity->opts.watch && pod_watch_is_stale(identity->opts.watch),
	};
	struct resource_result result;

	pthread_mutex_lock(&identity->lock);
	source.cgroup = cgroup_table_find(&identity->table, cgroup_id);
	int r = resource_add(&source, builder, &result);
	pthread_mutex_unlock(&identity->lock);
	if (r < 0)
		return r;

	uint64_t nr_samples = result.is_opted_out
				      ? builder_remove_cgroup(builder, cgroup_id)
				      : builder_set_resource(builder, cgroup_id, result.resource);
	pthread_mutex_lock(&identity->lock);
	if (result.is_opted_out)
		identity->stats.nr_opted_out += nr_samples;
	else
		identity->stats.nr_samples[result.state] += nr_samples;
	pthread_mutex_unlock(&identity->lock);
	return 0;
}

void identity_visit(struct identity *identity,
		    void (*visit)(struct known_cgroup *cgroup, void *data), void *data)
{
	LOCKED(&identity->lock);

	for (size_t i = 0; i < identity->table.nr_cgroups; i++)
		visit(&identity->table.cgroups[i], data);
}

uint64_t identity_generation(struct identity *identity)
{
	LOCKED(&identity->lock);

	return identity->generation;
}

/* Checks a few cgroups at a time that seem to have lived for long, since reports of deaths may be
 * lost. */
static void check_living(struct identity *identity, uint64_t now_ns)
{
	const struct cgroup_table *table = &identity->table;

	for (size_t i = 0; i < CHECKS_PER_TIDY && i < table->nr_cgroups; i++) {
		struct known_cgroup *cgroup =
			&table->cgroups[identity->nr_checks++ % table->nr_cgroups];
		_cleanup_(strbuf_done) struct strbuf path = strbuf_with_max(PATH_MAX_BYTES);

		if (cgroup->is_dead || cgroup->last_seen_ns + CGROUP_FORGET_AFTER_NS >= now_ns)
			continue;
		cgroup->last_seen_ns = now_ns;
		if (cgroup_fs_path(identity->opts.cgroup_fs, cgroup->id, &path) == -ESTALE)
			bury(identity, cgroup);
	}
}

void identity_tidy(struct identity *identity, uint64_t now_ns)
{
	LOCKED(&identity->lock);

	check_living(identity, now_ns);
	cgroup_table_tidy(&identity->table, now_ns);
}

struct identity_stats identity_get_stats(struct identity *identity)
{
	LOCKED(&identity->lock);

	struct identity_stats stats = identity->stats;
	stats.nr_cgroups = identity->table.nr_cgroups;
	return stats;
}
