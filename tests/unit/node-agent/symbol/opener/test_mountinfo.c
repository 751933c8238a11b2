/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/opener/mountinfo.h"

#include "base/err.h"
#include "unit.h"

#include <string.h>

static const char text[] =
	"22 27 0:21 / /proc rw,relatime - proc proc rw\n"
	"garbage\n"
	"36 35 8:1 /mnt1 /mnt\\0402 rw,noatime master:1 shared:2 - ext4 /dev/sda1 rw\n"
	"500 499 0:57 / / rw,relatime - overlay overlay rw,lowerdir=/a:/b\n"
	"501 500 0:60 / /data - rw - fuse.sshfs host:/ rw\n"
	"502 500 0:61 / /-/x rw - nfs4 server:/ rw";

static void a_line_gives_id_device_and_type(void **state)
{
	const char *cursor = text;
	struct mountinfo_line line;
	(void)state;

	assert_true(mountinfo_next(&cursor, text + strlen(text), &line));
	assert_true(mountinfo_next(&cursor, text + strlen(text), &line));
	assert_int_equal(line.mount_id, 36);
	assert_int_equal(line.dev_major, 8);
	assert_int_equal(line.dev_minor, 1);
	assert_int_equal(line.type_len, 4);
	assert_memory_equal(line.type, "ext4", 4);
}

static void all_well_formed_lines_are_read(void **state)
{
	static const struct {
		uint64_t id;
		bool is_local;
	} lines[] = { { 22, false }, { 36, true }, { 500, true }, { 501, false }, { 502, false } };
	const char *end = text + strlen(text);
	const char *cursor = text;
	struct mountinfo_line line;
	(void)state;

	for (size_t i = 0; i < array_len(lines); i++) {
		assert_true(mountinfo_next(&cursor, end, &line));
		assert_int_equal(line.mount_id, lines[i].id);
		assert_int_equal(mountinfo_is_local(&line), lines[i].is_local);
	}
	assert_false(mountinfo_next(&cursor, end, &line));
	assert_ptr_equal(cursor, end);
}

static void only_types_known_to_be_local_are(void **state)
{
	static const struct {
		const char *type;
		bool is_local;
	} cases[] = {
		{ "ext4", true },     { "xfs", true },		 { "btrfs", true },
		{ "overlay", true },  { "tmpfs", true },	 { "zfs", true },
		{ "squashfs", true }, { "erofs", true },	 { "virtiofs", true },
		{ "fuse", false },    { "fuseblk", false },	 { "fuse.fuse-overlayfs", false },
		{ "nfs", false },     { "nfs4", false },	 { "cifs", false },
		{ "9p", false },      { "ceph", false },	 { "ext", false },
		{ "ext4x", false },   { "overlay\\040", false }, { "proc", false },
		{ "autofs", false },  { "fuse.ext4", false },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct mountinfo_line line = {
			.type = cases[i].type,
			.type_len = strlen(cases[i].type),
		};

		assert_int_equal(mountinfo_is_local(&line), cases[i].is_local);
	}
}

static void malformed_lines_are_skipped(void **state)
{
	static const char *const lines[] = {
		"",
		"36",
		"36 35",
		"36 35 8:1",
		"36 35 8:1 ",
		"36 35 8 / / rw - ext4 x rw",
		"36 35 8: / / rw - ext4 x rw",
		"36 35 :1 / / rw - ext4 x rw",
		"36 35 -8:1 / / rw - ext4 x rw",
		"x 35 8:1 / / rw - ext4 x rw",
		"36  35 8:1 / / rw - ext4 x rw",
		"99999999999999999999 35 8:1 / / rw - ext4 x rw",
		"36 35 4294967296:1 / / rw - ext4 x rw",
		"36 35 8:1 / / rw ext4 x rw",
		"36 35 8:1 / / rw - ext4",
		"36 35 8:1 / / rw - ",
		"36 35 8:1 / / rw -  x rw",
		"36 35 8:1 / / rw -",
	};
	(void)state;

	for (size_t i = 0; i < array_len(lines); i++) {
		const char *cursor = lines[i];
		struct mountinfo_line line;

		assert_false(mountinfo_next(&cursor, lines[i] + strlen(lines[i]), &line));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_gives_id_device_and_type),
		cmocka_unit_test(all_well_formed_lines_are_read),
		cmocka_unit_test(only_types_known_to_be_local_are),
		cmocka_unit_test(malformed_lines_are_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
