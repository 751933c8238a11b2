/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/cgroup_service.h"

#include "base/err.h"
#include "base/utf8.h"

#include <string.h>

#include "unit.h"

#define ID "5c94e29f6bdc7f1d72bf99a0292c9026e17303b53b83b01285ff6a87aadce0d2"
#define UUID "6a1f3c2e-9f0b-4f36-8a5e-0d4c2b1a7e99"
#define ECS_ID "cb8b2ec6a05b4b1dbf58ee5ab4a1d9b0-2531612879"
#define USER "/user.slice/user-1000.slice/user@1000.service"
#define POD "/kubepods/pod585f9714-eb2f-48e0-1997-c21e901f3bee"
#define POD_SLICE                                                                                  \
	"/kubepods.slice/kubepods-burstable.slice/"                                                \
	"kubepods-burstable-pod585f9714_eb2f_48e0_1997_c21e901f3bee.slice"
#define X64 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

struct service_case {
	const char *path;
	const char *name;
	const char *runtime;
};

static const struct service_case known_paths[] = {
	/* services of the system, as Debian, Fedora, Ubuntu and Bottlerocket have them */
	{ "/system.slice/ssh.service", "ssh.service", "" },
	{ "/system.slice/systemd-udevd.service/udev", "systemd-udevd.service", "" },
	{ "/system.slice/containerd.service", "containerd.service", "" },
	{ "/system.slice/docker.service", "docker.service", "" },
	{ "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service", "" },
	{ "/system.slice/system-postgresql.slice/postgresql@15-main.service",
	  "postgresql@15-main.service", "" },
	{ "/system.slice/system-openvpn\\x2dclient.slice/openvpn-client@a\\x2db.service",
	  "openvpn-client@a-b.service", "" },
	{ "/system.slice/system-modprobe.slice/modprobe@fuse.service", "modprobe@fuse.service",
	  "" },
	{ "/runtime.slice/containerd.service", "containerd.service", "" },
	{ "/azure.slice/walinuxagent.service", "walinuxagent.service", "" },
	{ "/system.slice/snap.microk8s.daemon-kubelite.service",
	  "snap.microk8s.daemon-kubelite.service", "" },
	{ "/system.slice/k3s.service", "k3s.service", "" },
	{ "/system.slice/app-server.service", "app-server.service", "" },
	{ "/system.slice/system-app\\x2dworker.slice/app-worker@1.service", "app-worker@1.service",
	  "" },
	{ "/system.slice/mnt-data.mount", "mnt-data.mount", "" },
	{ "/system.slice/dbus.socket", "dbus.socket", "" },
	{ "/system.slice/run-u42.service", "run-u42.service", "" },
	{ "/system.slice/ssh.service (deleted)", "ssh.service", "" },

	/* a unit for each connection */
	{ "/system.slice/system-sshd.slice/sshd@7-10.0.0.1:22-10.0.0.2:51234.service",
	  "sshd@.service", "" },
	{ "/system.slice/system-sshd.slice/sshd@12-fe80::1:22-fe80::2:51234.service",
	  "sshd@.service", "" },
	{ "/system.slice/system-systemd\\x2dcoredump.slice/systemd-coredump@3-1234-0.service",
	  "systemd-coredump@.service", "" },
	{ "/system.slice/system-systemd\\x2dcoredump.slice/"
	  "systemd-coredump@0-1234_5678-0.service",
	  "systemd-coredump@.service", "" },

	/* users */
	{ "/user.slice/user-1000.slice", "user-1000", "" },
	{ "/user.slice/user-1000.slice/session-3.scope", "user-1000/session-3.scope", "" },
	{ USER, "user-1000", "" },
	{ USER "/init.scope", "user-1000", "" },
	{ USER "/session.slice/pipewire.service", "user-1000/pipewire.service", "" },
	{ USER "/app.slice/app-gnome-firefox-1234.scope", "user-1000/firefox", "" },
	{ USER "/app.slice/app-gnome-org.gnome.Evince-6789.scope", "user-1000/org.gnome.Evince",
	  "" },
	{ USER "/app.slice/app-flatpak-org.mozilla.firefox-2155.scope",
	  "user-1000/org.mozilla.firefox", "" },
	{ USER "/app.slice/app-org.chromium.Chromium-4711.scope", "user-1000/org.chromium.Chromium",
	  "" },
	{ USER "/app.slice/app-gnome-gnome\\x2dterminal-99.scope", "user-1000/gnome-terminal", "" },
	{ USER "/app.slice/app-KDE-org.kde.konsole@1f2e3d.service", "user-1000/org.kde.konsole",
	  "" },
	{ USER "/app.slice/app-org.gnome.Evolution\\x2dalarm\\x2dnotify@autostart.service",
	  "user-1000/org.gnome.Evolution-alarm-notify", "" },
	{ USER "/app.slice/app-org.gnome.Terminal.slice/vte-spawn-" UUID ".scope",
	  "user-1000/vte-spawn", "" },
	{ USER "/app.slice/app-org.gnome.Terminal.slice/gnome-terminal-server.service",
	  "user-1000/gnome-terminal-server.service", "" },
	{ USER "/tmux-spawn-" UUID ".scope", "user-1000/tmux-spawn", "" },
	{ USER "/app.slice/snap.firefox.firefox-" UUID ".scope", "user-1000/snap.firefox.firefox",
	  "" },
	{ USER "/snap.code.code." UUID ".scope", "user-1000/snap.code.code", "" },
	{ USER "/app.slice/dbus-:1.2-org.gnome.Maps@0.service", "user-1000/org.gnome.Maps", "" },
	{ "/user.slice/user-0.slice/user@0.service/app.slice/a.service/user@5.service",
	  "user-0/a.service", "" },
	{ "/user@1000.service/app.slice/a.service", "user-1000/a.service", "" },

	/* containers with an ID */
	{ "/docker/" ID, "docker-5c94e29f6bdc", "docker" },
	{ "/docker/" ID "/init.scope", "docker-5c94e29f6bdc", "docker" },
	{ "/docker/" ID "/system.slice/nginx.service", "docker-5c94e29f6bdc", "docker" },
	{ "/system.slice/docker-" ID ".scope", "docker-5c94e29f6bdc", "docker" },
	{ "/system.slice:docker:" ID, "docker-5c94e29f6bdc", "docker" },
	{ "/machine.slice/libpod-" ID ".scope", "podman-5c94e29f6bdc", "podman" },
	{ "/machine.slice/libpod-" ID ".scope/container", "podman-5c94e29f6bdc", "podman" },
	{ "/libpod_parent/libpod-" ID, "podman-5c94e29f6bdc", "podman" },
	{ USER "/user.slice/libpod-" ID ".scope/container", "user-1000/podman-5c94e29f6bdc",
	  "podman" },
	{ USER "/user.slice/docker-" ID ".scope", "user-1000/docker-5c94e29f6bdc", "docker" },
	{ "/system.slice/web.service/libpod-payload-" ID, "web.service", "podman" },
	{ USER "/app.slice/web.service/libpod-payload-" ID, "user-1000/web.service", "podman" },
	{ "/system.slice/web.service/runtime", "web.service", "" },
	{ "/system.slice/nerdctl-" ID ".scope", "containerd-5c94e29f6bdc", "containerd" },
	{ "/default/" ID, "container-5c94e29f6bdc", "" },
	{ "/actions_job/" ID, "container-5c94e29f6bdc", "" },
	{ "/ecs/cb8b2ec6a05b4b1dbf58ee5ab4a1d9b0/" ECS_ID, "container-" ECS_ID, "" },

	/* what watches containers, and what builds them */
	{ "/machine.slice/libpod-conmon-" ID ".scope", "conmon", "" },
	{ USER "/user.slice/libpod-conmon-" ID ".scope", "user-1000/conmon", "" },
	{ "/libpod_parent/conmon", "conmon", "" },
	{ "/docker/buildkit/n4pf7ixqzvqvchnzw7s0dbcd1", "buildkit", "" },
	{ "/buildkit/n4pf7ixqzvqvchnzw7s0dbcd1", "buildkit", "" },
	{ "/system.slice/buildkit.service", "buildkit.service", "" },

	/* containers and machines with a name */
	{ "/lxc.payload.web", "lxc-web", "lxc" },
	{ "/lxc.payload.web/system.slice/nginx.service", "lxc-web", "lxc" },
	{ "/lxc.payload/web", "lxc-web", "lxc" },
	{ "/lxc/101/ns/system.slice/nginx.service", "lxc-101", "lxc" },
	{ "/lxc.monitor.web", "lxc-monitor", "" },
	{ "/lxc.monitor/101", "lxc-monitor", "" },
	{ USER "/lxc.payload.web/init.scope", "user-1000/lxc-web", "lxc" },
	{ "/machine.slice/systemd-nspawn@debian.service/payload/system.slice/a.service",
	  "nspawn-debian", "nspawn" },
	{ "/machine.slice/systemd-nspawn@my\\x2ddebian.service", "nspawn-my-debian", "nspawn" },
	{ "/machine.slice/machine-debian.scope", "machine-debian", "" },
	{ "/machine.slice/machine-qemu\\x2d3\\x2dwindows\\x2d11.scope/libvirt/vcpu0",
	  "qemu-windows-11", "" },
	{ "/machine/qemu-3-web.libvirt-qemu/emulator", "qemu-web", "" },
	{ "/machine.slice/machine-lxc\\x2d4711\\x2dweb.scope", "lxc-web", "lxc" },

	/* without systemd */
	{ "/openrc.sshd", "sshd", "" },
	{ "/podruntime/kubelet", "kubelet", "" },
	{ "/podruntime/etcd", "etcd", "" },
	{ "/system/apid", "apid", "" },

	/* the host's own */
	{ "/", "host", "" },
	{ "/init.scope", "host", "" },
	{ "/init", "host", "" },
	{ "/system.slice", "host", "" },
	{ "/kubepods.slice/kubepods-burstable.slice", "host", "" },
};

