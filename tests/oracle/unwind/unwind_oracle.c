/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command and compares, for the same instants, the stacks that the BPF program unwinds, and
 * those that the agent unwinds from perf's copies, with those that libdw unwinds:
 *
 *	unwind_oracle [-s SECONDS] [-F HZ] [-p PART] [-d N] -- COMMAND...
 *
 *	-p PART  look at the process of the command whose command line has this text
 *	-d N     show the first N stacks that differ or do not end at a root
 *
 * Prints lines of "key value" (comparison.h, "local." before those of the agent's stacks, and what
 * was not compared and why). Exits with 77 where it cannot run, with 1 where something went
 * wrong. */
#include "base/clock.h"
#include "base/parse.h"
#include "tests/oracle/unwind/binding.h"
#include "tests/oracle/unwind/comparison.h"
#include "tests/oracle/unwind/recording.h"
#include "tests/oracle/unwind/subject.h"
#include "unwind/worker/rows_worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICK_NS (20 * NSEC_PER_MSEC)
#define WARM_UP_NS (300 * NSEC_PER_MSEC)

struct options {
	uint32_t seconds;
	uint32_t frequency_hz;
	uint32_t max_shown;
	const char *part; /* NULL: the command itself */
	char *const *command;
};

struct run {
	struct options options;
	struct subject subject;
	struct binding binding;
	struct comparison comparison;
	struct comparison local;
	struct libdw_stack oracle; /* of the instant that is looked at */
	uint64_t compare_from_ns;
	uint64_t nr_unpaired; /* stacks without a copy */
	uint64_t nr_unsettled; /* stacks outside of epochs */
	uint64_t nr_anonymous; /* stacks through code that is in no file */
	uint64_t nr_shown;
};

static bool is_anonymous(const struct mapping_list *list, uint64_t address)
{
	const struct mapping *mapping = mapping_list_find(list, address);

	return mapping && mapping->file->path[0] == '\0';
}

static bool has_anonymous(const struct mapping_list *list, const uint64_t *frames, size_t nr_frames)
{
	for (size_t i = 0; i < nr_frames; i++) {
		if (is_anonymous(list, frames[i]))
			return true;
	}
	return false;
}

static void show_frame(struct libdw *libdw, char side, uint64_t address, bool is_call)
{
	char text[256];

	libdw_describe(libdw, address - is_call, text, sizeof(text));
	printf("  %c %016llx %s\n", side, (unsigned long long)address, text);
}

/* Both stacks (+ is ours, - the oracle's) from two frames before the first difference on. */
static void show(struct run *run, const struct epoch *epoch, const struct bpf_stack *stack)
{
	const struct libdw_stack *oracle = &run->oracle;
	size_t i = 0;

	while (i < stack->nr_frames && i < oracle->nr_frames &&
	       stack->frames[i] == oracle->frames[i])
		i++;
	printf("frame %zu of %zu (%s), oracle %zu (end %d %s)\n", i, stack->nr_frames,
	       comparison_result_name(stack->result), oracle->nr_frames, (int)oracle->end,
	       oracle->why);
	for (size_t j = i > 2 ? i - 2 : 0; j < i + 3; j++) {
		if (j < stack->nr_frames)
			show_frame(epoch->libdw, '+', stack->frames[j], j > 0);
		if (j < oracle->nr_frames)
			show_frame(epoch->libdw, '-', oracle->frames[j], j > 0);
	}
}

static void compare_stack(struct run *run, const struct epoch *epoch, const struct bpf_stack *stack,
			  struct comparison *comparison)
{
	bool is_right = comparison_add(comparison, stack, &run->oracle);

	if (!is_right && run->nr_shown++ < run->options.max_shown)
		show(run, epoch, stack);
}

static void on_pair(const struct bpf_stack *stack, const struct perf_copy *copy, void *data)
{
	struct run *run = data;
	const struct epoch *epoch = binding_find_epoch(&run->binding, stack->time_ns);
	struct bpf_stack local;

	if (stack->time_ns < run->compare_from_ns)
		return;
	if (!copy) {
		run->nr_unpaired++;
		return;
	}
	if (!epoch) {
		run->nr_unsettled++;
		return;
	}
	libdw_unwind(epoch->libdw, epoch->list, copy, &run->oracle);
	if (has_anonymous(epoch->list, stack->frames, stack->nr_frames) ||
	    has_anonymous(epoch->list, run->oracle.frames, run->oracle.nr_frames)) {
		run->nr_anonymous++;
		return;
	}
	compare_stack(run, epoch, stack, &run->comparison);
	if (local_stacks_unwind(&run->binding.local, run->binding.pid, epoch->list, copy, &local) ==
	    0)
		compare_stack(run, epoch, &local, &run->local);
}

