/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "findings/units.h"
#include "profile/builder.h"

#include "unit.h"

#define MAX_BYTES (1 << 20)

struct row {
	const char *ns, *pod, *uid, *service, *container; /* NULL: not known */
	const char *comm;
	uint32_t pid, cpu;
	uint64_t cgroup_id;
};

static const struct row rows[] = {
	{ "shop", "cart", "uid", NULL, NULL, "java", 10, 0, 1 },
	{ "shop", "cart", "uid", NULL, NULL, "java", 10, 1, 1 },
	{ "shop", "cart", "uid", NULL, NULL, "sh", 11, 1, 2 },
	{ NULL, NULL, "uid-2", NULL, NULL, "java", 12, 0, 3 },
	{ NULL, NULL, NULL, "host", NULL, "bash", 13, 0, 4 },
	{ NULL, NULL, NULL, "host", NULL, "bash", 14, 0, 4 },
	{ NULL, NULL, NULL, "ssh.service", NULL, "sshd", 15, 0, 5 },
	{ NULL, NULL, NULL, NULL, "0123456789abcdef", "x\x1b[31m", 16, 0, 6 },
	{ NULL, NULL, NULL, NULL, NULL, "", 0, 0, 7 },
};

static struct profile *make_profile(void)
{
	struct builder *builder = NULL;

	assert_int_equal(builder_new(MAX_BYTES, &builder), 0);
	for (size_t i = 0; i < array_len(rows); i++) {
		const struct attribute attributes[] = {
			{ "k8s.namespace.name", rows[i].ns },  { "k8s.pod.name", rows[i].pod },
			{ "k8s.pod.uid", rows[i].uid },	       { "service.name", rows[i].service },
			{ "container.id", rows[i].container },
		};
		struct profile_sample sample = {
			.pid = rows[i].pid,
			.cpu = rows[i].cpu,
			.cgroup_id = rows[i].cgroup_id,
			.count = i + 1,
		};

		assert_int_equal(builder_add_resource(builder, attributes, array_len(attributes),
						      &sample.resource),
				 0);
		assert_int_equal(builder_add_string(builder, rows[i].comm, &sample.process_comm),
				 0);
		assert_int_equal(builder_add_sample(builder, &sample), 0);
	}
	return builder_seal(builder);
}

static void check(enum finding_scope scope, const char *const *names, size_t nr)
{
	_cleanup_(profile_unrefp) struct profile *profile = make_profile();
	_cleanup_(units_done) struct units units = { 0 };
	uint64_t total = 0;

	assert_int_equal(units_init(&units, scope, profile), 0);
	assert_int_equal(units.nr, nr);
	for (size_t i = 0; i < nr; i++) {
		_cleanup_(strbuf_done) struct strbuf name = strbuf_with_max(MAX_BYTES);

		units_append_name(&units, i, profile, &name);
		assert_string_equal(strbuf_str(&name), names[i]);
		total += units.units[i].total;
	}
	assert_int_equal(total, profile_total(profile));
}

static void samples_are_divided_by_cgroup(void **state)
{
	const char *const names[] = {
		"pod shop/cart",	 "pod shop/cart", "pod uid-2",
		"processes of the host", "ssh.service",	  "container 01234…abcdef",
		"processes of the host"
	};
	(void)state;

	check(SCOPE_CGROUP, names, array_len(names));
}

static void samples_are_divided_by_program(void **state)
{
	const char *const names[] = { "java (pid 10) in pod shop/cart",
				      "sh (pid 11) in pod shop/cart",
				      "java (pid 12) in pod uid-2",
				      "bash",
				      "sshd (pid 15) in ssh.service",
				      "x\\x1b[31m (pid 16) in container 01234…abcdef",
				      "[unnamed]" };
	(void)state;

	check(SCOPE_PROGRAM, names, array_len(names));
}

static void samples_are_divided_by_cpu(void **state)
{
	const char *const names[] = { "CPU 0", "CPU 1" };
	(void)state;

	check(SCOPE_CPU, names, array_len(names));
}

static void a_node_is_one_unit(void **state)
{
	const char *const names[] = { "all samples" };
	(void)state;

	check(SCOPE_NODE, names, array_len(names));
}

static void a_profile_without_samples_has_no_units(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	_cleanup_(units_done) struct units units = { 0 };
	struct builder *builder = NULL;
	(void)state;

	assert_int_equal(builder_new(MAX_BYTES, &builder), 0);
	profile = builder_seal(builder);
	assert_int_equal(units_init(&units, SCOPE_PROGRAM, profile), 0);
	assert_int_equal(units.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_divided_by_cgroup),
		cmocka_unit_test(samples_are_divided_by_program),
		cmocka_unit_test(samples_are_divided_by_cpu),
		cmocka_unit_test(a_node_is_one_unit),
		cmocka_unit_test(a_profile_without_samples_has_no_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
