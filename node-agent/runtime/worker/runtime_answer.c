/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/worker/runtime_worker.h"

#include <string.h>

int runtime_answer_file(const void *bytes, size_t len, uint32_t kinds,
			struct runtime_file_answer *ret_answer)
{
	struct runtime_file_answer answer;

	if (len != sizeof(answer))
		return -EBADMSG;
	memcpy(&answer, bytes, sizeof(answer));
	if (answer.nr_segments > RUNTIME_MAX_SEGMENTS || answer.file.kind >= RUNTIME_NR_KINDS ||
	    (answer.file.kind != RUNTIME_NONE && !(kinds & UINT32_C(1) << answer.file.kind)))
		return -EBADMSG;
	*ret_answer = answer;
	return 0;
}

static bool is_cpython_sound(const struct cpython_layout *layout)
{
	return layout->chain <= CPYTHON_CHAIN_BY_SHIM &&
	       layout->instr_kind <= CPYTHON_INSTR_POINTER && layout->nr_place >= 1 &&
	       layout->nr_place <= CPYTHON_MAX_PLACE;
}

static bool is_process_sound(const struct runtime_process *process)
{
	for (size_t i = 0; i < RUNTIME_MAX_CODE; i++)
		if (process->code[i].start > process->code[i].end)
			return false;
	return true;
}

static bool is_layout_sound(const struct runtime_found *found, uint32_t kind)
{
	if (found->layout.kind != kind ||
	    (kind == RUNTIME_CPYTHON && !is_cpython_sound(&found->layout.cpython)))
		return false;
	return !found->has_process ||
	       (found->process.kind == kind && is_process_sound(&found->process));
}

int runtime_answer_process(const void *bytes, size_t len, const struct runtime_file *file,
			   struct runtime_found *ret_found)
{
	struct runtime_found found;

	if (len != sizeof(found))
		return -EBADMSG;
	memcpy(&found, bytes, sizeof(found));
	if (found.state >= RUNTIME_NR_STATES || found.is_shared > 1 || found.is_likely > 1 ||
	    found.has_process > 1 || found.is_marked > 1 ||
	    (found.is_marked && (found.state != RUNTIME_UNSUPPORTED || !found.has_process)) ||
	    ((found.state == RUNTIME_READY || found.is_marked) &&
	     !is_layout_sound(&found, file->kind)))
		return -EBADMSG;
	if (!found.has_process)
		found.process = (struct runtime_process){ .kind = found.layout.kind };
	found.reason[sizeof(found.reason) - 1] = '\0';
	for (char *c = found.reason; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	*ret_found = found;
	return 0;
}
