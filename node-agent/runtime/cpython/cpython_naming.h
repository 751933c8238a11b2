/* SPDX-License-Identifier: Apache-2.0 */
/* The values by which the code objects of a CPython are named: indexes of runtime_found.naming.
 * Offsets in bytes unless said otherwise. */
#ifndef RUNTIME_CPYTHON_CPYTHON_NAMING_H
#define RUNTIME_CPYTHON_CPYTHON_NAMING_H

enum cpython_naming {
	CPYTHON_NAMING_LINES, /* enum cpython_lines */
	CPYTHON_NAMING_CHECK, /* the check of a tag is made from RUNTIME_CHECK_WORDS here */
	CPYTHON_NAMING_CODE_BYTES, /* the part of a code object that is read at once */
	CPYTHON_NAMING_FILENAME, /* PyCodeObject.co_filename and so on */
	CPYTHON_NAMING_NAME,
	CPYTHON_NAMING_QUALNAME, /* 0: none, up to 3.10 */
	CPYTHON_NAMING_FIRSTLINENO,
	CPYTHON_NAMING_LINETABLE, /* co_linetable or co_lnotab */
	CPYTHON_NAMING_UNICODE_LENGTH, /* PyASCIIObject.length */
	CPYTHON_NAMING_UNICODE_STATE, /* PyASCIIObject.state */
	CPYTHON_NAMING_ASCII_DATA, /* sizeof(PyASCIIObject) */
	CPYTHON_NAMING_COMPACT_DATA, /* sizeof(PyCompactUnicodeObject) */
	CPYTHON_NAMING_BYTES_SIZE, /* PyVarObject.ob_size of a bytes object, or of any other one */
	CPYTHON_NAMING_BYTES_DATA, /* PyBytesObject.ob_sval */
	CPYTHON_NAMING_BYTECODE, /* PyCodeObject.co_code_adaptive; only used with the next one */
	CPYTHON_NAMING_TLBC, /* PyCodeObject.co_tlbc; 0: none, as in builds with a GIL */
	CPYTHON_NAMING_NR,
};

/* The formats of line tables. */
enum cpython_lines {
	CPYTHON_LINES_LNOTAB, /* up to 3.9: Objects/lnotab_notes.txt */
	CPYTHON_LINES_LINETABLE, /* 3.10: PEP 626 */
	CPYTHON_LINES_LOCATIONS, /* from 3.11 on: InternalDocs/code_objects.md */
	CPYTHON_NR_LINES,
};

#endif
