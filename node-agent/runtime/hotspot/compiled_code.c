/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hotspot/compiled_code.h"

#include "base/minmax.h"
#include "runtime/hotspot/code_flow.h"
#include "runtime/hotspot/hotspot_naming.h"
#include "runtime/hotspot/java_method.h"
#include "runtime/hotspot/unsigned5.h"

#include <stdbool.h>
#include <string.h>

#define MAX_BLOB_BYTES 1024 /* sizeof(nmethod) is less than 400 */
#define MAX_BLOB_NAME_BYTES 64
#define MAX_TABLE_BYTES (64ULL << 20)
#define MAX_SCOPE_BYTES 15 /* three numbers */

/* PcDesc: pcDesc.hpp. The flags follow. */
struct pc_desc {
	int32_t pc_offset;
	int32_t scope_offset;
	uint32_t unused[2];
};

#define NR_PCS_AT_ONCE 128

struct blob {
	struct process_memory *memory; /* borrowed */
	const uint64_t *naming; /* borrowed */
	const struct code_place *place; /* borrowed */
	char name[MAX_BLOB_NAME_BYTES];
	size_t len; /* of `bytes` */
	uint8_t bytes[MAX_BLOB_BYTES];
	/* Tables. */
	uint64_t pcs, pcs_end, scopes, scopes_end, metadata;
};

/* One of the methods that a place is in. */
struct scope {
	uint32_t sender; /* offset of the scope that it was inlined into; 0: none */
	uint32_t method; /* index in the metadata, from 1 on */
	int32_t bci;
};

/* Copies a field of the blob. Returns false if it is outside. */
static bool get_field(const struct blob *blob, uint64_t offset, void *to, size_t len)
{
	if (offset > blob->len || len > blob->len - offset)
		return false;
	memcpy(to, blob->bytes + offset, len);
	return true;
}

static int read_blob(struct blob *blob)
{
	uint64_t name, max = blob->naming[HOTSPOT_NAMING_NMETHOD_BYTES];
	ssize_t n;

	if (max > sizeof(blob->bytes))
		return -EBADMSG;
	n = process_memory_read_some(blob->memory, blob->place->blob, blob->bytes, max);
	if (n < 0)
		return (int)n;
	blob->len = (size_t)n;
	if (blob->len < blob->naming[HOTSPOT_NAMING_BLOB_BYTES] ||
	    !get_field(blob, blob->naming[HOTSPOT_NAMING_BLOB_NAME], &name, sizeof(name)))
		return -EFAULT;
	n = process_memory_read_some(blob->memory, name, blob->name, sizeof(blob->name) - 1);
	if (n < 0)
		return (int)n;
	blob->name[n] = '\0';
	return blob->name[0] == '\0' ? -EBADMSG : 0;
}

static bool is_nmethod(const struct blob *blob)
{
	return strcmp(blob->name, "nmethod") == 0 || strcmp(blob->name, "native nmethod") == 0;
}

/* Returns whether the nmethod is the one that was sampled. */
static bool is_the_same(const struct blob *blob)
{
	uint32_t compile_id;

	return get_field(blob, blob->naming[HOTSPOT_NAMING_COMPILE_ID], &compile_id,
			 sizeof(compile_id)) &&
	       (uint16_t)compile_id == blob->place->compile_id;
}

/* Finds the place that hotspot_place() says. */
static bool get_place(const struct blob *blob, enum hotspot_naming naming, uint64_t *ret_address)
{
	uint64_t place = blob->naming[naming];
	uint64_t pointer = place & 0xffff, number = place >> 16 & 0xffff;
	uint64_t short_number = place >> 32 & 0xffff;
	uint64_t address = blob->place->blob;
	uint32_t offset = 0;
	uint16_t short_offset = 0;

	if (pointer != HOTSPOT_PLACE_NONE && !get_field(blob, pointer, &address, sizeof(address)))
		return false;
	if (number != HOTSPOT_PLACE_NONE && !get_field(blob, number, &offset, sizeof(offset)))
		return false;
	if (short_number != HOTSPOT_PLACE_NONE &&
	    !get_field(blob, short_number, &short_offset, sizeof(short_offset)))
		return false;
	*ret_address = address + offset + short_offset;
	return true;
}

