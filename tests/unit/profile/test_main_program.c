/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/main_program.h"

#include "base/cleanup.h"
#include "profile/builder.h"
#include "unit.h"

#define MAX_BYTES (1 << 20)

static uint32_t add_string(struct builder *builder, const char *text)
{
	uint32_t id = 0;

	assert_int_equal(builder_add_string(builder, text, &id), 0);
	return id;
}

/* A profile with these processes, and with libc and these files mapped, from mapping 2 on. */
static struct profile *make_profile(const char *const comms[static 2],
				    const char *const files[static 2])
{
	const char *const all_files[] = { "/usr/lib/libc.so.6", files[0], files[1] };
	struct builder *builder = NULL;
	uint32_t id;

	assert_int_equal(builder_new(MAX_BYTES, &builder), 0);
	for (size_t i = 0; i < array_len(all_files) && all_files[i]; i++) {
		const struct profile_mapping mapping = { .filename = add_string(builder,
										all_files[i]) };

		assert_int_equal(builder_add_mapping(builder, &mapping, &id), 0);
	}
	for (uint32_t i = 0; i < 2 && comms[i]; i++) {
		const struct profile_sample sample = {
			.process_comm = add_string(builder, comms[i]), .pid = i + 1, .count = 1
		};

		assert_int_equal(builder_add_sample(builder, &sample), 0);
	}
	return builder_seal(builder);
}

static void the_main_program_has_the_name_of_all_processes(void **state)
{
	static const struct {
		const char *comms[2];
		const char *files[2];
		uint32_t mapping;
	} cases[] = {
		{ { "nginx" }, { "/usr/sbin/nginx" }, 2 },
		{ { "nginx", "nginx" }, { "/lib/x.so", "/usr/sbin/nginx" }, 3 },
		{ { "nginx" }, { "/usr/sbin/nginx (deleted)" }, 2 },
		{ { "fifteen-letters" }, { "/bin/fifteen-letters-and-more" }, 2 },
		{ { "nginx", "sh" }, { "/usr/sbin/nginx", "/bin/sh" }, 0 },
		{ { "nginx" }, { "/usr/sbin/nginx-debug" }, 0 },
		{ { "app.py" }, { "/usr/bin/python3.11" }, 0 },
		{ { "" }, { "/usr/sbin/" }, 0 },
		{ { "kernel" }, { "kernel" }, 0 },
		{ { NULL }, { "/bin/sh" }, 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(profile_unrefp) struct profile *profile = make_profile(cases[i].comms,
										 cases[i].files);

		assert_int_equal(main_program_find(profile), cases[i].mapping);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_main_program_has_the_name_of_all_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
