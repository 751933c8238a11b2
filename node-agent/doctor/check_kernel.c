/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the kernel's version and whether it shows the addresses of its functions. The version does
 * not decide whether a feature works: check_bpf.c and check_capture.c try the features. */
#include "base/cleanup.h"
#include "base/kernel_file.h"
#include "base/parse.h"
#include "doctor/doctor.h"

#include <limits.h>
#include <string.h>

#define KALLSYMS_PROBE_BYTES 65536
#define SMALL_FILE_BYTES 256

/* The oldest kernel that each capture backend supports. */
struct kernel_version {
	uint64_t major, minor;
};
static const struct kernel_version oldest_bpf = { 5, 10 }, oldest_perf = { 3, 10 };

/* Returns -1 if the setting is not known. */
static int read_kptr_restrict(const struct doctor_host *host)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(SMALL_FILE_BYTES);
	uint32_t value;

	if (kernel_file_read_line(host->proc_dir, "sys/kernel/kptr_restrict", "", &text) < 0 ||
	    parse_u32(strbuf_str(&text), &value) < 0 || value > INT_MAX)
		return -1;
	return (int)value;
}

static int parse_release(const char *release, struct kernel_version *ret_version)
{
	const char *end = release + strlen(release);
	struct kernel_version version;

	if (parse_digits(&release, end, 10, &version.major) < 0 || *release != '.')
		return -EBADMSG;
	release++;
	if (parse_digits(&release, end, 10, &version.minor) < 0)
		return -EBADMSG;
	*ret_version = version;
	return 0;
}

static bool is_older(const struct kernel_version *version, const struct kernel_version *oldest)
{
	return version->major < oldest->major ||
	       (version->major == oldest->major && version->minor < oldest->minor);
}

void check_kernel(const struct doctor_host *host, struct doctor_report *report)
{
	struct kernel_version version;

	if (parse_release(host->kernel_release, &version) < 0)
		doctor_report_add(report, FINDING_WARN, "kernel", "report the output of uname -r",
				  "\"%s\" is not a known version", host->kernel_release);
	else if (is_older(&version, &oldest_perf))
		doctor_report_add(report, FINDING_WARN, "kernel", "boot Linux 5.10 or newer",
				  "%s is older than 3.10, the oldest supported version",
				  host->kernel_release);
	else if (is_older(&version, &oldest_bpf))
		doctor_report_add(report, FINDING_WARN, "kernel", "boot Linux 5.10 or newer",
				  "%s: the capture backend bpf needs 5.10 or newer",
				  host->kernel_release);
	else
		doctor_report_ok(report, "kernel", "%s", host->kernel_release);
}

/* Returns whether any line "ADDRESS TYPE NAME" has an address other than 0. */
static bool has_addresses(const char *kallsyms)
{
	for (const char *line = kallsyms; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (line[strspn(line, "0")] != ' ' && strspn(line, "0123456789abcdef") > 0)
			return true;
	}
	return false;
}

void check_kernel_symbols(const struct doctor_host *host, struct doctor_report *report)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(KALLSYMS_PROBE_BYTES);
	int restrict_level = read_kptr_restrict(host);

	int r = kernel_file_read_head(host->proc_dir, "kallsyms", &text);
	if (r == 0 && has_addresses(strbuf_str(&text)))
		doctor_report_ok(report, "kernel symbols", "/proc/kallsyms has addresses");
	else if (r == 0)
		doctor_report_add(report, FINDING_WARN, "kernel symbols",
				  restrict_level > 1 ? "sysctl kernel.kptr_restrict=1"
						     : "run as root, or add the capability SYSLOG",
				  "addresses are hidden (kernel.kptr_restrict is %d): kernel "
				  "functions have no names",
				  restrict_level);
	else
		doctor_report_add(report, FINDING_WARN, "kernel symbols",
				  "boot a kernel with CONFIG_KALLSYMS=y",
				  "/proc/kallsyms: %s: kernel functions have no names",
				  strerror(-r));
}
