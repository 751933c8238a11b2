/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of counter_list.c about the local record. */
#ifndef AGENT_STORE_COUNTERS_H
#define AGENT_STORE_COUNTERS_H

#define STORE_COUNTERS                                                                             \
	COUNTER("store_samples_pushed", "store_samples_pushed_total",                              \
		"Samples that were handed to the local record.", AT(store.nr_samples_pushed)),     \
		COUNTER("store_samples_written", "store_samples_written_total",                    \
			"Samples that were written to the local record.",                          \
			AT(store.recorder.nr_samples_written)),                                    \
		COUNTER("store_samples_refused", "store_samples_dropped_total",                    \
			"Samples that are not in the local record, by reason: its thread could "   \
			"not keep "                                                                \
			"up (queue), or the disk did not take them (disk).",                       \
			BY("reason", "queue"), AT(store.nr_samples_refused)),                      \
		MORE("store_samples_dropped", "disk", AT(store.recorder.nr_samples_dropped)),      \
		COUNTER("store_samples_folded", "store_samples_folded_total",                      \
			"Samples in the local record whose stacks were cut to keep it small.",     \
			AT(store.recorder.nr_samples_folded)),                                     \
		COUNTER("store_timeline_dropped", "store_timeline_numbers_dropped_total",          \
			"Numbers of the local record's timeline that were dropped because memory " \
			"for them was used up.",                                                   \
			AT(store.recorder.nr_timeline_dropped)),                                   \
		COUNTER("vitals_missed", "vitals_missed_total",                                    \
			"Readings of the kernel's counters that are not in the local record, "     \
			"because its thread could not keep up.",                                   \
			AT(store.vitals.nr_missed)),                                               \
		COUNTER("vitals_cgroups_ignored", "vitals_cgroups_ignored_total",                  \
			"Cgroups whose CPU throttling was not recorded, because too many were "    \
			"sampled at a time.",                                                      \
			DEBUG, AT(store.vitals.nr_cgroups_ignored)),                               \
		GAUGE("store_fold_threshold", "store_fold_threshold_samples",                      \
		      "New stacks of the local record with fewer samples in a minute are cut; 1: " \
		      "none.",                                                                     \
		      AT(store.recorder.min_count)),                                               \
		COUNTER("store_bytes_written", "store_bytes_written_total",                        \
			"Compressed data that were written to the local record.",                  \
			AT(store.recorder.nr_bytes_written)),                                      \
		GAUGE("store_disk_bytes", "store_bytes", "Size of the local record.",              \
		      AT(store.recorder.disk_bytes)),                                              \
		COUNTER("store_events_node_cpu", "store_events_total",                             \
			"Events that were found in what the node did, by kind.",                   \
			BY("kind", "node-cpu"),                                                    \
			AT(store.recorder.events.nr_events[EVENT_NODE_CPU])),                      \
		MORE("store_events_pod_cpu", "pod-cpu",                                            \
		     AT(store.recorder.events.nr_events[EVENT_POD_CPU])),                          \
		MORE("store_events_process_cpu", "process-cpu",                                    \
		     AT(store.recorder.events.nr_events[EVENT_PROCESS_CPU])),                      \
		MORE("store_events_irq", "irq", AT(store.recorder.events.nr_events[EVENT_IRQ])),   \
		MORE("store_events_softirq", "softirq",                                            \
		     AT(store.recorder.events.nr_events[EVENT_SOFTIRQ])),                          \
		MORE("store_events_steal", "steal",                                                \
		     AT(store.recorder.events.nr_events[EVENT_STEAL])),                            \
		MORE("store_events_run_queue", "run-queue",                                        \
		     AT(store.recorder.events.nr_events[EVENT_RUN_QUEUE])),                        \
		MORE("store_events_throttling", "throttling",                                      \
		     AT(store.recorder.events.nr_events[EVENT_THROTTLING])),                       \
		MORE("store_events_memory", "memory",                                              \
		     AT(store.recorder.events.nr_events[EVENT_MEMORY])),                           \
		MORE("store_events_forks", "forks",                                                \
		     AT(store.recorder.events.nr_events[EVENT_FORKS])),                            \
		MORE("store_events_lost_samples", "lost-samples",                                  \
		     AT(store.recorder.events.nr_events[EVENT_LOST])),                             \
		MORE("store_events_trigger", "trigger",                                            \
		     AT(store.recorder.events.nr_events[EVENT_TRIGGER])),                          \
		COUNTER("trigger_pins", "trigger_pins_total",                                      \
			"Times around rules of --trigger, by result: pinned, or not because pins " \
			"take at most a quarter of the record's limit, or the disk failed "        \
			"(refused).",                                                              \
			BY("result", "pinned"), AT(store.recorder.triggers.nr_pinned)),            \
		MORE("trigger_pins_refused", "refused",                                            \
		     AT(store.recorder.triggers.nr_not_pinned)),                                   \
		COUNTER("trigger_suppressed", "trigger_suppressed_total",                          \
			"Times that a rule of --trigger would have fired, but had done so within " \
			"30 s or too often in the hour.",                                          \
			AT(store.recorder.triggers.nr_suppressed)),                                \
		COUNTER("trigger_boosts", "trigger_boosts_total",                                  \
			"Times that --trigger-boost was to begin or to last longer, by result: "   \
			"begun, or refused because there were too many in the hour.",              \
			BY("result", "begun"), AT(boost.nr_begun)),                                \
		MORE("trigger_boosts_refused", "refused", AT(boost.nr_refused)),                   \
		COUNTER("trigger_boost_ns", "trigger_boost_seconds_total",                         \
			"Time in which samples were taken more often (--trigger-boost).", IN_NS,   \
			AT(boost.on_ns)),                                                          \
		COUNTER("trigger_notifications", "trigger_notifications_total",                    \
			"Notifications of --trigger-webhook, by result: sent, failed after all "   \
			"tries, or dropped because too many waited.",                              \
			BY("result", "sent"), AT(webhook.nr_sent)),                                \
		MORE("trigger_notifications_failed", "failed", AT(webhook.nr_failed)),             \
		MORE("trigger_notifications_dropped", "dropped", AT(webhook.nr_dropped)),          \
		COUNTER("trigger_unwatched", "trigger_subjects_unwatched_total",                   \
			"Seconds of pods and processes above the limit of a rule of --trigger "    \
			"that were left out, because there were too many.",                        \
			DEBUG, AT(store.recorder.triggers.nr_unwatched)),                          \
		COUNTER("store_events_dropped", "store_events_dropped_total",                      \
			"Events that are not in the local record, because too many went on at "    \
			"once.",                                                                   \
			AT(store.recorder.events.nr_events_dropped)),                              \
		COUNTER("store_samples_late", "store_samples_late_total",                          \
			"Samples that came too late to be part of an event. They are in the "      \
			"local record.",                                                           \
			AT(store.recorder.nr_samples_late)),                                       \
		COUNTER("store_subjects_unwatched", "store_subjects_unwatched_total",              \
			"Seconds of pods and processes in which no events were looked for, "       \
			"because there were too many.",                                            \
			AT(store.recorder.events.nr_unwatched)),                                   \
		GAUGE("store_pin_bytes", "store_pin_bytes",                                        \
		      "Size of the pinned ranges of the local record.",                            \
		      AT(store.recorder.pin_bytes)),                                               \
		COUNTER("store_pins_refused", "store_pins_refused_total",                          \
			"Ranges of the local record that could not be pinned before their file "   \
			"was removed, because pins take at most a quarter of its limit, or the "   \
			"disk failed.",                                                            \
			AT(store.recorder.nr_pins_refused)),                                       \
		COUNTER("store_write_failures", "store_write_failures_total",                      \
			"Writes to the local record that failed.",                                 \
			AT(store.recorder.nr_write_failures)),                                     \
		COUNTER("store_files_removed", "store_files_removed_total",                        \
			"Files of the local record that were removed because of its limits.",      \
			AT(store.recorder.nr_files_removed)),                                      \
		COUNTER("store_files_damaged", "store_files_damaged_total",                        \
			"Files of the local record that were found damaged at the start.", DEBUG,  \
			AT(store.recorder.nr_files_damaged))

#endif
