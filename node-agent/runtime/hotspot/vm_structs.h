/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the tables in which a JVM describes itself: offsets of fields, addresses of static fields,
 * sizes of types. They are made for the Serviceability Agent, and all JVMs since 1.4 have them.
 *
 * libjvm exports pointers to the tables, and the offsets of the fields of an entry.
 * Source: src/hotspot/share/runtime/vmStructs.hpp and vmStructs.cpp. */
#ifndef RUNTIME_HOTSPOT_VM_STRUCTS_H
#define RUNTIME_HOTSPOT_VM_STRUCTS_H

#include "runtime/process_memory.h"

#include <stdint.h>

/* The symbols that libjvm exports. All have eight bytes. X(NAME, symbol) */
#define VM_SYMBOLS(X)                                                                              \
	X(STRUCTS, "gHotSpotVMStructs")                                                            \
	X(STRUCT_STRIDE, "gHotSpotVMStructEntryArrayStride")                                       \
	X(STRUCT_TYPE_NAME, "gHotSpotVMStructEntryTypeNameOffset")                                 \
	X(STRUCT_FIELD_NAME, "gHotSpotVMStructEntryFieldNameOffset")                               \
	X(STRUCT_FIELD_TYPE, "gHotSpotVMStructEntryTypeStringOffset")                              \
	X(STRUCT_IS_STATIC, "gHotSpotVMStructEntryIsStaticOffset")                                 \
	X(STRUCT_OFFSET, "gHotSpotVMStructEntryOffsetOffset")                                      \
	X(STRUCT_ADDRESS, "gHotSpotVMStructEntryAddressOffset")                                    \
	X(TYPES, "gHotSpotVMTypes")                                                                \
	X(TYPE_STRIDE, "gHotSpotVMTypeEntryArrayStride")                                           \
	X(TYPE_NAME, "gHotSpotVMTypeEntryTypeNameOffset")                                          \
	X(TYPE_SIZE, "gHotSpotVMTypeEntrySizeOffset")

enum vm_symbol {
#define X(NAME, symbol) VM_SYMBOL_##NAME,
	VM_SYMBOLS(X)
#undef X
		VM_NR_SYMBOLS,
};

