#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Flamelet on a kind cluster, for a CI that has docker: builds and loads the image, installs the chart with a
# Pyroscope beside it, and checks that each of three namespaces has its own busy function in its flame graph, and no
# other's. The cluster is deleted in the end, whatever happens.
#
#	e2e/kind.sh            needs docker, kind, kubectl, helm, curl; a minute besides the build
#	KEEP=1 e2e/kind.sh     leaves the cluster
#
# This project's own CI has no docker: it runs the same on a Kubernetes of its own (e2e/cluster), and of this script
# the order of the commands alone (e2e/check_kind.py).
set -eu
cd "$(dirname "$0")/.."

cluster=${CLUSTER:-flamelet-e2e}
node_image=${KIND_NODE_IMAGE:-}
pyroscope=${PYROSCOPE_IMAGE:-docker.io/grafana/pyroscope:latest}
port=${PORT:-14040}
wait_s=${WAIT_SECONDS:-120}
namespaces="shop bank batch"
image=ghcr.io/flamelet/flamelet:e2e
loads=flamelet-loads:e2e
work=$(mktemp -d)
forward=

say() {
	echo "== $*"
}

# Until the script has created the cluster, it may belong to somebody else.
clean_up() {
	status=$?
	trap - EXIT
	[ -z "$forward" ] || kill "$forward" 2>/dev/null || :
	if [ -e "$work/is-ours" ]; then
		[ "$status" = 0 ] || kubectl -n flamelet logs daemonset/flamelet --tail 50 || :
		[ -n "${KEEP:-}" ] || kind delete cluster --name "$cluster" || :
	fi
	rm -rf "$work"
	exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

for program in docker kind kubectl helm curl; do
	command -v "$program" >/dev/null || { echo "kind.sh needs $program" >&2; exit 1; }
done
if kind get clusters 2>/dev/null | grep -qx "$cluster"; then
	echo "there is a cluster $cluster already; CLUSTER=name chooses another name" >&2
	exit 1
fi

say "images"
IMAGE=$image IMAGE_TOOL=docker cmake/image-build.sh
# The compiler is in the image's build stage: each namespace gets a program whose hot function is named after it.
docker build --target build -t flamelet-build:e2e .
docker build -t "$loads" - <<DOCKERFILE
FROM flamelet-build:e2e AS build
RUN mkdir /loads && for name in $namespaces; do \
	gcc -O1 -fno-omit-frame-pointer -fno-inline -static -DHOT=\${name}_work e2e/local/spin.c -o /loads/\$name; done
FROM scratch
COPY --from=build /loads /
DOCKERFILE

say "cluster"
: >"$work/is-ours"
export KUBECONFIG="$work/kubeconfig"
kind create cluster --name "$cluster" --wait 120s ${node_image:+--image "$node_image"}
kind load docker-image --name "$cluster" "$image" "$loads"

say "backend and busy pods"
kubectl apply -f - <<YAML
apiVersion: v1
kind: Namespace
metadata: {name: backend}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: pyroscope, namespace: backend}
spec:
  selector: {matchLabels: {app: pyroscope}}
  template:
    metadata: {labels: {app: pyroscope}}
    spec:
      containers:
      - name: pyroscope
        image: $pyroscope
        args: [-architecture.storage=v2, -self-profiling.disable-push=true, -usage-stats.enabled=false]
        ports: [{containerPort: 4040}]
        readinessProbe: {httpGet: {path: /ready, port: 4040}}
        volumeMounts: [{name: data, mountPath: /data}]
      volumes: [{name: data, emptyDir: {}}]
---
apiVersion: v1
kind: Service
metadata: {name: pyroscope, namespace: backend}
spec:
  selector: {app: pyroscope}
  ports: [{port: 4040}]
YAML
for name in $namespaces; do
	kubectl apply -f - <<YAML
apiVersion: v1
kind: Namespace
metadata: {name: $name}
---
apiVersion: v1
kind: Pod
metadata: {name: $name-0, namespace: $name, labels: {app: $name}}
spec:
  containers:
  - name: work
    image: $loads
    imagePullPolicy: Never
    command: [/$name, now, "3600000", "20", stay]
YAML
done
kubectl -n backend rollout status deployment/pyroscope --timeout "${wait_s}s"

say "helm install"
# kind's nodes have the host's kernel. Where that one refuses CAP_PERFMON, the agent has CAP_SYS_ADMIN while it starts.
paranoid=$(docker exec "$cluster-control-plane" cat /proc/sys/kernel/perf_event_paranoid)
# The kubelet signs its certificate itself: the agent is shown the file.
helm install flamelet charts/flamelet --namespace flamelet --create-namespace \
	--set image.tag=e2e --set image.pullPolicy=Never --set exportInterval=5s \
	--set otlp.endpoint=http://pyroscope.backend.svc:4040 --set otlp.preset=pyroscope \
	--set kubelet.verify=pinned --set kubelet.hostCAFile=/var/lib/kubelet/pki/kubelet.crt \
	--set "security.perfEventParanoid=$([ "$paranoid" -gt 2 ] && echo sysAdmin || echo keep)"
kubectl -n flamelet rollout status daemonset/flamelet --timeout "${wait_s}s"

say "what arrived"
kubectl -n backend port-forward service/pyroscope "$port:4040" >"$work/forward.log" 2>&1 &
forward=$!

# Prints the answer about a namespace: names of functions are in it.
flame_graph() {
	now=$(date +%s)
	curl -sf -H 'Content-Type: application/json' \
		"http://127.0.0.1:$port/querier.v1.QuerierService/SelectMergeStacktraces" -d @- <<JSON
{"profileTypeID": "process_cpu:cpu:nanoseconds:cpu:nanoseconds", "labelSelector": "{namespace=\"$1\", pod=\"$1-0\"}",
 "maxNodes": 1000, "start": $((now - 600))000, "end": ${now}000}
JSON
}

deadline=$(($(date +%s) + wait_s))
for name in $namespaces; do
	until flame_graph "$name" >"$work/$name.json" && grep -q "${name}_work" "$work/$name.json"; do
		[ "$(date +%s)" -lt "$deadline" ] || { echo "no ${name}_work() after $wait_s s" >&2; exit 1; }
		sleep 2
	done
	for other in $namespaces; do
		[ "$other" = "$name" ] || ! grep -q "${other}_work" "$work/$name.json" ||
			{ echo "the pod in $name has ${other}_work()" >&2; exit 1; }
	done
	echo "$name: ${name}_work(), and no other's"
done

say "uninstall"
helm uninstall flamelet --namespace flamelet --wait
echo ok
