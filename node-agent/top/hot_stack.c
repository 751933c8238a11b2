/* SPDX-License-Identifier: Apache-2.0 */
/* All samples of the row walk inward together. At each step those that are in the function of the
 * majority go on, and the others are left behind. Boyer and Moore's vote finds it in one pass. */
#include "top/hot_stack.h"

#include "base/cleanup.h"
#include "top/frame_walk.h"

#include <stdlib.h>
#include <string.h>

/* Functions that start a thread or a program, and tell nothing of it. All names with one of these
 * beginnings count. */
static const char *const starters[] = {
	"_start",
	"__libc_start_",
	"__libc_init_first",
	"start_thread",
	"clone",
	"__clone",
	"thread_start",
	"runtime.goexit",
	"runtime.main",
	"std::rt::lang_start",
	"thread_native_entry",
	"Thread::call_run",
	"ret_from_fork",
};
/* The same, by their whole names. */
static const char *const whole_starters[] = { "main", "main.main", "kthread", "worker_thread" };

struct walker {
	struct frame_walk walk;
	uint64_t count;
	uint64_t key; /* of the current frame; 0: behind the leaf */
	unsigned int tag; /* enum cpu_side or enum wait_reason */
};

#define NR_TAGS ((unsigned int)CPU_NR_SIDES > (unsigned int)REASON_NR ? CPU_NR_SIDES : REASON_NR)

struct crowd {
	struct walker *walkers; /* owned */
	size_t nr;
	bool hides_kernel;
};

static uint64_t key_of(const struct walker *walker, bool hides_kernel)
{
	const struct profile_location *location = frame_walk_location(&walker->walk);

	if (!location || (hides_kernel && location->kind == FRAME_KERNEL))
		return 0;
	uint64_t name = frame_walk_function(&walker->walk)->name;
	return name << 2 | (location->kind == FRAME_KERNEL) << 1 | 1;
}

/* Reads the frame of each walker. What a stack ends with before its root is no frame, unless
 * nothing else is known of it. */
static void look(struct crowd *crowd)
{
	for (size_t i = 0; i < crowd->nr; i++) {
		struct walker *walker = &crowd->walkers[i];
		const struct profile_location *location = frame_walk_location(&walker->walk);

		if (location && location->kind == FRAME_STOP && walker->walk.location > 0)
			frame_walk_inward(&walker->walk);
		walker->key = key_of(walker, crowd->hides_kernel);
	}
}

static uint64_t sum_of(const struct crowd *crowd, uint64_t key)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < crowd->nr; i++)
		sum += crowd->walkers[i].key == key ? crowd->walkers[i].count : 0;
	return sum;
}

/* Returns the only key that more than half of all samples can have. */
static uint64_t vote(const struct crowd *crowd)
{
	uint64_t candidate = 0, lead = 0;

	for (size_t i = 0; i < crowd->nr; i++) {
		const struct walker *walker = &crowd->walkers[i];

		if (walker->key == candidate) {
			lead += walker->count;
		} else if (walker->count > lead) {
			candidate = walker->key;
			lead = walker->count - lead;
		} else {
			lead -= walker->count;
		}
	}
	return candidate;
}

static int compare_walkers(const void *a, const void *b)
{
	const struct walker *walker_a = a, *walker_b = b;

	if (walker_a->key != walker_b->key)
		return walker_a->key < walker_b->key ? -1 : 1;
	return 0;
}

/* Returns the most frequent key, even without a majority; 0 if there is none. */
static uint64_t find_heaviest(struct crowd *crowd)
{
	uint64_t best = 0, best_sum = 0, sum = 0;

	qsort(crowd->walkers, crowd->nr, sizeof(*crowd->walkers), compare_walkers);
	for (size_t i = 0; i < crowd->nr; i++) {
		const struct walker *walker = &crowd->walkers[i];
		bool is_same = i > 0 && walker->key == walker[-1].key;

		sum = (is_same ? sum : 0) + walker->count;
		if (walker->key > 0 && sum > best_sum) {
			best = walker->key;
			best_sum = sum;
		}
	}
	return best;
}

/* Moves the walkers with that key inward, and leaves the others behind. */
static void go_on(struct crowd *crowd, uint64_t key)
{
	size_t nr = 0;

	for (size_t i = 0; i < crowd->nr; i++)
		if (crowd->walkers[i].key == key)
			crowd->walkers[nr++] = crowd->walkers[i];
	crowd->nr = nr;
	for (size_t i = 0; i < nr; i++)
		frame_walk_inward(&crowd->walkers[i].walk);
}

static bool is_same_frame(const struct hot_frame *a, const struct hot_frame *b)
{
	return a->name == b->name && (a->kind == FRAME_KERNEL) == (b->kind == FRAME_KERNEL);
}

/* Puts the frame of a walker before those of its callers. */
static void push(struct hot_stack *stack, const struct walker *walker)
{
	const struct hot_frame frame = {
		.name = profile_string(walker->walk.profile,
				       frame_walk_function(&walker->walk)->name),
		.kind = frame_walk_location(&walker->walk)->kind,
	};

	if (stack->nr_frames > 0 && is_same_frame(&stack->frames[0], &frame))
		return;
	if (stack->nr_frames < HOT_FRAMES_MAX)
		stack->nr_frames++;
	memmove(&stack->frames[1], &stack->frames[0],
		(stack->nr_frames - 1) * sizeof(*stack->frames));
	stack->frames[0] = frame;
}