/* Offsets of fields, in bytes, and addresses of static fields. X(NAME, type, field) */
#define VM_FIELDS(X)                                                                               \
	X(MAJOR_VERSION, "Abstract_VM_Version", "_vm_major_version")                               \
	X(MINOR_VERSION, "Abstract_VM_Version", "_vm_minor_version")                               \
	X(SECURITY_VERSION, "Abstract_VM_Version", "_vm_security_version")                         \
	X(CODE_HEAP, "CodeCache", "_heap") /* JDK 8 */                                             \
	X(CODE_HEAPS, "CodeCache", "_heaps")                                                       \
	X(ARRAY_LEN, "GrowableArrayBase", "_len")                                                  \
	X(OLD_ARRAY_LEN, "GenericGrowableArray", "_len") /* up to 15 */                            \
	X(ARRAY_DATA, "GrowableArray<int>", "_data")                                               \
	X(HEAP_MEMORY, "CodeHeap", "_memory")                                                      \
	X(HEAP_SEGMENT_MAP, "CodeHeap", "_segmap")                                                 \
	X(HEAP_LOG2_SEGMENT, "CodeHeap", "_log2_segment_size")                                     \
	X(SPACE_LOW_BOUNDARY, "VirtualSpace", "_low_boundary")                                     \
	X(SPACE_HIGH_BOUNDARY, "VirtualSpace", "_high_boundary")                                   \
	X(SPACE_LOW, "VirtualSpace", "_low")                                                       \
	X(CALL_STUB_RETURN, "StubRoutines", "_call_stub_return_address")                           \
	X(CONTINUATION_ENTRY, "JavaThread", "_cont_entry") /* from 25 on */                        \
	X(BLOB_NAME, "CodeBlob", "_name")                                                          \
	X(BLOB_FRAME_SIZE, "CodeBlob", "_frame_size")                                              \
	X(BLOB_FRAME_COMPLETE, "CodeBlob", "_frame_complete_offset")                               \
	X(BLOB_CODE_BEGIN, "CodeBlob", "_code_begin") /* from 9 to 22, else: */                    \
	X(BLOB_CODE_OFFSET, "CodeBlob", "_code_offset")                                            \
	X(BLOB_CODE_END, "CodeBlob", "_code_end")                                                  \
	X(BLOB_DATA_OFFSET, "CodeBlob", "_data_offset")                                            \
	X(BLOB_RELOCATION_SIZE, "CodeBlob", "_relocation_size")                                    \
	X(BLOB_MUTABLE_DATA, "CodeBlob", "_mutable_data")                                          \
	X(NMETHOD_METHOD, "nmethod", "_method")                                                    \
	X(COMPILED_METHOD, "CompiledMethod", "_method") /* from 9 to 22 */                         \
	X(NMETHOD_COMPILE_ID, "nmethod", "_compile_id")                                            \
	X(NMETHOD_ORIG_PC, "nmethod", "_orig_pc_offset")                                           \
	X(DEOPT_HANDLER, "CompiledMethod", "_deopt_handler_begin")                                 \
	X(DEOPT_OFFSET, "nmethod", "_deopt_handler_offset") /* from 23 on */                       \
	X(DEOPT_ENTRY_OFFSET, "nmethod", "_deopt_handler_entry_offset") /* from 26 on */           \
	X(DEOPTIMIZE_OFFSET, "nmethod", "_deoptimize_offset") /* 8 */                              \
	X(METADATA_OFFSET, "nmethod", "_metadata_offset")                                          \
	X(SCOPES_DATA_BEGIN, "CompiledMethod", "_scopes_data_begin")                               \
	X(SCOPES_DATA_OFFSET, "nmethod", "_scopes_data_offset")                                    \
	X(SCOPES_PCS_OFFSET, "nmethod", "_scopes_pcs_offset")                                      \
	X(DEPENDENCIES_OFFSET, "nmethod", "_dependencies_offset")                                  \
	X(IMMUTABLE_DATA, "nmethod", "_immutable_data") /* from 23 on */                           \
	X(IMMUTABLE_DATA_SIZE, "nmethod", "_immutable_data_size")                                  \
	X(METHOD_CONST, "Method", "_constMethod")                                                  \
	X(CONST_CONSTANTS, "ConstMethod", "_constants")                                            \
	X(CONST_SIZE, "ConstMethod", "_constMethod_size")                                          \
	X(CONST_FLAGS, "ConstMethod", "_flags")                                                    \
	X(CONST_NEW_FLAGS, "ConstMethod", "_flags._flags") /* from 21 on */                        \
	X(CONST_CODE_SIZE, "ConstMethod", "_code_size")                                            \
	X(CONST_NAME_INDEX, "ConstMethod", "_name_index")                                          \
	X(POOL_HOLDER, "ConstantPool", "_pool_holder")                                             \
	X(POOL_LENGTH, "ConstantPool", "_length")                                                  \
	X(POOL_SOURCE_FILE, "ConstantPool", "_source_file_name_index")                             \
	X(KLASS_SOURCE_FILE, "InstanceKlass", "_source_file_name_index") /* up to 15 */            \
	X(KLASS_NAME, "Klass", "_name")                                                            \
	X(SYMBOL_LENGTH, "Symbol", "_length")                                                      \
	X(SYMBOL_BODY, "Symbol", "_body")

/* Sizes of types, in bytes. X(NAME, type) */
#define VM_TYPES(X)                                                                                \
	X(HEAP_BLOCK, "HeapBlock")                                                                 \
	X(CODE_BLOB, "CodeBlob")                                                                   \
	X(NMETHOD, "nmethod")                                                                      \
	X(CONST_METHOD, "ConstMethod")                                                             \
	X(CONSTANT_POOL, "ConstantPool")                                                           \
	X(CONTINUATION_ENTRY, "ContinuationEntry")

enum vm_value {
#define X(NAME, type, field) VM_##NAME,
	VM_FIELDS(X)
#undef X
#define X(NAME, type) VM_SIZE_##NAME,
		VM_TYPES(X)
#undef X
			VM_NR_VALUES,
};

#define VM_NONE UINT64_MAX /* this JVM has no such field or type */

struct vm_structs {
	uint64_t values[VM_NR_VALUES]; /* by enum vm_value */
	uint8_t bytes[VM_NR_VALUES]; /* of a field: 2 for short numbers, else 4 or 8 */
};

/* Reads the tables of a process; `symbols` are their addresses there, by enum vm_symbol. Errors:
 * -EBADMSG the tables are not as they should be; -ENOMEM; those of process_memory_read(). */
int vm_structs_read(struct process_memory *memory, const uint64_t symbols[static VM_NR_SYMBOLS],
		    struct vm_structs *ret_structs) must_check;

#endif
