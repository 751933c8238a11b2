/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/pipeline_choice.h"

#include "agent/boost.h"
#include "agent/capture_choice.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/own_dir.h"
#include "base/strbuf.h"

#define REASON_MAX_BYTES 4096

/* The time to wait for a window's symbols: a large program's table takes 1 to 2 s to read. */
#define NAMES_WAIT_NS (10 * NSEC_PER_SEC)

/* The agent waits less for files that only the slow worker reads, as later windows wait behind
 * them. `record` does not. */
#define SLOW_NAMES_WAIT_NS (3 * NSEC_PER_SEC)
#define TOP_NAMES_WAIT_NS (3 * NSEC_PER_SEC) /* so much later, a picture is old */
#define RECORD_NAMES_WAIT_NS (30 * NSEC_PER_SEC) /* after the last sample, for what took longer */

/* What is in use is reported as often as profiles are exported, within these limits. In a timeline,
 * a report holds for the longest of these times (store/snapshot_holds.h). */
#define IN_USE_REPORT_MIN_NS NSEC_PER_SEC
#define IN_USE_REPORT_MAX_NS (30 * NSEC_PER_SEC)

#define LINES_PERMILLE 20 /* of a CPU, for debug information (symbol/dwarf/cpu_budget.h) */

#define DEBUGINFOD_FILE_MAX ((uint64_t)2 << 30)
#define DEBUGINFOD_TIMEOUT_NS (120 * NSEC_PER_SEC)

static const enum demangle_style demangle_styles[] = {
	[OPTION_DEMANGLE_NONE] = DEMANGLE_NONE,
	[OPTION_DEMANGLE_SHORT] = DEMANGLE_SHORT,
	[OPTION_DEMANGLE_FULL] = DEMANGLE_FULL,
};

/* Warns here, as the process that downloads would refuse the directory without a message. */
static void check_debuginfod_cache(const struct options *options)
{
	_cleanup_(strbuf_done) struct strbuf refusal = strbuf_with_max(REASON_MAX_BYTES);
	_cleanup_close_ int fd = -EBADF;

	if (options->debuginfod_urls &&
	    own_dir_look(options->debuginfod_cache_dir, OWN_DIR_FOR_FILES, &refusal, &fd) < 0)
		log_warn("--debuginfod-cache: %s; no debug files will be downloaded",
			 strbuf_str(&refusal));
}

static void choose_event(const struct options *options, struct pipeline_opts *opts)
{
	const struct counted_event *event = capture_choice_event(options);

	if (!event)
		return;
	opts->sample_type = profile_type_find(counted_event_name(event), "count");
	opts->sample_value = capture_choice_event_period(options);
}

/* A recording has one profile, and what is in use at its end. */
static void choose_allocations(const struct options *options, struct pipeline_opts *opts)
{
	bool is_agent = options->input.command == COMMAND_AGENT;
	bool bytes = is_agent || !options->counts_objects;
	bool objects = is_agent || options->counts_objects;
	bool alloc = options_want_kind(options, OPTION_KIND_ALLOC);
	bool heap = options_want_kind(options, OPTION_KIND_HEAP);

	opts->counts_alloc_bytes = alloc && bytes;
	opts->counts_alloc_objects = alloc && objects;
	opts->counts_bytes_in_use = heap && bytes;
	opts->counts_objects_in_use = heap && objects;
	if (is_agent)
		opts->in_use_report_ns = min_u64(
			max_u64(options->export_interval_ns, IN_USE_REPORT_MIN_NS),
			IN_USE_REPORT_MAX_NS);
}

void pipeline_choice_apply(const struct options *options, struct pipeline_opts *opts,
			   struct debuginfod_opts *debuginfod)
{
	enum command_id command = options->input.command;
	bool is_continuous = command == COMMAND_AGENT || command == COMMAND_TOP;

	check_debuginfod_cache(options);
	*debuginfod = (struct debuginfod_opts){
		.urls = options->debuginfod_urls,
		.cache_dir = options->debuginfod_cache_dir,
		.max_cache_bytes = options->debuginfod_cache_max,
		.max_file_bytes = DEBUGINFOD_FILE_MAX,
		.timeout_ns = DEBUGINFOD_TIMEOUT_NS,
	};
	opts->debuginfod = debuginfod->urls ? debuginfod : NULL;
	opts->symbol_memory_max = options->symbol_memory_max;
	opts->names_wait_ns = command == COMMAND_TOP ? TOP_NAMES_WAIT_NS : NAMES_WAIT_NS;
	opts->slow_names_wait_ns = is_continuous ? SLOW_NAMES_WAIT_NS : 0;
	opts->last_names_wait_ns = is_continuous ? 0 : RECORD_NAMES_WAIT_NS;
	opts->wants_lines = options->inlines;
	opts->cache_dir = options->unwind_cache_dir;
	opts->lines_permille = is_continuous ? LINES_PERMILLE : 0;
	opts->demangle = demangle_styles[options->demangle];
	opts->debug_dir = options->debug_dir;
	opts->runtime_kinds = options->runtimes << RUNTIME_CPYTHON;
	opts->period_ns = boost_usual_period(options);
	opts->cpu = options_want_kind(options, OPTION_KIND_CPU);
	opts->wall = options_want_kind(options, OPTION_KIND_WALL);
	opts->off_cpu = opts->wall || options_want_kind(options, OPTION_KIND_OFF_CPU);
	opts->locks = options_want_kind(options, OPTION_KIND_LOCK);
	opts->counts_contentions = opts->locks &&
				   (command == COMMAND_AGENT || command == COMMAND_RECORD);
	opts->hidden_reasons = options->reasons ? ~(options->reasons << REASON_PREEMPTED) : 0;
	opts->min_block_ns = options->min_block_ns;
	opts->shows_rivals = options->wakers;
	opts->keeps_times = options_want_times(options);
	choose_allocations(options, opts);
	choose_event(options, opts);
}
