/* SPDX-License-Identifier: Apache-2.0 */
#include "dwfl_names.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdlib.h>

/* NOLINTNEXTLINE(readability-function-size): libdwfl wants these parameters */
static int find_no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			     const char *file_name, const char *link_name, GElf_Word link_crc,
			     char **ret_name)
{
	(void)module, (void)data, (void)name, (void)base, (void)file_name, (void)link_name,
		(void)link_crc, (void)ret_name;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = find_no_debuginfo,
	.section_address = dwfl_offline_section_address,
};

int dwfl_names_open(const char *path, struct dwfl_names *ret_names)
{
	struct dwfl_names names = { .dwfl = dwfl_begin(&callbacks) };

	names.module = dwfl_report_offline(names.dwfl, path, path, -1);
	dwfl_report_end(names.dwfl, NULL, NULL);
	if (!names.module || !dwfl_module_getelf(names.module, &names.bias)) {
		dwfl_names_close(&names);
		return -EBADMSG;
	}
	*ret_names = names;
	return 0;
}

void dwfl_names_close(struct dwfl_names *names)
{
	dwfl_end(names->dwfl);
	*names = (struct dwfl_names){ 0 };
}

size_t dwfl_names_load(const struct dwfl_names *names)
{
	int nr = dwfl_module_getsymtab(names->module);

	return nr > 0 ? (size_t)nr : 0;
}

const char *dwfl_names_find(const struct dwfl_names *names, uint64_t address)
{
	GElf_Off offset;
	GElf_Sym symbol;

	return dwfl_module_addrinfo(names->module, address + names->bias, &offset, &symbol, NULL,
				    NULL, NULL);
}

static bool is_function(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	int tag = dwarf_tag(die);

	if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
		return false;
	if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute))
		return dwarf_diename(die) != NULL;
	return dwarf_formstring(&attribute) != NULL;
}

static size_t count_functions(Dwarf_Die *innermost)
{
	Dwarf_Die *scopes = NULL;
	size_t nr_functions = 0;

	int nr_scopes = dwarf_getscopes_die(innermost, &scopes);
	for (int i = 0; i < nr_scopes; i++)
		nr_functions += is_function(&scopes[i]);
	free(scopes);
	return nr_functions;
}

/* Without .debug_aranges, which clang and rustc do not write, all units are asked. */
static Dwarf_Die *find_unit(const struct dwfl_names *names, Dwarf_Addr at, Dwarf_Addr *ret_bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(names->module, at, ret_bias);

	if (unit)
		return unit;
	while ((unit = dwfl_module_nextcu(names->module, unit, ret_bias)) != NULL)
		if (dwarf_haspc(unit, at - *ret_bias) == 1)
			return unit;
	return NULL;
}

size_t dwfl_names_count_lines(const struct dwfl_names *names, uint64_t address)
{
	Dwarf_Addr bias, at = address + names->bias;
	Dwarf_Die *unit = find_unit(names, at, &bias);
	Dwarf_Line *line = unit ? dwarf_getsrc_die(unit, at - bias) : NULL;
	Dwarf_Die *scopes = NULL;
	int number;

	if (line && dwarf_linesrc(line, NULL, NULL))
		dwarf_lineno(line, &number);
	int nr_scopes = unit ? dwarf_getscopes(unit, at - bias, &scopes) : 0;
	size_t nr_functions = nr_scopes > 0 ? count_functions(&scopes[0]) : 0;
	free(scopes);
	return nr_functions;
}

size_t dwfl_names_debug_info_bytes(const struct dwfl_names *names)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(names->module, &bias);
	Dwarf_Off offset = 0, next;
	size_t header_bytes;

	while (dwarf && dwarf_nextcu(dwarf, offset, &next, &header_bytes, NULL, NULL, NULL) == 0)
		offset = next;
	return offset;
}
