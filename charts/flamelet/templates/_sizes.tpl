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

{{/* MiB that the agent and its workers may take: names, three quarters of that and 128 for the process that reads large symbol
tables, 128 for the one that reads the others, unwind tables, 256 for the process that downloads debug files, for each receiver 48 (what is collected and sent) and the
queue in memory, 128 for all else. */}}
{{- define "flamelet.memoryNeeded" -}}
{{- $symbols := include "flamelet.mebibytes" .Values.symbols.memoryMax }}
{{- $workers := add (div (add (mul $symbols 3) 3) 4) 128 128 }}
{{- $unwind := include "flamelet.mebibytes" .Values.unwind.memoryMax }}
{{- $debuginfod := ternary 256 0 (gt (len .Values.symbols.debuginfod.urls) 0) }}
{{- $receiver := ternary 64 48 (eq .Values.queue.type "memory") }}
{{- $receivers := mul $receiver (len (include "flamelet.receivers" . | fromYaml).items) }}
{{- add $symbols $workers $unwind $debuginfod $receivers 128 -}}
{{- end }}

{{/* The limit of an emptyDir for so many MiB: a pod whose emptyDir grows beyond it is evicted, so it has a quarter more. */}}
{{- define "flamelet.sizeLimit" -}}
{{- div (mul . 5) 4 }}Mi
{{- end }}

{{- define "flamelet.resources" -}}
{{- $limits := merge (dict) .Values.resources.limits (dict "memory" (printf "%sMi" (include "flamelet.memoryNeeded" .))) }}
{{- merge (dict "limits" $limits) .Values.resources | toYaml }}
{{- end }}
