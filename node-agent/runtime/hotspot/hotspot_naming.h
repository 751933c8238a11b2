/* SPDX-License-Identifier: Apache-2.0 */
/* The values by which the frames of a JVM are named: indexes of runtime_found.naming. Offsets in
 * bytes unless said otherwise; HOTSPOT_NAMING_NONE: there is no such field. */
#ifndef RUNTIME_HOTSPOT_HOTSPOT_NAMING_H
#define RUNTIME_HOTSPOT_HOTSPOT_NAMING_H

#include <stdint.h>

enum hotspot_naming {
	HOTSPOT_NAMING_NR_EXCLUDED, /* see struct unsigned5_reader */
	HOTSPOT_NAMING_BLOB_BYTES, /* sizeof(CodeBlob), sizeof(nmethod) */
	HOTSPOT_NAMING_NMETHOD_BYTES,
	HOTSPOT_NAMING_BLOB_NAME, /* CodeBlob._name */
	HOTSPOT_NAMING_COMPILE_ID, /* nmethod._compile_id and so on */
	HOTSPOT_NAMING_NMETHOD_METHOD,
	/* Tables of an nmethod, each as hotspot_place(). */
	HOTSPOT_NAMING_PCS,
	HOTSPOT_NAMING_PCS_END,
	HOTSPOT_NAMING_SCOPES,
	HOTSPOT_NAMING_SCOPES_END,
	HOTSPOT_NAMING_METADATA,
	HOTSPOT_NAMING_METHOD_CONST, /* Method._constMethod */
	HOTSPOT_NAMING_CONST_BYTES, /* sizeof(ConstMethod) */
	HOTSPOT_NAMING_CONST_CONSTANTS, /* ConstMethod._constants and so on */
	HOTSPOT_NAMING_CONST_SIZE,
	HOTSPOT_NAMING_CONST_FLAGS,
	HOTSPOT_NAMING_CONST_CODE_SIZE,
	HOTSPOT_NAMING_CONST_NAME_INDEX,
	HOTSPOT_NAMING_POOL_BYTES, /* sizeof(ConstantPool) */
	HOTSPOT_NAMING_POOL_HOLDER, /* ConstantPool._pool_holder and so on */
	HOTSPOT_NAMING_POOL_LENGTH,
	HOTSPOT_NAMING_POOL_SOURCE_FILE, /* from 16 on; before: */
	HOTSPOT_NAMING_KLASS_SOURCE_FILE, /* InstanceKlass._source_file_name_index */
	HOTSPOT_NAMING_KLASS_NAME,
	HOTSPOT_NAMING_SYMBOL_LENGTH,
	HOTSPOT_NAMING_SYMBOL_BODY,
	HOTSPOT_NAMING_CODE, /* of a blob, as hotspot_place() */
	HOTSPOT_NAMING_NR,
};

#define HOTSPOT_NAMING_NONE UINT64_MAX
#define HOTSPOT_PLACE_NONE 0xffffU

/* Packs a place: the sum of a pointer in the nmethod (or the address of the nmethod), an i32 in it
 * and a u16 in it. Each of the three is an offset in the nmethod or HOTSPOT_PLACE_NONE. */
static inline uint64_t hotspot_place(uint64_t pointer, uint64_t number, uint64_t short_number)
{
	return (pointer & 0xffff) | (number & 0xffff) << 16 | (short_number & 0xffff) << 32;
}

#endif
