/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/view.h"

#include "profile/builder.h"
#include "profile/folded.h"
#include "profile/merge.h"
#include "profile/svg.h"
#include "stacks.h"
#include "torture.h"
#include "unit.h"

#include <string.h>

#define PLENTY_BYTES ((size_t)1 << 20)

static const struct stack_line stacks[] = {
	{ "web", "main;serve;parse_[i];memcpy", 5 },
	{ "web", "main;serve;read_[k];copy_[k]", 3 },
	{ "kworker", "ret_from_fork_[k];worker_[k]", 2 },
	{ "cut", "[too deep];leaf", 1 },
	{ "empty", "", 4 },
};

static struct view_result apply(const struct view *view, const struct profile *profile)
{
	struct view_result result;

	assert_int_equal(view_apply(view, profile, PLENTY_BYTES, &result), 0);
	assert_int_equal(result.nr_lost, 0);
	return result;
}

/* Frees the profile. */
static void assert_view(const struct view *view, struct profile *profile, uint64_t nr_user,
			const char *expected)
{
	_cleanup_(profile_unrefp) struct profile *old = profile;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	struct view_result result = apply(view, old);
	_cleanup_(profile_unrefp) struct profile *new = result.profile;

	assert_int_equal(result.nr_user, nr_user);
	assert_int_equal(profile_total(new) + nr_user, profile_total(old));
	assert_int_equal(new->period, old->period);
	assert_int_equal(new->duration_ns, old->duration_ns);
	assert_int_equal(folded_encode(new, &out), 0);
	assert_string_equal(strbuf_str(&out), expected);
}

static struct profile *plain(void)
{
	return profile_of_stacks(stacks, array_len(stacks));
}

static void a_plain_view_changes_nothing(void **state)
{
	(void)state;
	const struct view view = { 0 };

	assert_true(view_is_plain(&view));
	assert_view(&view, plain(), 0,
		    "cut;[too deep];leaf 1\n"
		    "empty 4\n"
		    "kworker;ret_from_fork_[k];worker_[k] 2\n"
		    "web;main;serve;parse_[i];memcpy 5\n"
		    "web;main;serve;read_[k];copy_[k] 3\n");
}

static void bottom_up_turns_stacks_round_and_ends_with_the_process(void **state)
{
	(void)state;
	const struct view view = { .bottom_up = true };

	assert_false(view_is_plain(&view));
	assert_view(&view, plain(), 0,
		    "copy_[k];read_[k];serve;main;web 3\n"
		    "empty 4\n"
		    "leaf;[too deep];cut 1\n"
		    "memcpy;parse;serve;main;web 5\n"
		    "worker_[k];ret_from_fork_[k];kworker 2\n");
}

static void without_the_kernel_every_sample_stays(void **state)
{
	(void)state;
	const struct view view = { .kernel = VIEW_KERNEL_HIDE };

	assert_view(&view, plain(), 0,
		    "cut;[too deep];leaf 1\n"
		    "empty 4\n"
		    "kworker;[kernel]_[k] 2\n"
		    "web;main;serve 3\n"
		    "web;main;serve;parse_[i];memcpy 5\n");
}

static void kernel_only_tells_how_much_ran_in_user_space(void **state)
{
	(void)state;
	const struct view view = { .kernel = VIEW_KERNEL_ONLY };

	assert_view(&view, plain(), 10,
		    "kworker;ret_from_fork_[k];worker_[k] 2\n"
		    "web;read_[k];copy_[k] 3\n");
}

/* Two processes of two pods and one of the host. */
static struct profile *make_pods(void)
{
	static const struct {
		const char *ns, *pod, *comm;
		uint32_t pid;
		uint64_t count;
	} samples[] = {
		{ "shop", "web-1", "nginx", 7, 3 },
		{ "shop", "web-2", "nginx", 8, 4 },
		{ "bank", "web-1", "java", 9, 5 },
		{ NULL, NULL, "", 1, 6 },
	};
	_cleanup_(profile_unrefp) struct profile *one = profile_of_stacks(
		&(struct stack_line){ "x", "main;run", 1 }, 1);
	struct builder *builder;

	assert_int_equal(builder_new(PLENTY_BYTES, &builder), 0);
	assert_int_equal(merge_profile(builder, one, NULL), 0);
	struct profile_sample sample = builder_peek(builder)->samples[0];
	for (size_t i = 0; i < array_len(samples); i++) {
		const struct attribute attributes[] = {
			{ "k8s.namespace.name", samples[i].ns },
			{ "k8s.pod.name", samples[i].pod },
		};

		assert_int_equal(builder_add_resource(builder, attributes, 2, &sample.resource), 0);
		assert_int_equal(builder_add_string(builder, samples[i].comm, &sample.process_comm),
				 0);
		sample.pid = samples[i].pid;
		sample.count = samples[i].count;
		assert_int_equal(builder_add_sample(builder, &sample), 0);
	}
	return builder_seal(builder);
}