static const struct service_case odd_paths[] = {
	{ "", "host", "" },
	{ "////", "host", "" },
	{ "/..", "host", "" },
	{ "/../../system.slice/ssh.service", "ssh.service", "" },
	{ " (deleted)", "host", "" },
	{ "ssh.service", "ssh.service", "" },

	/* names that are only beginnings and ends */
	{ "/.service", "host", "" },
	{ "/.scope", "host", "" },
	{ "/user-.slice", "host", "" },
	{ "/user@.service", "user@.service", "" },
	{ "/user-.slice/user@.service/a.service", "user@.service", "" },
	{ "/systemd-nspawn@.service", "systemd-nspawn@.service", "" },
	{ "/lxc.payload.", "host", "" },
	{ "/lxc.payload", "host", "" },
	{ "/lxc/", "host", "" },
	{ "/lxc//x", "host", "" },
	{ "/lxc.payloadx", "host", "" },
	{ "/podruntime", "host", "" },
	{ "/openrc.", "host", "" },
	{ "/machine-.scope", "machine-.scope", "" },
	{ "/machine-qemu\\x2d.scope", "machine-qemu-", "" },
	{ "/machine-qemu\\x2d3.scope", "qemu-", "" },
	{ "/machine-qemu\\x2dweb.scope", "qemu-web", "" },
	{ USER "/app-.scope", "user-1000/app-.scope", "" },
	{ USER "/app-.service", "user-1000/app-.service", "" },
	{ USER "/app--.scope", "user-1000/app--.scope", "" },
	{ USER "/app-firefox.scope", "user-1000/firefox", "" },
	{ USER "/app-@.service", "user-1000/app-@.service", "" },
	{ USER "/app-a-@x.service", "user-1000/app-a-@x.service", "" },
	{ "/dbus-:.service", ":", "" },
	{ "/-" UUID ".scope", "-" UUID ".scope", "" },
	{ "/x_" UUID ".scope", "x_" UUID ".scope", "" },
	{ "/x-" UUID ".service", "x-" UUID ".service", "" },
	{ "/@.service", "@.service", "" },
	{ "/a@1-2.service", "a@1-2.service", "" },
	{ "/a@1--.service", "a@1--.service", "" },
	{ "/a@-1-2.service", "a@-1-2.service", "" },
	{ "/a@1-2-main.service", "a@1-2-main.service", "" },

	/* escapes that are none */
	{ "/a\\.service", "a\\.service", "" },
	{ "/a\\x.service", "a\\x.service", "" },
	{ "/a\\x2.service", "a\\x2.service", "" },
	{ "/a\\x2g.service", "a\\x2g.service", "" },
	{ "/a\\x2D.service", "a\\x2D.service", "" },
	{ "/a\\x00.service", "a\\x00.service", "" },
	{ "/a\\x5cx2d.service", "a\\x2d.service", "" },

	/* what cannot be shown */
	{ "/a\x01\n\x7f.service", "a\\x01\\x0a\\x7f.service", "" },
	{ "/a\\x1b[31m.service", "a\\x1b[31m.service", "" },
	{ "/a\xff\xfe.service", "a\\xff\\xfe.service", "" },
	{ "/a\xc2\x9b.service", "a\\xc2\\x9b.service", "" },
	{ "/a\\xc2\\x9b.service", "a\\xc2\\x9b.service", "" },
	{ "/\xc3\xa4.service", "\xc3\xa4.service", "" },
	{ "/\\xc3\\xa4.service", "\xc3\xa4.service", "" },
	{ "/\\xc3.service", "\\xc3.service", "" },
	{ "/user-\x1b.slice/a.service", "user-\\x1b/a.service", "" },
	{ "/lxc/\xff", "lxc-\\xff", "lxc" },

	/* a user's directories never look like the system's */
	{ USER "/docker/" ID, "user-1000/docker-5c94e29f6bdc", "docker" },
	{ USER "/user-0.slice/user@0.service/ssh.service", "user-1000/ssh.service", "" },
	{ USER "/machine-web.scope", "user-1000/machine-web", "" },

	/* of a pod only the runtime is told */
	{ POD_SLICE "/cri-containerd-" ID ".scope", "containerd-5c94e29f6bdc", "containerd" },
	{ POD_SLICE "/crio-" ID ".scope/container", "cri-o-5c94e29f6bdc", "cri-o" },
	{ "/kubepods-pod585f9714_eb2f_48e0_1997_c21e901f3bee.slice:cri-containerd:" ID,
	  "containerd-5c94e29f6bdc", "containerd" },
	{ POD "/" ID, "container-5c94e29f6bdc", "" },
	{ POD "/crio-" ID, "cri-o-5c94e29f6bdc", "cri-o" },
};

