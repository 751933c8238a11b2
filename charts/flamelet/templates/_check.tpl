{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* What values.schema.json cannot say: values that contradict each other. A message says where, what, and what to do. */}}

{{- define "flamelet.check" -}}
{{- include "flamelet.checkDestinations" . }}
{{- include "flamelet.checkKubelet" . }}
{{- include "flamelet.checkMemory" . }}
{{- include "flamelet.checkMetrics" . }}
{{- include "flamelet.checkPod" . }}
{{- include "flamelet.checkTriggers" . }}
{{- end }}

{{- define "flamelet.checkTriggers" -}}
{{- if and .Values.gpu.enabled (not .Values.store.enabled) }}
{{- fail "gpu.enabled: what GPUs do is kept in the record, and there is none. Set store.enabled=true, or gpu.enabled=false." }}
{{- end }}
{{- if and .Values.triggers.rules (not .Values.store.enabled) }}
{{- fail "triggers.rules: a rule keeps a time of the record, and there is none. Set store.enabled=true, or remove the rules." }}
{{- end }}
{{- if and .Values.triggers.webhookSecret.name (not .Values.triggers.rules) }}
{{- fail "triggers.webhookSecret.name: the server would never be told, as there are no rules. Fill triggers.rules, or remove the Secret." }}
{{- end }}
{{- if and .Values.triggers.boost (not .Values.triggers.rules) }}
{{- fail "triggers.boost: it begins when a rule fires, and there are none. Fill triggers.rules, or set it to 0." }}
{{- end }}
{{- if and .Values.triggers.boost (lt (int .Values.triggers.boost) (mul 2 (int .Values.profiling.frequency))) }}
{{- fail "triggers.boost: it has to be at least twice profiling.frequency, or 0." }}
{{- end }}
{{- if hasKey .Values.extraConfig "trigger-webhook" }}
{{- fail "extraConfig.trigger-webhook: everybody who may read ConfigMaps would read it. Put the URL into a Secret: triggers.webhookSecret." }}
{{- end }}
{{- end }}

{{- define "flamelet.checkDestinations" -}}
{{- $destinations := (include "flamelet.destinations" . | fromYaml).items }}
{{- if not $destinations }}
{{- fail "otlp.endpoint: profiles have nowhere to go. Set it to a destination's URL, for instance --set otlp.endpoint=http://otel-collector.observability:4318, or fill destinations." }}
{{- end }}
{{- $names := list }}
{{- range $destinations }}
{{- include "flamelet.checkDestination" (merge (dict "at" (ternary (printf "destinations (%s)" .name) "otlp" (hasKey . "name"))) .) }}
{{- $names = append $names .name }}
{{- end }}
{{- if ne (len $names) (len (uniq $names)) }}
{{- fail "destinations: two have the same name. Names tell their files and Secrets apart: give each one its own." }}
{{- end }}
{{- end }}

{{/* One destination; "at" is where it is in values.yaml. */}}
{{- define "flamelet.checkDestination" -}}
{{- $isGrpc := or (hasPrefix "grpc" (.endpoint | lower)) (eq (.protocol | default "") "grpc") }}
{{- if and (eq (.exporter | default "") "pyroscope") $isGrpc }}
{{- fail (printf "%s.exporter: pyroscope is sent by HTTP. Remove the protocol grpc, write http:// or https:// in the endpoint, or set exporter: otlp." .at) }}
{{- end }}
{{- if and (.caSecret).name (.caConfigMap).name }}
{{- fail (printf "%s.caSecret: the destination's CA is in caConfigMap, too. Remove one of them." .at) }}
{{- end }}
{{- range $name, $_ := .headers }}
{{- if regexMatch "authorization|cookie|api[-_]?key|token|secret|password" (lower $name) }}
{{- fail (printf "%s.headers.%s: everybody who may read ConfigMaps would read it. Put it into a Secret: headersSecret (lines \"Name: value\") or tokenSecret (a bearer token)." $.at $name) }}
{{- end }}
{{- if and $.tenant (eq (lower $name) "x-scope-orgid") }}
{{- fail (printf "%s.tenant: headers has an X-Scope-OrgID, too. Remove one of them." $.at) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "flamelet.checkKubelet" -}}
{{- with .Values.kubelet }}
{{- if and (eq .verify "pinned") (not .hostCAFile) }}
{{- fail "kubelet.hostCAFile: kubelet.verify=pinned needs the kubelet's certificate on the node. kubeadm and kind: --set kubelet.hostCAFile=/var/lib/kubelet/pki/kubelet.crt; AKS: /etc/kubernetes/certs/kubeletserver.crt" }}
{{- end }}
{{- if and (not .enabled) (has $.Values.rbac.kubeletAccess (list "pods" "proxy")) }}
{{- fail (printf "rbac.kubeletAccess: %s is for the kubelet, which is not asked (kubelet.enabled=false). Set it to auto or none, or kubelet.enabled=true." $.Values.rbac.kubeletAccess) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "flamelet.checkMemory" -}}
{{- $limit := include "flamelet.bytes" (.Values.resources.limits.memory | default "") }}
{{- $needed := include "flamelet.memoryNeeded" . | int64 }}
{{- if and $limit (lt (int64 $limit) (mul $needed 1048576)) }}
{{- fail (printf "resources.limits.memory: %v is less than the %dMi that the agent may take, it would be killed for it. Raise the limit, leave it out, or lower tablesMemoryMax." .Values.resources.limits.memory $needed) }}
{{- end }}
{{- end }}

{{- define "flamelet.checkMetrics" -}}
{{- with .Values.metrics }}
{{- if and .podMonitor.enabled .serviceMonitor.enabled }}
{{- fail "metrics.serviceMonitor.enabled: with metrics.podMonitor each agent would be scraped twice. Remove one of them." }}
{{- end }}
{{- range list "podMonitor" "serviceMonitor" }}
{{- if and (get $.Values.metrics . ).enabled (not $.Values.metrics.enabled) }}
{{- fail (printf "metrics.%s.enabled: there is no port to scrape. Set metrics.enabled=true as well." .) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "flamelet.checkPod" -}}
{{- if not (or .Values.serviceAccount.create .Values.serviceAccount.name) }}
{{- fail "serviceAccount.name: with serviceAccount.create=false the rights would go to the namespace's default account, and so to other pods. Name an account of its own." }}
{{- end }}
{{- if eq (toString .Values.hostUsers) "false" }}
{{- fail "hostUsers: Kubernetes refuses false for a pod with hostPID, which the agent needs. Set it to true or null." }}
{{- end }}
{{- end }}
