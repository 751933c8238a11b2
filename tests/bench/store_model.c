/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/store_model.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_HISTORY ((size_t)40 << 20)
#define MAX_PAIRS ((size_t)16 << 20)
#define MAX_NODES ((size_t)96 << 20)
#define MAX_FUNCTIONS ((size_t)16 << 20)
#define MAX_OF_PROGRAM ((size_t)8 << 20)
#define KERNEL 0
#define KERNEL_SHARE 0.35 /* of branches end in the kernel */
#define CUT_FRAMES 4.5 /* mean of the frames that a new stack leaves behind */
#define POPULAR_THREADS 8.0 /* how many share most of the CPU time */

static const struct model_params params_table[] = {
	{ "hard", 20000, 0.76, 0.3, 0.27, 5.1, 170, 14, 56 },
	{ "light", 30, 0.8, 0.3, 0.27, 3.8, 80, 8, 34 },
};

/* How often the function that is called is the one that the caller called last in a new stack, the
 * one before that, and so on: from the same recording, and from one of this project's build. */
static const double follow_shares[] = { 0.527, 0.14, 0.063, 0.038, 0.024, 0.015, 0.011, 0.007 };

struct successors {
	uint32_t functions[array_len(follow_shares)]; /* the last one first */
	uint32_t nr;
};

/* A list that only grows, until it is cut. */
struct list {
	uint32_t *items; /* owned */
	uint32_t nr, nr_kept;
};

struct model {
	const struct model_params *params;
	uint64_t random; /* state */
	bool is_first_hour_over;
	struct model_pair *pairs; /* owned; this and the following arrays */
	uint32_t *counts, *kept_counts; /* samples of each pair */
	uint32_t *repeats; /* further ones, in the same second as another */
	uint32_t *history; /* pair of each sample, repeats aside */
	struct model_node *nodes;
	uint8_t *depths;
	bool *is_kernel; /* by node */
	struct model_function *functions;
	struct successors *successors; /* by function */
	size_t nr_pairs, nr_history, nr_repeats, nr_nodes, nr_functions;
	size_t second; /* where the current one begins in the history */
	size_t kept_pairs, kept_history, kept_nodes, kept_functions;
	struct list stacks[MODEL_NR_PROGRAMS]; /* leaves */
	struct list functions_of[MODEL_NR_PROGRAMS];
	double thread_ends[MODEL_NR_THREADS]; /* cumulated shares */
};

const struct model_params *model_params_find(const char *name)
{
	for (size_t i = 0; i < array_len(params_table); i++)
		if (strcmp(params_table[i].name, name) == 0)
			return &params_table[i];
	return NULL;
}

