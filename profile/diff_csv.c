/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/diff_csv.h"

#include "profile/csv.h"

#include <inttypes.h>

#define HEAD                                                                                       \
	"function,kernel,self_before,self_after,self_points,self_noise,total_before,total_after,"  \
	"total_points,total_noise\n"

static void put_pair(const struct diff *diff, struct diff_pair pair, struct strbuf *out)
{
	strbuf_appendf(out, ",%" PRIu64 ",%" PRIu64 ",%.4f,%d", pair.before, pair.after,
		       diff_points(diff, pair), diff->has_noise && diff_is_noise(diff, pair));
}

int diff_csv_encode(const struct diff *diff, const struct diff_table *functions, struct strbuf *out)
{
	strbuf_append_str(out, HEAD);
	for (size_t i = 0; i < functions->nr_rows; i++) {
		const struct diff_row *row = &functions->rows[i];

		csv_append_text(out, row->name);
		strbuf_appendf(out, "%d", row->kind == FLAME_KERNEL);
		put_pair(diff, row->self, out);
		put_pair(diff, row->total, out);
		strbuf_append_char(out, '\n');
	}
	return strbuf_error(out);
}
