/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/cgroup_path.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fileio.h"

#include <fcntl.h>
#include <string.h>

#include "unit.h"

#define UID "585f9714-eb2f-48e0-1997-c21e901f3bee"
#define UID_UNDERSCORED "585f9714_eb2f_48e0_1997_c21e901f3bee"
#define UID_2 "43ef20e3-2778-49ae-92ed-f9f23d29979f"
#define UID_2_UNDERSCORED "43ef20e3_2778_49ae_92ed_f9f23d29979f"
#define STATIC_UID "fd38b59a72cca1ae5023bfe6af2d1fae"
#define ID "5c94e29f6bdc7f1d72bf99a0292c9026e17303b53b83b01285ff6a87aadce0d2"
#define ID_2 "0688797519e7ec2b28544cfc3549d037c69e21a23d850bbb1b38a869f1617b00"
#define ID_63 "5c94e29f6bdc7f1d72bf99a0292c9026e17303b53b83b01285ff6a87aadce0d"
#define ID_UPPER "5C94E29F6BDC7F1D72BF99A0292C9026E17303B53B83B01285FF6A87AADCE0D2"
#define ECS_ID "cb8b2ec6a05b4b1dbf58ee5ab4a1d9b0-2531612879"
#define BURSTABLE "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"
#define X64 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X256 X64 X64 X64 X64

struct path_case {
	const char *path;
	enum cgroup_kind kind;
	const char *pod_uid;
	const char *container_id;
};