void *model_alloc(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void model_dealloc(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}

static uint64_t draw(struct model *model)
{
	model->random ^= model->random >> 12;
	model->random ^= model->random << 25;
	model->random ^= model->random >> 27;
	return (model->random * UINT64_C(2685821657736338717)) >> 11;
}

/* At least 0, below 1. */
static double uniform(struct model *model)
{
	return (double)draw(model) / (double)(UINT64_C(1) << 53);
}

uint32_t model_random(struct model *model, uint32_t below)
{
	return (uint32_t)(uniform(model) * below);
}

/* At least 1. */
static uint32_t geometric(struct model *model, double mean)
{
	return 1 + (uint32_t)(log(1 - uniform(model)) / log(1 - 1 / mean));
}

/* An element of a list, the first ones more often. */
static uint32_t pick(struct model *model, const struct list *list)
{
	double u = uniform(model);

	return list->items[(size_t)(u * u * list->nr)];
}

static int list_add(struct list *list, uint32_t item)
{
	if (list->nr == MAX_OF_PROGRAM)
		return -ENOSPC;
	list->items[list->nr++] = item;
	return 0;
}

uint32_t model_program_of(uint32_t thread)
{
	return 1 + thread * 7 % (MODEL_NR_PROGRAMS - 1);
}

static void share_out(struct model *model)
{
	double sum = 0;

	/* Popularity has nothing to do with the program: 1009 is prime. */
	for (uint32_t i = 0; i < MODEL_NR_THREADS; i++)
		model->thread_ends[i] = sum += 1 / (POPULAR_THREADS + i * 1009 % MODEL_NR_THREADS);
	for (uint32_t i = 0; i < MODEL_NR_THREADS; i++)
		model->thread_ends[i] /= sum;
}

static uint32_t pick_thread(struct model *model)
{
	double u = uniform(model);
	uint32_t low = 0, high = MODEL_NR_THREADS - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (model->thread_ends[middle] <= u)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Moves a function to the front, to the place of number `index`. */
static void move_to_front(struct successors *successors, uint32_t index, uint32_t function)
{
	memmove(successors->functions + 1, successors->functions,
		index * sizeof(*successors->functions));
	successors->functions[0] = function;
}

static void note_call(struct successors *successors, uint32_t function)
{
	uint32_t index = 0;

	while (index < successors->nr && successors->functions[index] != function)
		index++;
	if (index == array_len(follow_shares))
		index--;
	else if (index == successors->nr)
		successors->nr++;
	move_to_front(successors, index, function);
}

/* Returns whether the function follows those before it. */
static bool pick_successor(struct model *model, uint32_t caller, uint32_t program,
			   uint32_t *ret_function)
{
	const struct successors *successors = &model->successors[caller];
	double u = uniform(model);

	for (uint32_t i = 0; i < successors->nr; i++) {
		uint32_t function = successors->functions[i];

		if (u < follow_shares[i] && model->functions[function].program == program) {
			*ret_function = function;
			return true;
		}
		u -= follow_shares[i];
	}
	return false;
}

/* The number of functions grows as the root of the number of nodes. */
static int pick_function(struct model *model, uint32_t program, uint32_t *ret_function)
{
	struct list *list = &model->functions_of[program];
	double share_of_new = model->params->new_functions / 2 / sqrt((double)model->nr_nodes);

	if (list->nr > 0 && uniform(model) >= share_of_new) {
		double u = uniform(model);

		*ret_function = list->items[(size_t)(u * u * u * u * list->nr)];
		return 0;
	}
	if (model->nr_functions == MAX_FUNCTIONS)
		return -ENOSPC;
	*ret_function = (uint32_t)model->nr_functions;
	model->functions[model->nr_functions++] = (struct model_function){ program, *ret_function };
	return list_add(list, *ret_function);
}

static int add_node(struct model *model, uint32_t parent, uint32_t program, uint32_t *ret_node)
{
	uint32_t caller = model->nodes[parent].function;
	struct model_node node = { .parent = parent };
	int r = 0;

	if (!pick_successor(model, caller, program, &node.function))
		r = pick_function(model, program, &node.function);
	if (r < 0)
		return r;
	note_call(&model->successors[caller], node.function);
	if (model->nr_nodes == MAX_NODES)
		return -ENOSPC;
	*ret_node = (uint32_t)model->nr_nodes;
	model->nodes[model->nr_nodes] = node;
	model->is_kernel[model->nr_nodes] = program == KERNEL;
	model->depths[model->nr_nodes] = (uint8_t)(model->depths[parent] + 1);
	model->nr_nodes++;
	return 0;
}

static uint32_t usual_depth(const struct model *model, uint32_t program)
{
	const struct model_params *params = model->params;

	return params->min_depth + program * 17 % (params->max_depth - params->min_depth);
}

/* Finds where a new stack of a program leaves an old one. */
static uint32_t pick_branch(struct model *model, uint32_t program)
{
	if (model->stacks[program].nr == 0)
		return 0;
	uint32_t node = pick(model, &model->stacks[program]);
	uint32_t depth = model->depths[node], most = usual_depth(model, program);
	uint32_t cut = geometric(model, CUT_FRAMES) + (depth > most ? depth - most : 0);
	for (; cut > 0 && model->nodes[node].parent != 0; cut--)
		node = model->nodes[node].parent;
	return node;
}

static int add_stack(struct model *model, uint32_t program, uint32_t *ret_node)
{
	uint32_t node = pick_branch(model, program);
	uint32_t nr = geometric(model, model->params->branch_frames);
	bool is_kernel = model->is_kernel[node];
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < nr; i++) {
		is_kernel = is_kernel || (i > 0 && uniform(model) < KERNEL_SHARE / (nr - 1));
		r = add_node(model, node, is_kernel ? KERNEL : program, &node);
	}
	*ret_node = node;
	return r < 0 ? r : list_add(&model->stacks[program], node);
}

static int add_pair(struct model *model, uint32_t *ret_pair)
{
	struct model_pair pair = { .thread = pick_thread(model) };
	uint32_t program = model_program_of(pair.thread);
	int r = 0;

	if (model->nr_pairs == MAX_PAIRS)
		return -ENOSPC;
	if (model->stacks[program].nr > 0 && uniform(model) < model->params->known_stacks)
		pair.node = pick(model, &model->stacks[program]);
	else
		r = add_stack(model, program, &pair.node);
	if (r < 0)
		return r;
	*ret_pair = (uint32_t)model->nr_pairs;
	model->counts[model->nr_pairs] = model->repeats[model->nr_pairs] = 0;
	model->pairs[model->nr_pairs++] = pair;
	return 0;
}

static uint32_t pick_pair(struct model *model)
{
	uint32_t pair;

	do {
		pair = model->history[(size_t)(uniform(model) * (double)model->nr_history)];
	} while (uniform(model) * model->counts[pair] < model->params->discount);
	return pair;
}

/* A thread that runs all the time is sampled more than once in a second. */
static struct model_pair repeat_pair(struct model *model)
{
	size_t nr = model->nr_history - model->second;
	uint32_t pair = model->history[model->second + model_random(model, (uint32_t)nr)];

	model->repeats[pair]++;
	model->nr_repeats++;
	return model->pairs[pair];
}

void model_begin_second(struct model *model)
{
	model->second = model->nr_history;
}

int model_draw(struct model *model, struct model_pair *ret_pair)
{
	const struct model_params *params = model->params;
	double weight_of_new = params->theta + params->discount * (double)model->nr_pairs;
	uint32_t pair;
	int r = 0;

	if (model->nr_history == MAX_HISTORY)
		return -ENOSPC;
	if (model->nr_history > model->second && uniform(model) < params->repeats) {
		*ret_pair = repeat_pair(model);
		return 0;
	}
	if (uniform(model) * (params->theta + (double)model->nr_history) < weight_of_new)
		r = add_pair(model, &pair);
	else
		pair = pick_pair(model);
	if (r < 0)
		return r;
	model->counts[pair]++;
	model->history[model->nr_history++] = pair;
	*ret_pair = model->pairs[pair];
	return 0;
}

static void keep_hour(struct model *model)
{
	model->kept_pairs = model->nr_pairs;
	model->kept_history = model->nr_history;
	model->kept_nodes = model->nr_nodes;
	model->kept_functions = model->nr_functions;
	memcpy(model->kept_counts, model->counts, model->nr_pairs * sizeof(*model->counts));
	for (size_t i = 0; i < MODEL_NR_PROGRAMS; i++) {
		model->stacks[i].nr_kept = model->stacks[i].nr;
		model->functions_of[i].nr_kept = model->functions_of[i].nr;
	}
}

static void forget_hour(struct model *model)
{
	model->nr_pairs = model->kept_pairs;
	model->nr_history = model->kept_history;
	model->nr_nodes = model->kept_nodes;
	model->nr_functions = model->kept_functions;
	memcpy(model->counts, model->kept_counts, model->nr_pairs * sizeof(*model->counts));
	for (size_t i = 0; i < MODEL_NR_PROGRAMS; i++) {
		model->stacks[i].nr = model->stacks[i].nr_kept;
		model->functions_of[i].nr = model->functions_of[i].nr_kept;
	}
}

void model_end_hour(struct model *model)
{
	if (model->is_first_hour_over)
		forget_hour(model);
	else
		keep_hour(model);
	model->is_first_hour_over = true;
}

struct model_node model_node(const struct model *model, uint32_t node)
{
	return model->nodes[node];
}

struct model_function model_function(const struct model *model, uint32_t function)
{
	return model->functions[function];
}

uint32_t model_nr_nodes(const struct model *model)
{
	return (uint32_t)model->nr_nodes;
}

int model_count(const struct model *model, struct model_census *ret_census)
{
	struct model_census census = {
		.nr_samples = model->nr_history + model->nr_repeats,
		.nr_pairs = model->nr_pairs,
		.nr_nodes = model->nr_nodes - 1,
		.nr_functions = model->nr_functions,
	};
	_cleanup_free_ uint32_t *samples = calloc(model->nr_nodes, sizeof(*samples));

	if (!samples)
		return -ENOMEM;
	for (size_t i = 0; i < model->nr_pairs; i++) {
		uint32_t nr = model->counts[i] + model->repeats[i];

		census.nr_single_pairs += nr == 1;
		samples[model->pairs[i].node] += nr;
	}
	for (size_t i = 0; i < model->nr_nodes; i++) {
		double share = (double)samples[i] / (double)census.nr_samples;

		if (samples[i] == 0)
			continue;
		census.nr_stacks++;
		census.entropy_bits -= share * log2(share);
	}
	*ret_census = census;
	return 0;
}

/* All arrays, to be allocated and freed in one way. */
static size_t list_arrays(struct model *model, void **pointers[], size_t *bytes)
{
	size_t nr = 0;

#define ARRAY(field, max)                                                                          \
	pointers[nr] = (void **)&model->field;                                                     \
	bytes[nr++] = (max) * sizeof(*model->field)
	ARRAY(pairs, MAX_PAIRS);
	ARRAY(counts, MAX_PAIRS);
	ARRAY(kept_counts, MAX_PAIRS);
	ARRAY(repeats, MAX_PAIRS);
	ARRAY(history, MAX_HISTORY);
	ARRAY(nodes, MAX_NODES);
	ARRAY(depths, MAX_NODES);
	ARRAY(is_kernel, MAX_NODES);
	ARRAY(functions, MAX_FUNCTIONS);
	ARRAY(successors, MAX_FUNCTIONS);
	for (size_t i = 0; i < MODEL_NR_PROGRAMS; i++) {
		ARRAY(stacks[i].items, MAX_OF_PROGRAM);
		ARRAY(functions_of[i].items, MAX_OF_PROGRAM);
	}
#undef ARRAY
	return nr;
}

#define MAX_ARRAYS (10 + 2 * MODEL_NR_PROGRAMS)

void model_free(struct model *model)
{
	void **pointers[MAX_ARRAYS];
	size_t bytes[MAX_ARRAYS];

	if (!model)
		return;
	size_t nr = list_arrays(model, pointers, bytes);
	for (size_t i = 0; i < nr; i++)
		model_dealloc(*pointers[i], bytes[i]);
	free(model);
}

int model_new(const struct model_params *params, struct model **ret_model)
{
	_cleanup_(model_freep) struct model *model = calloc(1, sizeof(*model));
	void **pointers[MAX_ARRAYS];
	size_t bytes[MAX_ARRAYS];

	if (!model)
		return -ENOMEM;
	size_t nr = list_arrays(model, pointers, bytes);
	for (size_t i = 0; i < nr; i++) {
		*pointers[i] = model_alloc(bytes[i]);
		if (!*pointers[i])
			return -ENOMEM;
	}
	model->params = params;
	model->random = UINT64_C(0x2545f4914f6cdd1d);
	model->nr_nodes = 1; /* the root, whose function is number 0 */
	model->nr_functions = 1;
	share_out(model);
	*ret_model = take_ptr(model);
	return 0;
}
