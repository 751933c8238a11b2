/* SPDX-License-Identifier: Apache-2.0 */
#include "top/report.h"

#include "hostile_names.h"
#include "stacks.h"
#include "unit.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <string.h>

#define PLENTY_BYTES (1 << 20)

static const struct stack_line lines[] = {
	{ "cart", "main;serve;hash", 90 },
	{ "cart", "main;read;entry_[k];copy_[k]", 30 },
	{ "billing", "main;build;asm_exc_page_fault_[k];fault_[k];clear_[k]", 25 },
	{ "cron", "", 5 },
};

static const struct wait_line waits[] = {
	{ "cart", "main;serve;pthread_mutex_lock;do_futex_[k]", REASON_FUTEX, 700000000 },
	{ "cart", "main;poll", REASON_POLL, 900000000 },
	{ "cart", "main;serve", REASON_PREEMPTED, 200000000 },
	{ "db", "main;save;fsync;io_schedule_[k]", REASON_DISK, 800000000 },
	{ "sh", "main;poll", REASON_POLL, 800000000 },
};

static void fill_with_waits(struct board *board, const struct screen *screen)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, 1);
	_cleanup_(profile_unrefp) struct profile *off = profile_of_waits(waits, array_len(waits));
	struct screen arranged = *screen;

	assert_int_equal(board_show(board, profile, off, BY_COMM), 0);
	assert_int_equal(board_arrange(board, &arranged), 0);
}

static void fill(struct board *board, const struct stack_line *list, size_t nr)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(list, nr);
	struct screen screen = { .by = BY_COMM };

	assert_int_equal(board_show(board, profile, NULL, BY_COMM), 0);
	assert_int_equal(board_arrange(board, &screen), 0);
}