static const struct path_case known_layouts[] = {
	/* systemd driver */
	{ BURSTABLE UID_UNDERSCORED ".slice/cri-containerd-" ID ".scope", CGROUP_CONTAINER, UID,
	  ID },
	{ "/kubepods.slice/kubepods-pod" UID_UNDERSCORED ".slice/cri-containerd-" ID ".scope",
	  CGROUP_CONTAINER, UID, ID },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" STATIC_UID
	  ".slice/cri-containerd-" ID ".scope",
	  CGROUP_CONTAINER, STATIC_UID, ID },
	{ BURSTABLE UID_UNDERSCORED ".slice/docker-" ID ".scope", CGROUP_CONTAINER, UID, ID },
	{ BURSTABLE UID_UNDERSCORED ".slice/crio-" ID ".scope", CGROUP_CONTAINER, UID, ID },
	{ BURSTABLE UID_UNDERSCORED ".slice/crio-" ID ".scope/container", CGROUP_CONTAINER, UID,
	  ID },
	{ BURSTABLE UID_UNDERSCORED ".slice/crio-conmon-" ID ".scope", CGROUP_RUNTIME, UID, "" },
	{ BURSTABLE UID_UNDERSCORED ".slice/crio-" ID ".scope/system.slice/web.service",
	  CGROUP_CONTAINER, UID, ID },
	{ "/kubepods.slice/kubepods-pod" UID_UNDERSCORED ".slice/crio-" ID ".scope/container",
	  CGROUP_CONTAINER, UID, ID },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" STATIC_UID
	  ".slice/crio-" ID ".scope/container",
	  CGROUP_CONTAINER, STATIC_UID, ID },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" STATIC_UID
	  ".slice/crio-conmon-" ID ".scope",
	  CGROUP_RUNTIME, STATIC_UID, "" },
	{ BURSTABLE UID_UNDERSCORED ".slice", CGROUP_POD, UID, "" },
	{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
	  "kubelet-kubepods-besteffort-pod" UID_UNDERSCORED ".slice/cri-containerd-" ID ".scope",
	  CGROUP_CONTAINER, UID, ID },
	{ "/k8se2e.slice/k8se2e-kubepods.slice/k8se2e-kubepods-pod" UID_UNDERSCORED
	  ".slice/cri-containerd-" ID ".scope",
	  CGROUP_CONTAINER, UID, ID },

	/* cgroupfs driver */
	{ "/kubepods/burstable/pod" UID "/" ID, CGROUP_CONTAINER, UID, ID },
	{ "/kubepods/pod" UID "/" ID, CGROUP_CONTAINER, UID, ID },
	{ "/kubepods/besteffort/pod" STATIC_UID "/" ID, CGROUP_CONTAINER, STATIC_UID, ID },
	{ "/kubepods/burstable/pod" UID "/crio-" ID, CGROUP_CONTAINER, UID, ID },
	{ "/kubepods/burstable/pod" UID "/crio-" ID "/container", CGROUP_CONTAINER, UID, ID },
	{ "/kubepods/burstable/pod" UID "/crio-conmon-" ID, CGROUP_RUNTIME, UID, "" },
	{ "/kubepods/burstable/pod" UID "/crio-conmon-" ID "/" ID_2, CGROUP_RUNTIME, UID, "" },
	{ "/kubepods/burstable/pod" UID, CGROUP_POD, UID, "" },
	{ "/kubepods/burstable/pod" UID "/", CGROUP_POD, UID, "" },
	{ "/k8se2e/kubepods/burstable/pod" UID "/" ID, CGROUP_CONTAINER, UID, ID },

	/* systemd names given to runc's cgroupfs driver */
	{ "/system.slice/containerd.service/kubepods-burstable-pod" UID_UNDERSCORED
	  ".slice:cri-containerd:" ID,
	  CGROUP_CONTAINER, UID, ID },
	{ "/kubepods-besteffort-pod" STATIC_UID ".slice:cri-containerd:" ID, CGROUP_CONTAINER,
	  STATIC_UID, ID },
	{ "/kubepods-burstable-pod" UID_UNDERSCORED ".slice:crio-conmon:" ID, CGROUP_RUNTIME, UID,
	  "" },
	{ "/system.slice:docker:" ID, CGROUP_CONTAINER_NO_POD, "", ID },

	/* nested: the first container below the first pod */
	{ "/docker/" ID_2
	  "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_UNDERSCORED
	  ".slice/cri-containerd-" ID ".scope",
	  CGROUP_CONTAINER, UID, ID },
	{ "/system.slice/docker-" ID_2 ".scope/kubelet/kubepods/besteffort/pod" UID "/" ID,
	  CGROUP_CONTAINER, UID, ID },
	{ "/docker/" ID_2 "/kubelet/kubepods/besteffort/pod" UID, CGROUP_POD, UID, "" },
	{ "/system.slice/docker-" ID_2 ".scope/kubelet.slice/kubelet-kubepods.slice/"
	  "kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod" UID_UNDERSCORED
	  ".slice/cri-containerd-" ID ".scope",
	  CGROUP_CONTAINER, UID, ID },
	{ "/system.slice/docker-" ID_2 ".scope/kubelet.slice/kubelet-kubepods.slice/"
	  "kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod" STATIC_UID
	  ".slice/cri-containerd-" ID ".scope",
	  CGROUP_CONTAINER, STATIC_UID, ID },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID_2
	  ".scope/container/kubelet.slice/kubelet-kubepods.slice/"
	  "kubelet-kubepods-pod" UID_UNDERSCORED ".slice/cri-containerd-" ID ".scope",
	  CGROUP_CONTAINER_NO_POD, "", ID_2 }, /* a user's own kind */
	{ "/docker/" ID_2 "/kubepods/burstable/pod" UID "/" ID, CGROUP_CONTAINER, UID, ID },
	{ "/docker/" ID_2 "/system.slice/containerd.service", CGROUP_CONTAINER_NO_POD, "", ID_2 },
	{ "/kubepods/burstable/pod" UID "/" ID "/docker/" ID_2, CGROUP_CONTAINER, UID, ID },
	{ "/kubepods/burstable/pod" UID "/" ID "/kubepods/pod" UID_2 "/" ID_2, CGROUP_CONTAINER,
	  UID, ID },
	{ BURSTABLE UID_UNDERSCORED ".slice/cri-containerd-" ID ".scope/system.slice/docker-" ID_2
				    ".scope",
	  CGROUP_CONTAINER, UID, ID },
	{ "/kubepods/burstable/pod" UID "/" ID "/init.scope", CGROUP_CONTAINER, UID, ID },
	{ "/kubepods/burstable/pod" UID "/" ID "/system.slice/nginx.service", CGROUP_CONTAINER, UID,
	  ID },
	{ "/docker/" ID "/docker/" ID_2, CGROUP_CONTAINER_NO_POD, "", ID },

	/* without a pod */
	{ "/docker/" ID, CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/system.slice/docker-" ID ".scope", CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/machine.slice/libpod-" ID ".scope", CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/machine.slice/libpod-" ID ".scope/container", CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope",
	  CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/machine.slice/machine-libpod_pod_" ID_2 ".slice/libpod-" ID ".scope",
	  CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/libpod_parent/libpod-" ID, CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/system.slice/ecstasks-cb8b2ec6a05b4b1dbf58ee5ab4a1d9b0.slice/docker-" ID ".scope",
	  CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/system.slice/nerdctl-" ID ".scope", CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/default/" ID, CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/system.slice/web.service/libpod-payload-" ID, CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/ecs/cb8b2ec6a05b4b1dbf58ee5ab4a1d9b0/" ID, CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/ecs/cb8b2ec6a05b4b1dbf58ee5ab4a1d9b0/" ECS_ID, CGROUP_CONTAINER_NO_POD, "", ECS_ID },

	/* the host */
	{ "/", CGROUP_HOST, "", "" },
	{ "/init.scope", CGROUP_HOST, "", "" },
	{ "/system.slice/kubelet.service", CGROUP_HOST, "", "" },
	/* A user of the machine may call his cgroups what he likes. */
	{ "/user.slice/user-1000.slice/user@1000.service/kubepods/pod" UID "/" ID,
	  CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/user.slice/user-1000.slice/user@1000.service/kubepods.slice/kubepods-pod" UID ".slice",
	  CGROUP_HOST, "", "" },
	/* It takes more than a name that looks like a user's. */
	{ "/user-1000.slice/kubepods/pod" UID "/" ID, CGROUP_CONTAINER, UID, ID },
	{ "/user.slice/user-0.slice/session-1.scope", CGROUP_HOST, "", "" },
	{ "/kubepods.slice/kubepods-burstable.slice", CGROUP_HOST, "", "" },
	{ "/machine.slice/libpod-conmon-" ID ".scope", CGROUP_HOST, "", "" },
	{ "/system.slice/crio-conmon-" ID ".scope", CGROUP_HOST, "", "" },
	{ "/docker/buildkit/n4pf7ixqzvqvchnzw7s0dbcd1", CGROUP_HOST, "", "" },
};

