{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* Arithmetic with Kubernetes' quantities. */}}

{{/* A quantity in bytes; empty when it is none of the usual forms. */}}
{{- define "flamelet.bytes" -}}
{{- $text := ternary (printf "%.0f" .) (toString .) (kindIs "float64" .) }}
{{- $factors := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 }}
{{- if regexMatch "^[0-9]+([.][0-9]+)?([kMG]|[KMG]i)?$" $text }}
{{- $unit := regexFind "[a-zA-Z]*$" $text }}
{{- mulf (trimSuffix $unit $text | float64) (get $factors $unit) | int64 }}
{{- end }}
{{- end }}

{{- define "flamelet.mebibytes" -}}
{{- div (include "flamelet.bytes" . | int64) 1048576 }}
{{- end }}

{{/* MiB that the agent and its workers may take. What containers can make grow counts with its bound, all at the same time:

	names of ELF files, unwind tables, and the
	workers that read large files			tablesMemoryMax, together
	lists of JIT compilers				a quarter of symbols.memoryMax
	symbol worker for all other files		64
	rows worker for all other files			48
	JIT workers					16 and 16
	download of debug files				256, where it is asked for
	stacks of threads that wait			32, and 8 for what is known of threads; where they are recorded
	the library that tells what GPUs do		64, where they are followed
	allocations in use				32, and 32 for a snapshot of each of both types; where they are recorded

Besides, for each destination 48: 24 that are collected, and what is sent, in the agent and in the destination's own process (12 with the
usual 3.5 MB of a request); 16 more for a queue in memory. A record takes 64: the rows of a minute, and an hour's dictionary; and what a command may take that reads it in the pod. 56 are for all else: the agent, its rings, and the process that asks
the kubelet (20 with 5000 pods). Both of these processes fail at 128 each, which they do not get near to. A worker's answer on its way
to the agent is in both, and within the worker's bound, as most of what it was made of is free again. */}}
{{- define "flamelet.memoryNeeded" -}}
{{- $tables := include "flamelet.mebibytes" .Values.tablesMemoryMax }}
{{- $lists := div (add (include "flamelet.mebibytes" .Values.symbols.memoryMax | int64) 3) 4 }}
{{- $workers := add 64 48 16 16 }}
{{- $debuginfod := ternary 256 0 (gt (len .Values.symbols.debuginfod.urls) 0) }}
{{- $destination := ternary 64 48 (eq .Values.queue.type "memory") }}
{{- $destinations := mul $destination (len (include "flamelet.destinations" . | fromYaml).items) }}
{{- $query := include "flamelet.mebibytes" .Values.store.queryMemoryMax | int64 }}
{{- $store := ternary (add 64 $query) 0 .Values.store.enabled }}
{{- $waits := ternary 40 0 (or (has "offcpu" .Values.profiling.kinds) (has "lock" .Values.profiling.kinds)) }}
{{- $gpu := ternary 64 0 .Values.gpu.enabled }}
{{- $heap := ternary 96 0 (has "heap" .Values.profiling.kinds) }}
{{- add $tables $lists $workers $debuginfod $destinations $store $waits $gpu $heap 56 -}}
{{- end }}

{{/* The limit of an emptyDir for so many MiB: a pod whose emptyDir grows beyond it is evicted, so it has a quarter more. */}}
{{- define "flamelet.sizeLimit" -}}
{{- div (mul . 5) 4 }}Mi
{{- end }}

{{- define "flamelet.resources" -}}
{{- $limits := merge (dict) .Values.resources.limits (dict "memory" (printf "%sMi" (include "flamelet.memoryNeeded" .))) }}
{{- merge (dict "limits" $limits) .Values.resources | toYaml }}
{{- end }}
