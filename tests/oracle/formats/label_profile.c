/* SPDX-License-Identifier: Apache-2.0 */
#include "label_profile.h"

#include "profile/builder.h"

#include <stdio.h>

#define MAX_BYTES ((size_t)1 << 20)
#define PERIOD_NS 10000000
#define DURATION_NS 10000000000

/* Root first. They are longer than there is room for in the most boxes. */
static const struct {
	enum frame_kind kind;
	const char *name;
} names[] = {
	{ FRAME_NATIVE, "std::vector<int>::push_back(int&&)" },
	{ FRAME_NATIVE, "a::f(b::c) const" },
	{ FRAME_NATIVE, "operator()(int)" },
	{ FRAME_NATIVE, "(all_of_it_in_parentheses)" },
	{ FRAME_NATIVE, "()()()()()()" },
	{ FRAME_NATIVE, "((((((((((((((((" },
	{ FRAME_NATIVE, "))))))))))))))))" },
	{ FRAME_NATIVE, "ends/behind/a/slash/" },
	{ FRAME_NATIVE, "::::::::::::" },
	{ FRAME_NATIVE, "a:b:c::d:e:f::g:" },
	{ FRAME_NATIVE, "a<b>/c&d/\"e\"/'f'" },
	{ FRAME_NATIVE, "b\u00fccher/gr\u00f6\u00dfe/\u4e2d\u6587" },
	{ FRAME_NATIVE, "caf\xc3/na\xc3me/\x1b" },
	{ FRAME_RUST, "<alloc::vec::Vec<T>>::push" },
	{ FRAME_JVM, "com/acme/Cart.total(int, java/util/List)" },
	{ FRAME_V8JS, "node:internal/modules/cjs.load" },
	{ FRAME_GO, "main.main" },
	{ FRAME_GO, "github.com/acme/cmd/compile.walkExpr" },
	{ FRAME_GO, "net/http.(*conn).serve" },
	{ FRAME_GO, "net/http.(*conn).serve.func1.(*T).f" },
	{ FRAME_GO, "runtime.usleep.abi0" },
	{ FRAME_KERNEL, "finish_task_switch.isra.0" },
	{ FRAME_KERNEL, "entry_SYSCALL_64_after_hwframe" },
};

/* Of a stack's boxes; 1180 together. */
static const uint32_t widths_px[] = { 29, 30, 37, 45, 52, 59, 66, 74, 81, 88, 96, 103, 125, 295 };

static int add_frame(struct builder *builder, size_t nth, uint32_t *ret_location)
{
	const struct profile_location location = { .address = 1 + nth, .kind = names[nth].kind };
	struct profile_function function = { 0 };
	struct profile_line line = { 0 };

	int r = builder_add_string(builder, names[nth].name, &function.name);
	if (r == 0)
		r = builder_add_function(builder, &function, &line.function);
	if (r == 0)
		r = builder_add_named_location(builder, &location, &line, 1, ret_location);
	return r;
}

static int add_sample(struct builder *builder, uint32_t stack, uint32_t width_px)
{
	struct profile_sample sample = { .pid = 7, .tid = 7, .stack = stack, .count = width_px };
	char comm[16];

	snprintf(comm, sizeof(comm), "kworker/u8:%u", width_px);
	int r = builder_add_string(builder, comm, &sample.process_comm);
	return r < 0 ? r : builder_add_sample(builder, &sample);
}

static int add_samples(struct builder *builder)
{
	uint32_t leaf_first[array_len(names)];
	uint32_t stack = 0;
	int r = 0;

	for (size_t i = 0; i < array_len(names) && r == 0; i++)
		r = add_frame(builder, i, &leaf_first[array_len(names) - 1 - i]);
	if (r == 0)
		r = builder_add_stack(builder, leaf_first, array_len(names), &stack);
	for (size_t i = 0; i < array_len(widths_px) && r == 0; i++)
		r = add_sample(builder, stack, widths_px[i]);
	return r;
}

struct profile *label_profile(void)
{
	struct builder *builder = NULL;

	int r = builder_new(MAX_BYTES, &builder);
	if (r == 0)
		r = add_samples(builder);
	if (r < 0) {
		builder_free(builder);
		return NULL;
	}
	builder_set_time(builder, 0, DURATION_NS, PERIOD_NS);
	return builder_seal(builder);
}