static void the_table_has_a_line_for_each_hottest_stack(void **state)
{
	_cleanup_(board_done) struct board board = { .nr_cpus = 4, .nr_lost = 1234 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	const struct cells_style style = { .columns = 80, .is_utf8 = true };
	const struct screen screen = { .by = BY_COMM };
	(void)state;

	fill(&board, lines, array_len(lines));
	assert_int_equal(report_append_text(&out, &board, &screen, 10, &style), 0);
	assert_string_equal(
		strbuf_str(&out),
		"1.50 of 4 CPUs busy (37.5 %): application 63.3 %, kernel 36.7 %, irq 0.0 %, "
		"softirq "
		"0.0 %, 150 samples in 1.0 s, 1,234 lost\n"
		"\n"
		"COMM                                    *CPU  %NODE  APP  KERN  IRQ  SIRQ  PROCS\n"
		"cart                                    1.20   30.0   75    25    0     0      2\n"
		"    75 % application: hash ← serve ← main\n"
		"billing                                 0.25    6.2    0   100    0     0      1\n"
		"    100 % kernel: clear[k] ← fault[k] ← asm_exc_page_fault[k] ← build ← main\n"
		"cron                                    0.05    1.2  100     0    0     0      "
		"1\n");
}

static void waits_have_columns_and_lines_of_their_own(void **state)
{
	_cleanup_(board_done) struct board board = { .nr_cpus = 4 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	const struct cells_style style = { .columns = 80, .is_utf8 = true };
	const struct screen screen = { .by = BY_COMM, .has_waits = true };
	(void)state;

	fill_with_waits(&board, &screen);
	assert_int_equal(report_append_text(&out, &board, &screen, 10, &style), 0);
	assert_string_equal(
		strchr(strbuf_str(&out), '\n') + 1,
		"threads blocked 1.50: disk 0.80, memory 0.00, locks 0.70; waiting for a CPU 0.20\n"
		"\n"
		"COMM                             *CPU  %NODE   WAIT  DELAY  APP  KERN  IRQ  SIRQ\n"
		"cart                             0.90   22.5   0.70   0.20  100     0    0     0\n"
		"    100 % application: hash ← serve ← main\n"
		"    waits: 100 % futex: pthread_mutex_lock ← serve ← main\n"
		"db                               0.00    0.0   0.80   0.00    0     0    0     0\n"
		"    waits: 100 % disk: fsync ← save ← main\n");
}

static void rows_beyond_the_limit_are_counted(void **state)
{
	_cleanup_(board_done) struct board board = { 0 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	const struct cells_style style = { .columns = 80 };
	const struct screen screen = { .by = BY_COMM };
	(void)state;

	fill(&board, lines, array_len(lines));
	assert_int_equal(report_append_text(&out, &board, &screen, 1, &style), 0);
	assert_non_null(strstr(strbuf_str(&out), "\nand 2 more\n"));
	assert_non_null(strstr(strbuf_str(&out), "%ALL")); /* how many CPUs is not known */
	assert_non_null(strstr(strbuf_str(&out), "hash <- serve <- main"));
}

static struct json_value *parse(const struct strbuf *text)
{
	struct json_value *root = NULL;

	assert_int_equal(json_parse(strbuf_str(text), text->len, PLENTY_BYTES, &root), 0);
	return root;
}

static double number(const struct json_value *object, const char *name)
{
	double value = -1;

	assert_true(json_number(json_find(object, name), &value));
	return value;
}

static void json_has_the_same_numbers(void **state)
{
	_cleanup_(board_done) struct board board = { .host = "node-1", .nr_cpus = 4, .nr_lost = 7 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	(void)state;

	fill(&board, lines, array_len(lines));
	assert_int_equal(report_append_json(&out, &board, 2), 0);
	_cleanup_(json_freep) struct json_value *root = parse(&out);
	assert_string_equal(json_text(json_find(root, "host")), "node-1");
	assert_string_equal(json_text(json_find(root, "by")), "comm");
	assert_int_equal((int)number(root, "samples"), 150);
	assert_int_equal((int)number(root, "lost"), 7);
	assert_int_equal((int)(number(root, "cpus") * 1000), 1500);
	assert_int_equal((int)(number(root, "kernel") * 1000), 550);
	const struct json_value *rows = json_find(root, "rows");
	assert_int_equal(json_nr_children(rows), 2);
	const struct json_value *cart = json_first_child(rows);
	assert_string_equal(json_text(json_find(cart, "name")), "cart");
	assert_string_equal(json_text(json_find(cart, "kind")), "process");
	assert_int_equal((int)number(cart, "processes"), 2);
	assert_int_equal((int)(number(cart, "application") * 1000), 900);
	const struct json_value *hottest = json_find(cart, "hottest");
	assert_string_equal(json_text(json_find(hottest, "side")), "application");
	assert_int_equal((int)(number(hottest, "share") * 1000), 750);
	const struct json_value *leaf = json_first_child(json_find(hottest, "frames"));
	assert_string_equal(json_text(json_find(leaf, "function")), "hash");
	assert_false(json_is_true(json_find(leaf, "kernel")));
}

static void json_has_the_waits_or_null(void **state)
{
	_cleanup_(board_done) struct board board = { .nr_cpus = 4 }, without = { 0 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	const struct screen screen = { .by = BY_COMM, .has_waits = true };
	(void)state;

	fill(&without, lines, 1);
	assert_int_equal(report_append_json(&out, &without, 2), 0);
	assert_non_null(strstr(strbuf_str(&out), "\"wait\":null,\"delay\":null,\"waits\":null"));
	strbuf_clear(&out);
	fill_with_waits(&board, &screen);
	assert_int_equal(report_append_json(&out, &board, 2), 0);
	_cleanup_(json_freep) struct json_value *root = parse(&out);
	assert_int_equal((int)(number(root, "wait") * 1000), 1500);
	assert_int_equal((int)(number(json_find(root, "waits"), "rest") * 1000), 1700);
	const struct json_value *cart = json_first_child(json_find(root, "rows"));
	assert_int_equal((int)(number(cart, "wait") * 1000), 700);
	assert_int_equal((int)(number(cart, "delay") * 1000), 200);
	assert_int_equal((int)(number(json_find(cart, "reasons"), "poll") * 1000), 900);
	const struct json_value *hottest = json_find(cart, "hottest_wait");
	assert_string_equal(json_text(json_find(hottest, "reason")), "futex");
	const struct json_value *leaf = json_first_child(json_find(hottest, "frames"));
	assert_string_equal(json_text(json_find(leaf, "function")), "pthread_mutex_lock");
}

static void hostile_names_are_harmless_in_both_forms(void **state)
{
	const struct cells_style style = { .columns = 100, .is_utf8 = true };
	const struct screen screen = { .by = BY_COMM };
	(void)state;

	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const struct stack_line line = { hostile_names[i].name, hostile_names[i].name, 5 };
		_cleanup_(board_done) struct board board = { .host = hostile_names[i].name };
		_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);
		_cleanup_(strbuf_done) struct strbuf json = strbuf_with_max(PLENTY_BYTES);

		fill(&board, &line, 1);
		assert_int_equal(report_append_text(&text, &board, &screen, 10, &style), 0);
		assert_int_equal(report_append_json(&json, &board, 10), 0);
		assert_printable(strbuf_str(&text), text.len, true);
		assert_printable(strbuf_str(&json), json.len, true);
		_cleanup_(json_freep) struct json_value *root = parse(&json);
		assert_string_equal(
			json_text(json_find(json_first_child(json_find(root, "rows")), "name")),
			hostile_names[i].printable);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_has_a_line_for_each_hottest_stack),
		cmocka_unit_test(waits_have_columns_and_lines_of_their_own),
		cmocka_unit_test(json_has_the_waits_or_null),
		cmocka_unit_test(rows_beyond_the_limit_are_counted),
		cmocka_unit_test(json_has_the_same_numbers),
		cmocka_unit_test(hostile_names_are_harmless_in_both_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