/* Until the time is over or the command is. */
static int record(struct run *run, struct recording *recording)
{
	const struct timespec tick = clock_timespec(TICK_NS);
	uint64_t end_ns = UINT64_MAX;
	int r = 0;

	while (r == 0 && clock_mono_ns() < end_ns && subject_is_alive(&run->subject)) {
		r = binding_follow(&run->binding);
		if (r == 0)
			r = recording_drain(recording);
		if (end_ns == UINT64_MAX && run->binding.nr_epochs > 0) {
			run->compare_from_ns = run->subject.start_ns + WARM_UP_NS;
			if (run->compare_from_ns < run->binding.epochs[0].from_ns)
				run->compare_from_ns = run->binding.epochs[0].from_ns;
			end_ns = run->compare_from_ns + run->options.seconds * NSEC_PER_SEC;
		}
		nanosleep(&tick, NULL);
	}
	return r == -ESRCH ? 0 : r;
}

static void print(const struct run *run, const struct recording *recording)
{
	struct recording_losses losses = recording_get_losses(recording);

	comparison_print(&run->comparison, "", stdout);
	comparison_print(&run->local, "local.", stdout);
	printf("local.ns %llu\n", (unsigned long long)run->binding.local.unwind_ns);
	printf("local.unwound_frames %llu\n", (unsigned long long)run->binding.local.nr_frames);
	printf("unsettled %llu\n", (unsigned long long)run->nr_unsettled);
	printf("anonymous %llu\n", (unsigned long long)run->nr_anonymous);
	printf("unpaired %llu\n", (unsigned long long)run->nr_unpaired);
	printf("lost %llu\n", (unsigned long long)(losses.nr_perf_lost + losses.nr_bpf_lost));
	printf("without_registers %llu\n", (unsigned long long)losses.nr_without_registers);
}

static int compare(struct run *run)
{
	_cleanup_(recording_closep) struct recording *recording = NULL;
	const struct recording_opts opts = {
		.pid = (uint32_t)run->subject.pid,
		.frequency_hz = run->options.frequency_hz,
	};

	int r = recording_open(&opts, &recording);
	if (r < 0)
		return r;
	struct recording_maps maps = recording_get_maps(recording);
	r = binding_init(&run->binding, &maps, opts.pid);
	if (r == 0)
		r = record(run, recording);
	subject_stop(&run->subject);
	binding_end(&run->binding);
	if (r == 0) {
		recording_pair(recording, on_pair, run);
		print(run, recording);
	}
	binding_done(&run->binding);
	return r;
}

static int parse(int argc, char **argv, struct options *options)
{
	int option, r = 0;

	while (r == 0 && (option = getopt(argc, argv, "+s:F:p:d:")) != -1) {
		if (option == 's')
			r = parse_u32(optarg, &options->seconds);
		else if (option == 'F')
			r = parse_u32(optarg, &options->frequency_hz);
		else if (option == 'd')
			r = parse_u32(optarg, &options->max_shown);
		else if (option == 'p')
			options->part = optarg;
		else
			r = -EINVAL;
	}
	options->command = argv + optind;
	return optind < argc ? r : -EINVAL;
}

static int fail(const char *what, int error)
{
	fprintf(stderr, "unwind_oracle: %s: %s\n", what, strerror(-error));
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	static struct run run = { .options = { .seconds = 2, .frequency_hz = 499 } };

	if (argc > 1 && strcmp(argv[1], ROWS_WORKER_COMMAND) == 0)
		return rows_worker_main();
	int r = parse(argc, argv, &run.options);
	if (r < 0)
		return fail("usage: [-s SECONDS] [-F HZ] [-p PART] [-d N] -- COMMAND...", r);
	if (geteuid() != 0) {
		puts("SKIP: only root may load BPF programs");
		return 77;
	}
	r = subject_start(run.options.command, run.options.part, &run.subject);
	if (r < 0)
		return fail(run.options.command[0], r);
	r = compare(&run);
	subject_stop(&run.subject);
	return r < 0 ? fail("cannot compare", r) : EXIT_SUCCESS;
}
