/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of a V8's heap: indexes of runtime_file.values and of runtime_found.naming, which are
 * the same here. Offsets are in bytes from the start of an object; types are instance types. */
#ifndef RUNTIME_V8_V8_VALUES_H
#define RUNTIME_V8_V8_VALUES_H

#define V8_MAX_BYTECODES 256

enum v8_value {
	V8_TAGGED_BYTES, /* of a pointer to an object: 8, or 4 if they are compressed */
	V8_TYPE_SHARED, /* SharedFunctionInfo */
	V8_TYPE_SCOPE, /* ScopeInfo */
	V8_TYPE_SCRIPT,
	V8_TYPE_CODE,
	V8_TYPE_STREAM, /* InstructionStream; 0: instructions follow their Code */
	V8_TYPE_BYTECODE, /* BytecodeArray */
	V8_TYPE_INTERPRETER_DATA,
	V8_TYPE_BASELINE_DATA, /* 0: baseline code refers to its bytecode itself */
	V8_TYPE_WRAPPER, /* SharedFunctionInfoWrapper; 0: there is none */
	V8_TYPE_FIXED_ARRAY,
	V8_FIRST_NONSTRING, /* smaller types are those of strings */
	V8_FUNCTION_SHARED, /* JSFunction.shared_function_info */
	V8_SHARED_DATA, /* SharedFunctionInfo.function_data and so on */
	V8_SHARED_NAME,
	V8_SHARED_SCRIPT,
	V8_SHARED_LENGTH,
	V8_SCRIPT_SOURCE,
	V8_SCRIPT_NAME,
	V8_SCRIPT_LINE_ENDS,
	V8_SCRIPT_LAZY, /* Script.compiled_lazy_function_positions, two words before its URL */
	V8_SCOPE_VARIABLES, /* index of the first variable in a ScopeInfo */
	V8_SCOPE_HAS_RECEIVER, /* 1: a word for the receiver may follow the variables */
	V8_EXPOSED_HEAD, /* of the first field of a BytecodeArray, an InterpreterData or a Code */
	V8_BYTECODE_DATA, /* of the first bytecode */
	V8_BYTECODE_POSITIONS, /* BytecodeArray.source_position_table */
	V8_CODE_DEOPT, /* Code.deoptimization_data, or the bytecode of baseline code */
	V8_CODE_POSITIONS, /* Code.source_position_table, or .bytecode_offset_table */
	V8_CODE_START, /* Code.instruction_start; only with an InstructionStream; 0: none */
	V8_CODE_STREAM, /* Code.instruction_stream, a compressed pointer; 0: not needed */
	V8_CODE_SIZE,
	V8_CODE_FLAGS,
	V8_CODE_HEADER, /* of the first instruction, in InstructionStream or Code */
	V8_CODE_KIND_MASK, /* of the flags */
	V8_CODE_KIND_BASELINE,
	V8_DEOPT_LITERALS, /* indexes in DeoptimizationData */
	V8_DEOPT_SHARED,
	V8_DEOPT_INLINING,
	V8_POSITION_DISTANCES, /* enum v8_distances */
	V8_CODE_KIND_MAGLEV, /* 0: its deoptimization data are not known; so the next */
	V8_CODE_KIND_TURBOFAN,
	V8_BUILTINS_START, /* offsets in the file; 0: not known */
	V8_BUILTINS_END,
	V8_TRUSTED_CAGE, /* of its address, from the root register on; 0: there is no such cage */
	V8_SMI_LENGTHS, /* 1: the lengths of arrays with compressed pointers are small integers */
	V8_NR_BYTECODES, /* 0: the sizes of bytecodes are not known */
	/* A byte for each: its size (4 bits), and how many of its operands Wide makes wider. */
	V8_BYTECODE_SIZES,
	V8_NR_VALUES = V8_BYTECODE_SIZES + V8_MAX_BYTECODES / 8,
};

#endif