static void groups_stand_above_the_stack_instead_of_the_process(void **state)
{
	(void)state;
	static const char *const pod_and_comm[] = { "pod", "comm" };
	const struct view view = { .groups = pod_and_comm, .nr_groups = 2 };

	assert_view(&view, make_pods(), 0,
		    "[no pod];[no comm];main;run 6\n"
		    "[no pod];x;main;run 1\n"
		    "web-1;java;main;run 5\n"
		    "web-1;nginx;main;run 3\n"
		    "web-2;nginx;main;run 4\n");
}

static void numbers_have_the_name_of_their_label(void **state)
{
	(void)state;
	static const char *const pid[] = { "pid" };
	const struct view view = { .groups = pid, .nr_groups = 1, .bottom_up = true };

	assert_view(&view, make_pods(), 0,
		    "pid 0;run;main 1\n"
		    "pid 1;run;main 6\n"
		    "pid 7;run;main 3\n"
		    "pid 8;run;main 4\n"
		    "pid 9;run;main 5\n");
}

static void any_attribute_can_group(void **state)
{
	(void)state;
	static const char *const keys[] = { "k8s.namespace.name", "no.such" };
	const struct view view = { .groups = keys, .nr_groups = 2 };

	assert_view(&view, make_pods(), 0,
		    "[no k8s.namespace.name];[no no.such];main;run 7\n"
		    "bank;[no no.such];main;run 5\n"
		    "shop;[no no.such];main;run 7\n");
}

static void labels_are_not_taken_for_functions_of_the_same_name(void **state)
{
	(void)state;
	static const char *const comm[] = { "comm" };
	const struct view view = { .groups = comm, .nr_groups = 1 };
	const struct stack_line line = { "main", "main;main", 2 };
	_cleanup_(profile_unrefp) struct profile *old = profile_of_stacks(&line, 1);
	_cleanup_(profile_unrefp) struct profile *new = apply(&view, old).profile;
	const uint32_t *frames = new->stack_locations + new->stacks[new->samples[0].stack].first;

	assert_int_equal(new->stacks[new->samples[0].stack].nr, 3);
	assert_int_equal(new->locations[frames[2]].kind, FRAME_LABEL);
	assert_int_equal(new->locations[frames[1]].kind, FRAME_NATIVE);
}

static void samples_without_room_are_counted(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *old = plain();
	const struct view view = { .bottom_up = true };

	for (size_t max = 0; max < 4096; max += 64) {
		struct view_result result;

		assert_int_equal(view_apply(&view, old, max, &result), 0);
		assert_int_equal(profile_total(result.profile) + result.nr_lost,
				 profile_total(old));
		profile_unref(result.profile);
	}
}

static void too_many_groups_are_refused(void **state)
{
	(void)state;
	const char *groups[VIEW_GROUPS_MAX + 1];
	struct view view = { .groups = groups, .nr_groups = array_len(groups) };
	_cleanup_(profile_unrefp) struct profile *old = plain();
	struct view_result result;

	for (size_t i = 0; i < array_len(groups); i++)
		groups[i] = "pod";
	assert_int_equal(view_apply(&view, old, PLENTY_BYTES, &result), -ENOSPC);
	view.nr_groups--;
	assert_int_equal(view_apply(&view, old, PLENTY_BYTES, &result), 0);
	profile_unref(result.profile);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	static const char *const keys[] = { "pid", "pod" };
	const struct view view = { .groups = keys, .nr_groups = 2, .bottom_up = true };
	_cleanup_(profile_unrefp) struct profile *old = plain();

	for (unsigned int n = 1;; n++) {
		struct view_result result = { 0 };

		torture_begin(n);
		int r = view_apply(&view, old, PLENTY_BYTES, &result);
		bool has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		profile_unref(result.profile);
		if (!has_failed)
			return;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_view_changes_nothing),
		cmocka_unit_test(bottom_up_turns_stacks_round_and_ends_with_the_process),
		cmocka_unit_test(without_the_kernel_every_sample_stays),
		cmocka_unit_test(kernel_only_tells_how_much_ran_in_user_space),
		cmocka_unit_test(groups_stand_above_the_stack_instead_of_the_process),
		cmocka_unit_test(numbers_have_the_name_of_their_label),
		cmocka_unit_test(any_attribute_can_group),
		cmocka_unit_test(labels_are_not_taken_for_functions_of_the_same_name),
		cmocka_unit_test(samples_without_room_are_counted),
		cmocka_unit_test(too_many_groups_are_refused),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
