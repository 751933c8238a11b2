/* SPDX-License-Identifier: Apache-2.0 */
#include "base/capabilities.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SET_BITS 32 /* in each element of the kernel's arrays */

struct sets {
	uint64_t effective;
	uint64_t permitted;
};

static bool read_sets(struct sets *ret_sets)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	*ret_sets = (struct sets){
		.effective = data[0].effective | (uint64_t)data[1].effective << SET_BITS,
		.permitted = data[0].permitted | (uint64_t)data[1].permitted << SET_BITS,
	};
	return true;
}

/* The inheritable set becomes empty, so the kernel empties the ambient set as well. */
static int write_sets(const struct sets *sets)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
		{ .effective = (uint32_t)sets->effective, .permitted = (uint32_t)sets->permitted },
		{ .effective = (uint32_t)(sets->effective >> SET_BITS),
		  .permitted = (uint32_t)(sets->permitted >> SET_BITS) },
	};

	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

uint64_t capabilities_effective(void)
{
	struct sets sets;

	return read_sets(&sets) ? sets.effective : 0;
}

bool capabilities_include(uint64_t set, uint64_t wanted)
{
	if (set & CAPABILITY(SYS_ADMIN))
		set |= CAPABILITIES_IN_SYS_ADMIN;
	return (set & wanted) == wanted;
}

int capabilities_keep(uint64_t wanted)
{
	struct sets sets;

	if (!read_sets(&sets))
		return -EPERM;
	if (wanted & CAPABILITIES_IN_SYS_ADMIN & ~sets.effective)
		wanted |= CAPABILITY(SYS_ADMIN);
	sets.effective &= wanted;
	sets.permitted = sets.effective;
	return write_sets(&sets);
}

/* EINVAL marks the end of the kernel's list. */
int capabilities_deny_programs(void)
{
	unsigned long capability = 0;

	while (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0)
		capability++;
	return errno == EINVAL ? 0 : -errno;
}

/* If the kernel cannot tell, access counts as refused. */
static bool is_refused_without(const struct sets *sets, uint64_t without, const char *path,
			       int mode)
{
	struct sets lowered = *sets;

	lowered.effective &= ~without;
	if (write_sets(&lowered) < 0)
		return true;
	bool is_refused = syscall(SYS_faccessat2, AT_FDCWD, path, mode, AT_EACCESS) < 0 &&
			  (errno == EACCES || errno == ENOSYS || errno == EPERM);
	return write_sets(sets) < 0 || is_refused;
}

uint64_t capabilities_for_file(const char *path, int mode)
{
	const uint64_t override = CAPABILITY(DAC_OVERRIDE);
	struct sets sets;

	if (!read_sets(&sets) || !(sets.effective & override))
		return 0;
	return is_refused_without(&sets, override, path, mode) ? override : 0;
}

uint64_t capabilities_for_reading(const char *path)
{
	const uint64_t both = CAPABILITY(DAC_OVERRIDE) | CAPABILITY(DAC_READ_SEARCH);
	struct sets sets;

	if (!read_sets(&sets) || !(sets.effective & both) ||
	    !is_refused_without(&sets, both, path, R_OK))
		return 0;
	return sets.effective & CAPABILITY(DAC_READ_SEARCH) ? CAPABILITY(DAC_READ_SEARCH)
							    : CAPABILITY(DAC_OVERRIDE);
}