static const struct walker *find_walker(const struct crowd *crowd, uint64_t key)
{
	size_t i = 0;

	while (crowd->walkers[i].key != key)
		i++;
	return &crowd->walkers[i];
}

/* Returns the tag of most walkers that are left. */
static unsigned int find_tag(const struct crowd *crowd)
{
	uint64_t sums[NR_TAGS] = { 0 };
	unsigned int best = 0;

	for (size_t i = 0; i < crowd->nr; i++)
		sums[crowd->walkers[i].tag] += crowd->walkers[i].count;
	for (unsigned int tag = 0; tag < NR_TAGS; tag++)
		if (sums[tag] > sums[best])
			best = tag;
	return best;
}

static bool is_starter(const char *name)
{
	for (size_t i = 0; i < array_len(starters); i++)
		if (strncmp(name, starters[i], strlen(starters[i])) == 0)
			return true;
	for (size_t i = 0; i < array_len(whole_starters); i++)
		if (strcmp(name, whole_starters[i]) == 0)
			return true;
	return false;
}

/* Returns the key of the frame that the path goes on in; 0: it ends. A path that only has start-up
 * functions yet goes on in the heaviest frame, which is the whole from then on. */
static uint64_t choose(struct crowd *crowd, const struct hot_stack *stack, uint64_t *whole)
{
	uint64_t key = vote(crowd);

	if (key > 0 && sum_of(crowd, key) * 2 > *whole)
		return key;
	if (stack->nr_frames > 0 && !is_starter(stack->frames[0].name))
		return 0;
	key = find_heaviest(crowd);
	*whole = sum_of(crowd, key);
	return key;
}

/* Returns the tag of most walkers at the end of the path. */
static unsigned int descend(struct crowd *crowd, struct hot_stack *stack)
{
	uint64_t whole = UINT64_MAX;
	uint64_t key;

	look(crowd);
	while ((key = choose(crowd, stack, &whole)) > 0) {
		stack->count = sum_of(crowd, key);
		push(stack, find_walker(crowd, key));
		go_on(crowd, key);
		look(crowd);
	}
	return find_tag(crowd);
}

int hot_stack_find(const struct tally *tally, const struct tally_row *row, bool hides_kernel,
		   struct hot_stack *ret_stack)
{
	const struct tally_part part = tally_samples(tally, row);
	_cleanup_free_ struct walker *walkers = calloc(part.nr + 1, sizeof(*walkers));
	struct crowd crowd = { walkers, part.nr, hides_kernel };

	if (!walkers)
		return -ENOMEM;
	for (size_t i = 0; i < part.nr; i++) {
		const struct profile_sample *sample = &part.profile->samples[part.samples[i]];

		walkers[i] = (struct walker){
			.walk = frame_walk_from_root(part.profile, sample->stack),
			.count = sample->count,
			.tag = cpu_split_side(&tally->split, sample->stack),
		};
	}
	*ret_stack = (struct hot_stack){ 0 };
	ret_stack->side = (enum cpu_side)descend(&crowd, ret_stack);
	return 0;
}

/* Returns the classes of the waits that count, as bits. */
static unsigned int choose_classes(const struct tally_row *row)
{
	if (tally_blocked_ns(row->waits) > 0)
		return (1U << WAIT_NR_BLOCKED) - 1;
	return row->waits[WAIT_CPU] > 0 ? 1U << WAIT_CPU : 1U << WAIT_PEER;
}

/* Places the walkers of the waits that count at their roots. */
static void gather_waits(const struct tally *tally, const struct tally_row *row,
			 struct crowd *crowd, uint64_t *ret_whole)
{
	const struct tally_part part = tally_waits(tally, row);
	unsigned int classes = choose_classes(row);

	crowd->nr = 0;
	*ret_whole = 0;
	for (size_t i = 0; i < part.nr; i++) {
		const struct profile_sample *sample = &part.profile->samples[part.samples[i]];

		if (!(classes >> wait_split_class(&tally->wait_split, sample) & 1))
			continue;
		*ret_whole += sample->count;
		crowd->walkers[crowd->nr++] = (struct walker){
			.walk = frame_walk_from_root(part.profile, sample->stack),
			.count = sample->count,
			.tag = sample->reason,
		};
	}
}

int hot_stack_find_wait(const struct tally *tally, const struct tally_row *row,
			struct hot_stack *ret_stack)
{
	_cleanup_free_ struct walker *walkers = calloc(row->nr_waits + 1, sizeof(*walkers));
	struct crowd crowd = { walkers, 0, true };

	if (!walkers)
		return -ENOMEM;
	*ret_stack = (struct hot_stack){ 0 };
	gather_waits(tally, row, &crowd, &ret_stack->whole);
	ret_stack->reason = (enum wait_reason)descend(&crowd, ret_stack);
	if (ret_stack->nr_frames > 0)
		return 0;
	crowd.hides_kernel = false;
	gather_waits(tally, row, &crowd, &ret_stack->whole);
	ret_stack->reason = (enum wait_reason)descend(&crowd, ret_stack);
	return 0;
}
