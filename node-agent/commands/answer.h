/* SPDX-License-Identifier: Apache-2.0 */
/* What a command answers from a record: the bytes for standard output, and messages. `flamelet ui`
 * gives the same answers to a browser (ui_api.h). */
#ifndef COMMANDS_ANSWER_H
#define COMMANDS_ANSWER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/options.h"
#include "store/store_reader.h"

struct answer {
	struct strbuf body;
	struct strbuf messages; /* sentences, a line each: what is wrong, or what the body lacks */
};

struct answer answer_empty(void);
void answer_done(struct answer *answer);

/* Answers a question. `reader` has the records open that the options name; NULL: they are opened
 * now, and words that name files are files, where the command takes some. Files that the options
 * name as outputs are written. Returns the exit status; unless it is STATUS_OK, there is a
 * message. */
typedef int (*answer_fn)(const struct options *options, const struct store_reader *reader,
			 struct answer *answer);

int answer_query(const struct options *options, const struct store_reader *reader,
		 struct answer *answer) must_check;
int answer_diff(const struct options *options, const struct store_reader *reader,
		struct answer *answer) must_check;
int answer_timeline(const struct options *options, const struct store_reader *reader,
		    struct answer *answer) must_check;
int answer_findings(const struct options *options, const struct store_reader *reader,
		    struct answer *answer) must_check;
int answer_ls(const struct options *options, const struct store_reader *reader,
	      struct answer *answer) must_check;
int answer_top(const struct options *options, const struct store_reader *reader,
	       struct answer *answer) must_check; /* of a range of the record */

/* Says that something of the answer failed, by "cannot write the list: No space left on device" or
 * the like. Returns STATUS_FAILED. */
int answer_fail(struct answer *answer, const char *what, int error);

/* Runs a command: prints its answer. Returns the exit status. */
int answer_print(const struct options *options, answer_fn fn) must_check;

#endif