static const struct path_case odd_paths[] = {
	{ "", CGROUP_HOST, "", "" },
	{ "//////", CGROUP_HOST, "", "" },
	{ "kubepods/burstable/pod" UID "/" ID, CGROUP_CONTAINER, UID, ID },
	{ ID, CGROUP_CONTAINER_NO_POD, "", ID },
	{ "//kubepods//pod" UID "//" ID "//", CGROUP_CONTAINER, UID, ID },
	{ "/kubepods/pod" UID "/" ID " (deleted)", CGROUP_CONTAINER, UID, ID },
	{ "/kubepods/pod" UID " (deleted)", CGROUP_POD, UID, "" },
	{ " (deleted)", CGROUP_HOST, "", "" },

	/* relative to a private cgroup namespace */
	{ "/../../pod" UID "/" ID, CGROUP_CONTAINER, UID, ID },
	{ "/../" ID, CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/../cri-containerd-" ID ".scope", CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/../../../kubepods-burstable-pod" UID_UNDERSCORED ".slice/crio-" ID ".scope/container",
	  CGROUP_CONTAINER, UID, ID },
	{ "/..", CGROUP_HOST, "", "" },
	{ "/../../../../../../..", CGROUP_HOST, "", "" },

	/* container IDs that are none */
	{ "/docker/" ID_63, CGROUP_HOST, "", "" },
	{ "/docker/" ID "0", CGROUP_HOST, "", "" },
	{ "/docker/" ID_UPPER, CGROUP_HOST, "", "" },
	{ "/docker/" ID_63 "g", CGROUP_HOST, "", "" },
	{ "/kubepods/pod" UID "/" ID_63, CGROUP_RUNTIME, UID, "" },
	{ "/kubepods/pod" UID "/" ID "0", CGROUP_RUNTIME, UID, "" },
	{ "/kubepods/pod" UID "/" ID_UPPER, CGROUP_RUNTIME, UID, "" },
	{ "/kubepods/pod" UID "/cri-containerd-" ID ".slice", CGROUP_RUNTIME, UID, "" },
	{ "/kubepods/pod" UID "/cri-containerd_" ID ".scope", CGROUP_RUNTIME, UID, "" },
	{ "/kubepods/pod" UID "/x" ID, CGROUP_RUNTIME, UID, "" },
	{ "/kubepods/pod" UID "/.scope", CGROUP_RUNTIME, UID, "" },
	{ "/kubepods/pod" UID ":cri-containerd:" ID_63, CGROUP_RUNTIME, UID, "" },
	{ "/kubepods/pod" UID ":", CGROUP_RUNTIME, UID, "" },
	{ "/kubepods/pod" UID "/kata_overhead/" ID, CGROUP_CONTAINER, UID, ID },
	{ "/ecs/cb8b2ec6a05b4b1dbf58ee5ab4a1d9b0-", CGROUP_HOST, "", "" },
	{ "/ecs/cb8b2ec6a05b4b1dbf58ee5ab4a1d9b0-25316a", CGROUP_HOST, "", "" },
	{ "/ecs/cb8b2ec6a05b4b1dbf58ee5ab4a1d9b0-123456789012345678901", CGROUP_HOST, "", "" },
	{ "/ecs/cb8b2ec6a05b4b1dbf58ee5ab4a1d9-2531612879", CGROUP_HOST, "", "" },

	/* pod UIDs that are none */
	{ "/kubepods/pod", CGROUP_HOST, "", "" },
	{ "/kubepods/pod/" ID, CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/kubepods/pod" UID "0", CGROUP_HOST, "", "" },
	{ "/kubepods/pod585f9714-eb2f-48e0-1997-c21e901f3be", CGROUP_HOST, "", "" },
	{ "/kubepods/pod585f9714-eb2f-48e0-1997-c21e901f3beg", CGROUP_HOST, "", "" },
	{ "/kubepods/pod585F9714-EB2F-48E0-1997-C21E901F3BEE", CGROUP_HOST, "", "" },
	{ "/kubepods/pod585f9714_eb2f-48e0-1997-c21e901f3bee", CGROUP_HOST, "", "" },
	{ "/kubepods/pod585f9714-eb2f-48e0-1997c-21e901f3bee", CGROUP_HOST, "", "" },
	{ "/kubepods/pod585f9714eb2f-48e0-1997-c21e-901f3bee", CGROUP_HOST, "", "" },
	{ "/kubepods/pod" STATIC_UID "0", CGROUP_HOST, "", "" },
	{ "/kubepods/podd38b59a72cca1ae5023bfe6af2d1fae", CGROUP_HOST, "", "" },
	{ "/kubepods/xpod" UID, CGROUP_HOST, "", "" },
	{ "/kubepods/" UID "/" ID, CGROUP_CONTAINER_NO_POD, "", ID },
	{ "/kubepods.slice/kubepods-pod" UID_UNDERSCORED ".scope", CGROUP_HOST, "", "" },
	{ "/kubepods.slice/kubepods-pod" UID_UNDERSCORED ".slice.slice", CGROUP_HOST, "", "" },
	{ "/kubepods.slice/kubepods-pod" UID_2_UNDERSCORED "-pod" UID_UNDERSCORED ".slice",
	  CGROUP_POD, UID, "" },

	/* what no kernel would say */
	{ "/kubepods/pod" UID "/pod" UID_2 "/" ID, CGROUP_CONTAINER, UID, ID },
	{ "/" X256 X256 "/kubepods/pod" UID "/" ID, CGROUP_CONTAINER, UID, ID },
	{ "/\xff\xfe/kubepods/pod" UID "/" ID, CGROUP_CONTAINER, UID, ID },
	{ "/kubepods/pod" UID "\n/" ID, CGROUP_CONTAINER_NO_POD, "", ID },
};

static void check_cases(const struct path_case *cases, size_t nr_cases)
{
	for (size_t i = 0; i < nr_cases; i++) {
		struct cgroup_owner owner;

		cgroup_path_parse(cases[i].path, &owner);
		if (owner.kind != cases[i].kind || strcmp(owner.pod_uid, cases[i].pod_uid) != 0 ||
		    strcmp(owner.container_id, cases[i].container_id) != 0)
			fail_msg("%s: got kind %d, pod \"%s\", container \"%s\"", cases[i].path,
				 (int)owner.kind, owner.pod_uid, owner.container_id);
	}
}

static void every_known_layout_is_read(void **state)
{
	(void)state;
	check_cases(known_layouts, array_len(known_layouts));
}

static void odd_paths_are_read_as_far_as_they_make_sense(void **state)
{
	(void)state;
	check_cases(odd_paths, array_len(odd_paths));
}

static void what_lies_behind_the_longest_path_is_not_read(void **state)
{
	char path[6000];
	struct cgroup_owner owner;

	(void)state;
	memset(path, '/', sizeof(path));
	memcpy(path + sizeof(path) - strlen(ID) - 1, ID, strlen(ID) + 1);
	cgroup_path_parse(path, &owner);
	assert_int_equal(owner.kind, CGROUP_HOST);
}

static void only_the_topmost_directory_of_the_pods_is_their_root(void **state)
{
	static const struct {
		const char *path;
		bool is_root;
	} cases[] = {
		{ "/kubepods", true },
		{ "/kubepods/", true },
		{ "/kubepods.slice", true },
		{ "/kubelet/kubepods", true },
		{ "/kubelet.slice/kubelet-kubepods.slice", true },
		{ "/k8se2e/kubepods", true },
		{ "/k8se2e.slice/k8se2e-kubepods.slice", true },
		{ "/a/b/kubepods", true },
		{ "kubepods", true },
		{ "/../../kubepods", true },
		{ "/docker/" ID "/kubepods", true }, /* a node in a container: kind, minikube */
		{ "/docker/" ID "/kubelet.slice/kubelet-kubepods.slice", true },

		{ "", false },
		{ "/", false },
		{ "/kubelet", false },
		{ "/kubelet.slice", false },
		{ "/kubepods/burstable", false },
		{ "/kubepods/kubepods", false },
		{ "/kubepods.slice/kubepods-burstable.slice", false },
		{ "/kubepods.slice/kubepods-kubepods.slice", false },
		{ "/kubepods.slice/kubepods-pod" UID_UNDERSCORED ".slice", false },
		{ "/kubepods/pod" UID, false },
		{ "/kubepods/pod" UID "/" ID, false },
		{ "/kubepods/pod" UID "/" ID "/kubepods", false },
		{ "/kubepods/pod" UID "/" ID "/kubepods.slice", false },
		{ "/kubepods-burstable.slice", false },
		{ "/kubepods.service", false },
		{ "/xkubepods", false },
		{ "/xkubepods.slice", false },
		{ "/kubepods (deleted)", false },
		{ "/Kubepods", false },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++)
		if (cgroup_path_is_pods_root(cases[i].path) != cases[i].is_root)
			fail_msg("%s", cases[i].path);
}

static void what_lies_below_a_container_is_nested(void **state)
{
	static const struct {
		const char *path;
		bool is_nested;
	} cases[] = {
		{ "/kubepods/pod" UID "/" ID, false },
		{ "/kubepods/pod" UID "/" ID "/", false },
		{ "/kubepods/pod" UID "/" ID "/x", true },
		{ "/kubepods/pod" UID "/" ID "/x/y", true },
		{ "/kubepods/pod" UID "/" ID "/" ID_2, true },
		{ "/kubepods/pod" UID "/" ID "/pod" UID_2 "/" ID_2, true },
		{ "/kubepods/pod" UID, false },
		{ "/kubepods/pod" UID "/helper/x", false },
		{ "/docker/" ID, false },
		{ "/docker/" ID "/init.scope", true },
		{ "/docker/" ID "/kubepods/pod" UID, false },
		{ "/docker/" ID "/kubepods/pod" UID "/" ID_2, false },
		{ "/docker/" ID "/kubepods/pod" UID "/" ID_2 "/x", true },
		{ "/system.slice/ssh.service", false },
		{ "/", false },
	};
	struct cgroup_owner owner;

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		cgroup_path_parse(cases[i].path, &owner);
		if (owner.is_nested != cases[i].is_nested)
			fail_msg("%s", cases[i].path);
	}
}

