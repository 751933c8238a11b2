# SPDX-License-Identifier: Apache-2.0
"""The configuration files of the parts of a node."""

import spin

NODE_IP = "10.99.0.2"
SERVICE_IP = "10.96.0.1"
SERVER = f"https://{NODE_IP}:6443"
KUBELET = f"https://{NODE_IP}:10250"
ETCD = "http://127.0.0.1:2379"
RUNTIME = "/run/containerd/containerd.sock"
NAMESPACE = "e2e-accounts"
READER, NOBODY = "agent", "nobody"

# Without CAP_SYS_RESOURCE, which a test machine may lack, no process may lower its oom_score_adj.
CONTAINERD = """version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
oom_score = 0
disabled_plugins = ["io.containerd.internal.v1.tracing"]
[grpc]
  address = "{runtime}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{image}"
  disable_apparmor = true
  restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "{plugins}"
  conf_dir = "{directory}/cni"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = false
"""

POD_NETWORK = {
    "cniVersion": "0.4.0", "name": "pods", "type": "bridge", "bridge": "cni0", "isGateway": True,
    "ipMasq": False, "ipam": {"type": "host-local", "subnet": "10.88.0.0/16",
                              "routes": [{"dst": "0.0.0.0/0"}], "dataDir": "/run/cni-ipam"}}


def containerd(directory, plugins):
    return CONTAINERD.format(runtime=RUNTIME, image=spin.IMAGE, plugins=plugins,
                             directory=directory)


def etcd(directory):
    return ["--data-dir", f"{directory}/etcd", "--unsafe-no-fsync", "--log-level=warn",
            f"--listen-client-urls={ETCD}", f"--advertise-client-urls={ETCD}",
            "--listen-peer-urls=http://127.0.0.1:2380"]


def api_server(pki):
    return [f"--etcd-servers={ETCD}", f"--advertise-address={NODE_IP}", "--secure-port=6443",
            f"--tls-cert-file={pki.path('server.crt')}",
            f"--tls-private-key-file={pki.path('server.key')}",
            f"--client-ca-file={pki.path('ca.crt')}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={pki.path('accounts.crt')}",
            f"--service-account-signing-key-file={pki.path('accounts.key')}",
            "--service-cluster-ip-range=10.96.0.0/16", "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
            f"--kubelet-certificate-authority={pki.path('ca.crt')}",
            f"--kubelet-client-certificate={pki.path('kubelet-client.crt')}",
            f"--kubelet-client-key={pki.path('kubelet-client.key')}",
            "--kubelet-preferred-address-types=InternalIP", "--profiling=false"]


def client_options(login):
    """The limits of clients are for big clusters; the usual ones cost seconds at the start."""
    return [f"--kubeconfig={login}", "--leader-elect=false", "--bind-address=127.0.0.1",
            "--kube-api-qps=500", "--kube-api-burst=1000"]


def controller_manager(pki, login):
    return client_options(login) + [
        f"--authentication-kubeconfig={login}", f"--authorization-kubeconfig={login}",
        "--authentication-skip-lookup=true", "--use-service-account-credentials=true",
        f"--service-account-private-key-file={pki.path('accounts.key')}",
        f"--root-ca-file={pki.path('ca.crt')}"]


def kubelet(pki, cgroup_root):
    """The webhooks forget soon, so that a test need not wait for a revoked token."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "containerRuntimeEndpoint": f"unix://{RUNTIME}", "address": NODE_IP,
        "authentication": {"anonymous": {"enabled": False},
                           "webhook": {"enabled": True, "cacheTTL": "2s"},
                           "x509": {"clientCAFile": pki.path("ca.crt")}},
        "authorization": {"mode": "Webhook", "webhook": {"cacheAuthorizedTTL": "2s",
                                                         "cacheUnauthorizedTTL": "2s"}},
        "tlsCertFile": pki.path("kubelet-server.crt"),
        "tlsPrivateKeyFile": pki.path("kubelet-server.key"),
        "cgroupDriver": "cgroupfs", "cgroupRoot": cgroup_root, "failCgroupV1": False,
        "failSwapOn": False, "oomScoreAdj": 0, "makeIPTablesUtilChains": False,
        "staticPodPath": "/var/lib/kubelet/manifests", "resolvConf": "",
        "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%",
                         "nodefs.inodesFree": "1%", "imagefs.available": "1%"},
        "imageGCHighThresholdPercent": 100, "imageGCLowThresholdPercent": 99}


def role_binding(name, role, subject):
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": name}, "subjects": [subject],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": role}}


def accounts():
    """Returns the objects that let the API server and one of two accounts read the kubelet's
    pods."""
    user = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "e2e-api-server"}
    agent = {"kind": "ServiceAccount", "name": READER, "namespace": NAMESPACE}
    items = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}]
    items += [{"apiVersion": "v1", "kind": "ServiceAccount",
               "metadata": {"name": name, "namespace": NAMESPACE}} for name in (READER, NOBODY)]
    items += [{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
               "metadata": {"name": "flamelet-pods"},
               "rules": [{"apiGroups": [""], "resources": ["nodes/pods"], "verbs": ["get"]}]},
              role_binding("flamelet-pods", "flamelet-pods", agent),
              role_binding("api-server-kubelet", "system:kubelet-api-admin", user)]
    return {"apiVersion": "v1", "kind": "List", "items": items}
