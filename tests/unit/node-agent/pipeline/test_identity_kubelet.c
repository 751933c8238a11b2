/* SPDX-License-Identifier: Apache-2.0 */
/* How often the kubelet is asked for what it does not know. */
#include "pipeline/identity.h"

#include "base/clock.h"
#include "cgroup_fixture.h"
#include "tests/standin/kubelet_standin.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

#define PODS_FILE FIXTURES_DIR "/kubelet/pods-1.36.json"
#define MAX_PODS 100
#define STRANGERS_NS (6 * NSEC_PER_SEC)
#define WAIT_NS (20 * NSEC_PER_SEC)
#define STRANGER_UID "00000000-2778-49ae-92ed-f9f23d29979f"
#define OTHER_UID "00000001-2778-49ae-92ed-f9f23d29979f"
#define STRANGER_ID "0000161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define STRANGER_DIR "/kubepods/pod" STRANGER_UID "/" STRANGER_ID

struct fixture {
	struct cgroup_fixture cgroups;
	struct kubelet_standin server;
	struct pod_index *pods;
	struct pod_watch *watch;
	struct identity *identity;
};

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	*state = fixture;
	cgroup_fixture_init(&fixture->cgroups);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	identity_free(fixture->identity);
	pod_watch_stop(fixture->watch);
	pod_index_free(fixture->pods);
	if (fixture->watch)
		kubelet_standin_stop(&fixture->server);
	cgroup_fixture_done(&fixture->cgroups);
	test_free(fixture);
	return 0;
}

/* The test's fixture, or the end of the test. */
static struct fixture *fixture_or_skip(void **state)
{
	struct fixture *fixture = *state;

	cgroup_fixture_require(&fixture->cgroups);
	return fixture;
}

/* Starts a kubelet, and a watch that has its list; or ends the test. */
static struct identity *watch_server(struct fixture *fixture)
{
	struct kubelet_standin *server = &fixture->server;

	if (kubelet_standin_start(server, "127.0.0.1:0", "node-1", PODS_FILE) < 0) {
		print_message("SKIP: the kubelet stand-in needs python3 and openssl\n");
		skip();
	}
	const struct kubelet_opts kubelet_opts = { .url = server->url,
						   .node_name = "node-1",
						   .ca_file = server->ca_file,
						   .token_file = server->token_file };
	assert_int_equal(pod_index_new(MAX_PODS, &fixture->pods), 0);
	struct pod_watch_opts watch_opts = { .index = fixture->pods };
	assert_int_equal(kubelet_new(&kubelet_opts, &watch_opts.kubelet), 0);
	assert_int_equal(pod_watch_start(&watch_opts, &fixture->watch), 0);
	pod_watch_wait_first(fixture->watch, clock_mono_ns() + WAIT_NS);

	const struct identity_opts opts = { .cgroup_fs = fixture->cgroups.fs,
					    .pods = fixture->pods,
					    .watch = fixture->watch,
					    .host_name = "host-1" };
	assert_int_equal(identity_new(&opts, &fixture->identity), 0);
	return fixture->identity;
}

static struct cgroup_event born_of(const char *path)
{
	struct cgroup_event event = { .time_ns = clock_mono_ns(), .id = 7, .kind = CGROUP_BORN };

	event.path_bytes = (uint32_t)strlen(path) + 1;
	memcpy(event.path, path, event.path_bytes);
	return event;
}

/* Sees the cgroup as its samples come. */
static void see_until_requests(struct identity *identity, uint64_t cgroup_id,
			       const struct kubelet_standin *server, size_t nr)
{
	uint64_t deadline_ns = clock_mono_ns() + WAIT_NS;

	while (kubelet_standin_nr_requests(server) < nr && clock_mono_ns() < deadline_ns) {
		identity_see(identity, cgroup_id);
		usleep(10000);
	}
	assert_true(kubelet_standin_nr_requests(server) >= nr);
}

static void an_unknown_container_is_asked_for_at_its_birth_and_while_it_is_sampled(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);

	uint64_t id = cgroup_fixture_make(&fixture->cgroups, STRANGER_DIR);
	struct identity *identity = watch_server(fixture);

	assert_int_equal(identity_learn_all(identity), 0);
	usleep(1500000); /* a requested refresh would be served after one second at most */
	assert_int_equal(kubelet_standin_nr_requests(&fixture->server), 1);
	see_until_requests(identity, id, &fixture->server, 2);
	see_until_requests(identity, id, &fixture->server, 3);

	const struct cgroup_event born = born_of("/kubepods/pod" OTHER_UID);
	identity_follow(identity, &born);
	see_until_requests(identity, id, &fixture->server, 4);
	assert_false(identity_is_final(identity, id));
}

static void exclude_half(struct known_cgroup *cgroup, void *data)
{
	size_t *nr = data;

	if ((*nr)++ % 2)
		cgroup->verdict = CGROUP_UNDECIDED;
}

/* Nobody knows them. They are sampled all the time, or wait for a verdict. */
static void containers_that_the_kubelet_does_not_know_are_not_asked_for_each_second(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t ids[20];

	for (size_t i = 0; i < array_len(ids); i++) {
		char path[160];

		snprintf(path, sizeof(path),
			 "/kubepods/pod%08zx-2778-49ae-92ed-f9f23d29979f/%060zx%s", i, i, "abcd");
		ids[i] = cgroup_fixture_make(&fixture->cgroups, path);
	}
	struct identity *identity = watch_server(fixture);
	uint64_t end_ns = clock_mono_ns() + STRANGERS_NS;

	for (size_t i = 0; i < array_len(ids); i++)
		identity_see(identity, ids[i]);
	identity_visit(identity, exclude_half, &(size_t){ 0 });
	while (clock_mono_ns() < end_ns) {
		for (size_t i = 0; i < array_len(ids); i += 2)
			identity_see(identity, ids[i]);
		identity_ask_for_undecided(identity);
		usleep(10000);
	}
	/* The first one, and after 0, 1 and 4 s one or two: who is late for a request has the next
	 * one. On a machine that stalls some fall together. */
	assert_in_range(kubelet_standin_nr_requests(&fixture->server), 2, 7);
}

#define IDENTITY_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IDENTITY_TEST(
			an_unknown_container_is_asked_for_at_its_birth_and_while_it_is_sampled),
		IDENTITY_TEST(
			containers_that_the_kubelet_does_not_know_are_not_asked_for_each_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