static int find_tables(struct blob *blob)
{
	if (!get_place(blob, HOTSPOT_NAMING_PCS, &blob->pcs) ||
	    !get_place(blob, HOTSPOT_NAMING_PCS_END, &blob->pcs_end) ||
	    !get_place(blob, HOTSPOT_NAMING_SCOPES, &blob->scopes) ||
	    !get_place(blob, HOTSPOT_NAMING_SCOPES_END, &blob->scopes_end) ||
	    !get_place(blob, HOTSPOT_NAMING_METADATA, &blob->metadata))
		return -EBADMSG;
	if (blob->pcs_end < blob->pcs || blob->pcs_end - blob->pcs > MAX_TABLE_BYTES ||
	    blob->scopes_end < blob->scopes || blob->scopes_end - blob->scopes > MAX_TABLE_BYTES)
		return -EBADMSG;
	return 0;
}

/* Narrows the sorted table down to the part that is read at once and has the entries before and
 * behind the place. */
static int narrow_pcs(const struct blob *blob, uint64_t *low, uint64_t *high)
{
	struct pc_desc pc;

	while (*high - *low > NR_PCS_AT_ONCE) {
		uint64_t middle = *low + (*high - *low) / 2;
		int r = process_memory_read(blob->memory, blob->pcs + middle * sizeof(pc), &pc,
					    sizeof(pc));

		if (r < 0)
			return r;
		if (pc.pc_offset > blob->place->pc_offset)
			*high = middle + 1;
		else
			*low = middle;
	}
	return 0;
}

/* The scope of a place. */
struct found_scope {
	uint32_t offset; /* 0: none */
	bool is_outermost; /* the place is in the method that it belongs to after all inlining */
};

/* The places that the compiler described next to one. */
struct neighbours {
	uint32_t before, behind; /* their scopes; 0: none */
	bool is_behind_known; /* `behind` is that of the place, or of the call's return address */
	struct code_marks marks;
};

static void note_neighbour(struct neighbours *found, uint32_t scope, int64_t distance)
{
	if (distance < 0) {
		found->before = scope;
		found->marks.before = distance;
		return;
	}
	found->behind = scope;
	found->is_behind_known = distance <= 1;
	found->marks.behind = (size_t)distance;
}

static int find_neighbours(const struct blob *blob, struct neighbours *ret_neighbours)
{
	uint64_t low = 0, high = (blob->pcs_end - blob->pcs) / sizeof(struct pc_desc);
	struct pc_desc pcs[NR_PCS_AT_ONCE] = { 0 };
	struct neighbours found = { .marks = { .before = INT64_MIN, .behind = SIZE_MAX } };
	int r = narrow_pcs(blob, &low, &high);

	if (r == 0)
		r = process_memory_read(blob->memory, blob->pcs + low * sizeof(*pcs), pcs,
					(high - low) * sizeof(*pcs));
	if (r < 0)
		return r;
	for (uint64_t i = 0; i < high - low && i < NR_PCS_AT_ONCE; i++) {
		int64_t distance = (int64_t)pcs[i].pc_offset - blob->place->pc_offset;

		if (pcs[i].scope_offset > 0)
			note_neighbour(&found, (uint32_t)pcs[i].scope_offset, distance);
		if (distance >= 0)
			break;
	}
	*ret_neighbours = found;
	return 0;
}

/* Where the code cannot be read, it goes on. */
static enum code_flow find_flow(const struct blob *blob, const struct code_marks *marks)
{
	uint8_t code[CODE_FLOW_MAX_BYTES + CODE_FLOW_TAIL_BYTES];
	size_t len = min_u64(marks->behind, CODE_FLOW_MAX_BYTES) + CODE_FLOW_TAIL_BYTES;
	uint64_t address;
	ssize_t n;

	if (!get_place(blob, HOTSPOT_NAMING_CODE, &address))
		return CODE_FLOW_GOES_ON;
	n = process_memory_read_some(blob->memory, address + (uint32_t)blob->place->pc_offset, code,
				     len);
	return n < 0 ? CODE_FLOW_GOES_ON : code_flow_find(code, (size_t)n, marks);
}

/* Finds the scope of the first entry at the place or behind it. For a call that is the entry of its
 * return address, and for another instruction the next place that the compiler described, if the
 * code leads there. A loop may have none: it belongs to what was described before it. Code that
 * returns is in the outermost method. */
static int find_scope(const struct blob *blob, struct found_scope *ret_scope)
{
	struct neighbours neighbours;
	enum code_flow flow = CODE_FLOW_GOES_ON;
	int r = find_neighbours(blob, &neighbours);

	if (r < 0)
		return r;
	if (!neighbours.is_behind_known)
		flow = find_flow(blob, &neighbours.marks);
	if (flow == CODE_FLOW_GOES_ON && neighbours.behind == 0)
		flow = CODE_FLOW_RETURNS;
	*ret_scope = (struct found_scope){ .offset = neighbours.behind };
	if (flow != CODE_FLOW_GOES_ON && neighbours.before != 0)
		ret_scope->offset = neighbours.before;
	if (flow == CODE_FLOW_RETURNS)
		ret_scope->is_outermost = true;
	return 0;
}

