/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup_scene.h"

#include "base/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "unit.h"
#include "capture/bpf/capture_bpf.h"
#include "child_time.h"
#include "plain_consumer.h"

#define FREQUENCY_HZ 500
#define RUN_NS (NSEC_PER_SEC / 5) /* of the child's CPU time: 100 samples */

uint64_t cgroup_scene_move(struct cgroup_scene *scene, const char *path)
{
	uint64_t id = cgroup_fixture_make(&scene->cgroups, path);
	char procs[512], text[32];

	snprintf(procs, sizeof(procs), "%s%s/cgroup.procs", scene->cgroups.root, path);
	int fd = open(procs, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	int n = snprintf(text, sizeof(text), "%d", scene->child);
	assert_int_equal(write(fd, text, (size_t)n), n);
	close(fd);
	return id;
}

static pid_t start_spinning(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile unsigned int n = 0;; n++)
			;
	}
	assert_true(pid > 0);
	return pid;
}

static void open_capture(struct cgroup_scene *scene)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	const struct capture_opts opts = {
		.frequency_hz = FREQUENCY_HZ,
		.poll_interval_ns = NSEC_PER_SEC,
		.cgroup_is_v1 = cgroup_fs_mode(scene->cgroups.fs) == CGROUP_MODE_LEGACY,
		.cgroup_hierarchy = cgroup_fs_hierarchy(scene->cgroups.fs),
	};

	assert_int_equal(capture_bpf_open(&opts, &message, &scene->source), 0);
}

uint64_t cgroup_scene_start(struct cgroup_scene *scene, const char *root, const char *path)
{
	*scene = (struct cgroup_scene){ 0 };
	cgroup_fixture_init_at(&scene->cgroups, root);
	cgroup_fixture_require(&scene->cgroups);
	scene->child = start_spinning();
	uint64_t id = cgroup_scene_move(scene, path);
	open_capture(scene);
	return id;
}

void cgroup_scene_stop(struct cgroup_scene *scene)
{
	sample_source_close(scene->source);
	if (scene->child > 0) {
		kill(scene->child, SIGKILL);
		waitpid(scene->child, NULL, 0);
	}
	cgroup_fixture_done(&scene->cgroups);
}

static void on_sample(const struct sample_event *event, void *data)
{
	struct cgroup_scene *scene = data;

	if (event->pid != (uint32_t)scene->child) {
		scene->nr_others++;
		return;
	}
	scene->nr_samples++;
	scene->cgroup_id = event->cgroup_id;
}

void cgroup_scene_run(struct cgroup_scene *scene)
{
	const struct sample_consumer consumer = plain_consumer(on_sample, scene);
	struct cpu_set_bits restarted;
	struct capture_stats before;

	sample_source_get_stats(scene->source, &before);
	scene->nr_samples = 0;
	scene->nr_others = 0;
	assert_int_equal(sample_source_follow_cpus(scene->source, &restarted), 0);
	child_time_wait(scene->child, RUN_NS);
	sample_source_stop(scene->source);
	sample_source_poll(scene->source, &consumer);
	sample_source_get_stats(scene->source, &scene->stats);
	for (size_t i = 0; i < STAT_NR; i++)
		scene->stats.bpf[i] -= before.bpf[i];
}