static void name(const char *path, struct cgroup_service *ret_service)
{
	struct cgroup_owner owner;

	cgroup_path_parse(path, &owner);
	cgroup_service_parse(path, &owner, ret_service);
}

static void check_cases(const struct service_case *cases, size_t nr_cases)
{
	for (size_t i = 0; i < nr_cases; i++) {
		struct cgroup_service service;

		name(cases[i].path, &service);
		if (strcmp(service.name, cases[i].name) != 0 ||
		    strcmp(service.runtime, cases[i].runtime) != 0)
			fail_msg("%s: got \"%s\" of \"%s\"", cases[i].path, service.name,
				 service.runtime);
	}
}

static void what_distributions_run_has_a_name(void **state)
{
	(void)state;
	check_cases(known_paths, array_len(known_paths));
}

static void odd_paths_get_a_name_that_can_be_shown(void **state)
{
	(void)state;
	check_cases(odd_paths, array_len(odd_paths));
}

static void a_long_name_is_cut_between_two_characters(void **state)
{
	char path[1024] = "/user-1.slice/\xc3\xa4";
	struct cgroup_service service;

	(void)state;
	for (int i = 0; i < 200; i++)
		memcpy(path + strlen(path), "\xc3\xa4", 3);
	memcpy(path + strlen(path), ".service", sizeof(".service"));
	name(path, &service);
	assert_int_equal(strlen(service.name), CGROUP_SERVICE_MAX);
	assert_true(utf8_is_valid(service.name));

	name("/" X64 X64 X64 X64 X64 X64 ".service", &service);
	assert_int_equal(strlen(service.name), CGROUP_SERVICE_MAX);
}

static void what_lies_behind_the_longest_path_is_not_read(void **state)
{
	static const char service_name[] = "/a.service";
	char path[6000];
	struct cgroup_service service;

	(void)state;
	memset(path, '/', sizeof(path));
	memcpy(path + sizeof(path) - sizeof(service_name), service_name, sizeof(service_name));
	name(path, &service);
	assert_string_equal(service.name, "host");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_distributions_run_has_a_name),
		cmocka_unit_test(odd_paths_get_a_name_that_can_be_shown),
		cmocka_unit_test(a_long_name_is_cut_between_two_characters),
		cmocka_unit_test(what_lies_behind_the_longest_path_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