/* A node's tree as `find -type d` printed it: 11 pods, each with containers and a sandbox. */
static void every_directory_of_a_recorded_node_is_told_apart(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(1 << 16);
	size_t nr_of_kind[CGROUP_RUNTIME + 1] = { 0 }, nr_roots = 0;

	(void)state;
	assert_int_equal(file_read_at(AT_FDCWD, FIXTURES_DIR "/kubelet/cgroups-1.36.txt", &text),
			 0);
	for (char *line = text.data, *end; (end = strchr(line, '\n')); line = end + 1) {
		struct cgroup_owner owner;

		*end = '\0';
		cgroup_path_parse(line, &owner);
		nr_of_kind[owner.kind]++;
		nr_roots += cgroup_path_is_pods_root(line);
	}
	assert_int_equal(nr_roots, 1);
	assert_int_equal(nr_of_kind[CGROUP_HOST], 4);
	assert_int_equal(nr_of_kind[CGROUP_POD], 11);
	assert_int_equal(nr_of_kind[CGROUP_CONTAINER], 21);
	assert_int_equal(nr_of_kind[CGROUP_CONTAINER_NO_POD], 0);
	assert_int_equal(nr_of_kind[CGROUP_RUNTIME], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_known_layout_is_read),
		cmocka_unit_test(odd_paths_are_read_as_far_as_they_make_sense),
		cmocka_unit_test(what_lies_behind_the_longest_path_is_not_read),
		cmocka_unit_test(only_the_topmost_directory_of_the_pods_is_their_root),
		cmocka_unit_test(what_lies_below_a_container_is_nested),
		cmocka_unit_test(every_directory_of_a_recorded_node_is_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
