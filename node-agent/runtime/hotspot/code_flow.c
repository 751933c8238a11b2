/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hotspot/code_flow.h"

#include "unwind/code/code_insn.h"

#include <stdbool.h>

struct cursor {
	const uint8_t *code;
	size_t len, at; /* `at` is the end of `insn` */
	struct code_insn insn;
};

/* Returns false if there is no further instruction that can be decoded. */
static bool next_insn(struct cursor *cursor)
{
	if (cursor->at >= cursor->len ||
	    code_insn_decode(cursor->code + cursor->at, cursor->len - cursor->at, &cursor->insn) <
		    0)
		return false;
	cursor->at += cursor->insn.len;
	return true;
}

static bool is_jump(const struct code_insn *insn)
{
	return insn->op == CODE_BRANCH || insn->op == CODE_JUMP;
}

static bool ends_path(const struct code_insn *insn)
{
	return insn->op == CODE_RETURN || insn->op == CODE_JUMP_INDIRECT || insn->op == CODE_TRAP;
}

static int64_t target_of(const struct cursor *cursor)
{
	return (int64_t)cursor->at + cursor->insn.value;
}

/* Returns whether the loop that the cursor has come to the end of is the inner one of a pair. */
static bool has_outer_loop(struct cursor cursor, const struct code_marks *marks)
{
	int64_t end = (int64_t)cursor.at;

	while (next_insn(&cursor) && !ends_path(&cursor.insn)) {
		if (!is_jump(&cursor.insn))
			continue;
		if (cursor.insn.value < 0)
			return cursor.at > marks->behind && target_of(&cursor) > marks->before &&
			       target_of(&cursor) <= end;
		if (cursor.insn.op == CODE_JUMP)
			return false;
	}
	return false;
}

enum code_flow code_flow_find(const uint8_t *code, size_t len, const struct code_marks *marks)
{
	struct cursor cursor = { .code = code, .len = len };
	int64_t exit = 0; /* where the last conditional jump leads */

	while (cursor.at < marks->behind && next_insn(&cursor)) {
		bool is_branch = cursor.insn.op == CODE_BRANCH;

		if (cursor.insn.op == CODE_RETURN)
			return CODE_FLOW_RETURNS;
		if (is_jump(&cursor.insn) && target_of(&cursor) <= 0) {
			bool goes_on = is_branch || exit == (int64_t)cursor.at;

			return goes_on && has_outer_loop(cursor, marks) ? CODE_FLOW_GOES_ON
									: CODE_FLOW_LOOPS;
		}
		if (is_branch)
			exit = target_of(&cursor);
		else if (cursor.insn.op == CODE_JUMP && cursor.insn.value > 0)
			cursor.at += (uint32_t)cursor.insn.value;
		else if (cursor.insn.op == CODE_JUMP || ends_path(&cursor.insn))
			break;
	}
	return CODE_FLOW_GOES_ON;
}