static int read_scope(const struct blob *blob, uint32_t offset, struct scope *ret_scope)
{
	uint8_t bytes[MAX_SCOPE_BYTES];
	uint64_t left = blob->scopes_end - blob->scopes;
	struct unsigned5_reader reader = {
		.bytes = bytes, .nr_excluded = (uint8_t)blob->naming[HOTSPOT_NAMING_NR_EXCLUDED]
	};
	struct scope scope = { 0 };
	uint32_t bci = 0;
	ssize_t n;
	int r;

	if (offset >= left)
		return -EBADMSG;
	n = process_memory_read_some(blob->memory, blob->scopes + offset, bytes,
				     min_u64(sizeof(bytes), left - offset));
	if (n < 0)
		return (int)n;
	reader.len = (size_t)n;
	r = unsigned5_next(&reader, &scope.sender);
	if (r == 0)
		r = unsigned5_next(&reader, &scope.method);
	if (r == 0)
		r = unsigned5_next(&reader, &bci);
	if (r < 0)
		return r;
	if (bci > UINT16_MAX + 1U || scope.method == 0 || scope.method > UINT16_MAX)
		return -EBADMSG;
	scope.bci = (int32_t)bci - 1;
	*ret_scope = scope;
	return 0;
}

static int add_scope(const struct blob *blob, const struct scope *scope,
		     struct frame_writer *writer)
{
	struct java_place place = { .bci = scope->bci };
	int r = process_memory_read_u64(blob->memory, blob->metadata + 8ULL * (scope->method - 1),
					&place.method);

	return r < 0 ? r : java_method_add(blob->memory, blob->naming, &place, writer);
}

/* Adds the scope and those that it was inlined into. They were written before it, so the offsets
 * fall. */
static int add_scopes(const struct blob *blob, const struct found_scope *found,
		      struct frame_writer *writer)
{
	uint32_t offset = found->offset;

	for (int i = 0; i < RUNTIME_MAX_LINES && offset != 0; i++) {
		struct scope scope = { 0 };
		int r = read_scope(blob, offset, &scope);

		if (r == 0 && (scope.sender == 0 || !found->is_outermost))
			r = add_scope(blob, &scope, writer);
		if (r < 0)
			return r;
		if (scope.sender >= offset)
			return -EBADMSG;
		offset = scope.sender;
	}
	return 0;
}

/* Adds the method that was compiled, without a line: there are no scopes in native methods, and
 * none that can be read while the code is being freed. */
static int add_method(const struct blob *blob, struct frame_writer *writer)
{
	struct java_place place = { .bci = JAVA_BCI_NONE };

	if (!get_field(blob, blob->naming[HOTSPOT_NAMING_NMETHOD_METHOD], &place.method,
		       sizeof(place.method)))
		return -EBADMSG;
	return java_method_add(blob->memory, blob->naming, &place, writer);
}

static int add_nmethod(struct blob *blob, struct frame_writer *writer)
{
	struct found_scope scope = { 0 };
	int r = find_tables(blob);

	if (r == 0)
		r = find_scope(blob, &scope);
	if (r == 0)
		r = add_scopes(blob, &scope, writer);
	if (r < 0 && r != -EBADMSG && r != -EFAULT)
		return r;
	if (r == 0 && writer->nr_lines > 0)
		return 0;
	frame_writer_drop(writer);
	return add_method(blob, writer);
}

int compiled_code_add(struct process_memory *memory, const uint64_t *naming,
		      const struct code_place *place, struct frame_writer *writer)
{
	struct blob blob = { .memory = memory, .naming = naming, .place = place };
	int r = read_blob(&blob);

	if (r < 0)
		return r;
	if (!is_nmethod(&blob)) {
		struct runtime_line line = { .name = blob.name, .name_len = strlen(blob.name) };

		frame_writer_add(writer, &line);
		return 0;
	}
	if (!is_the_same(&blob))
		return -ENOENT;
	r = add_nmethod(&blob, writer);
	if (r == 0)
		r = read_blob(&blob);
	if (r < 0 || !is_nmethod(&blob) || !is_the_same(&blob))
		frame_writer_drop(writer);
	return r;
}
