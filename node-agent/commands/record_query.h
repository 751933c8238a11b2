/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that read a record share: they open it, find the range and the samples that are
 * asked for, and merge these. All functions append what is wrong to `messages`, as sentences, a
 * line each; the command prints them (answer.h). */
#ifndef COMMANDS_RECORD_QUERY_H
#define COMMANDS_RECORD_QUERY_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/options.h"
#include "store/event_reader.h"
#include "store/store_reader.h"

/* What the options ask of the records that they name. */
struct record_query {
	const struct store_reader *reader; /* borrowed, or `own` */
	struct store_reader own;
	struct selector selector;
	struct asked_range asked; /* without one in the options, the last hour */
	enum profile_type type; /* of the samples */
};

/* Finds out what the options ask for, and opens the records that they name, unless the caller has
 * them open in `reader` (else NULL). The query must be zeroed, stays where it is, and is ended by
 * the caller in any case. Returns an exit status; unless it is STATUS_OK, there is a message. */
int record_query_init(const struct options *options, const struct store_reader *reader,
		      struct strbuf *messages, struct record_query *query) must_check;
void record_query_done(struct record_query *query);

/* Merges the samples that are asked for, and says what the answer lacks. Without labels, samples
 * have no more than their process and their reason. Returns an exit status, as above:
 * STATUS_NO_SAMPLES if the record has none. The caller ends the answer. */
int record_query_merge(const struct record_query *query, bool with_labels, struct strbuf *messages,
		       struct store_answer *ret_answer) must_check;

/* For those who ask for CPU time and the waits of the same time. The first one merges the waits;
 * without any, the answer has no profile. The second one merges the CPU time; of threads that only
 * waited, it is empty. Both return an exit status, as above. */
int record_query_waits(const struct record_query *query, struct store_answer *ret_waits) must_check;
int record_query_both(const struct record_query *query, const struct store_answer *waits,
		      struct strbuf *messages, struct store_answer *ret_answer) must_check;

/* The steps of these, for other questions. All return an exit status, as above. */

/* Opens the records that the options name. */
int record_query_open(const struct options *options, struct strbuf *messages,
		      struct store_reader *ret_reader) must_check;

/* Finds the range that the options ask for, or `fallback` if they ask for none. */
int record_query_range(const struct options *options, const struct store_reader *reader,
		       const char *fallback, struct strbuf *messages, struct asked_range *ret_asked)
	must_check;

/* Finds the range that a word names. */
int record_query_find_range(const struct store_reader *reader, const char *word,
			    struct strbuf *messages, struct asked_range *ret_asked) must_check;

/* Makes a selector of these label selectors and of the options for targets. */
int record_query_select_by(const struct options *options, const struct string_list *selectors,
			   struct strbuf *messages, struct selector *ret_selector) must_check;

/* Merges samples. Says nothing about STATUS_NO_SAMPLES, nor what the answer lacks. */
int record_query_read(const struct store_reader *reader, const struct store_query *query,
		      struct strbuf *messages, struct store_answer *ret_answer) must_check;

/* Appends the hosts that have samples of a range: "web-1, web-2 and 3 more". Returns whether there
 * are any. */
bool record_query_append_hosts(const struct store_reader *reader, const struct time_range *range,
			       struct strbuf *out);

/* Appends the head of an answer: which time of which machine it is of, and which event that is. */
void record_query_append_range(const struct record_query *query, const struct profile *profile,
			       struct strbuf *out);

/* Appends the time that a profile is of: "2026-11-24 14:05:00 to 2026-11-24 14:07:00". */
void record_query_append_times(const struct profile *profile, struct strbuf *out);

/* Prints the lines of a text to standard error, as messages of the program. */
void record_query_warn(const struct strbuf *lines);

/* Formats a time as "2026-11-24 14:05:06", as the local clock shows it. */
#define RECORD_TIME_BYTES 32
void record_query_format_time(uint64_t time_s, char text[static RECORD_TIME_BYTES]);

#endif
