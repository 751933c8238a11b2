// SPDX-License-Identifier: Apache-2.0
/* Timelines as `flamelet timeline --json` prints them, in units for people. */
import type { Range } from './range.ts';

export interface RawTimeline {
	first: number;
	step: number;
	hosts: number;
	unit: string;
	period_ns: number;
	seconds: number[];
	lines: { name: string; unit?: string; total?: number; is_rest: boolean; values: (number | null)[] }[];
}

export interface Series {
	name: string;
	/** Joins what is not listed. */
	isRest: boolean;
	/** NaN: nothing is known of that time. */
	values: Float64Array;
}

export interface Timeline {
	first: number;
	step: number;
	n: number;
	unit: string;
	series: Series[];
}

const NS = 1e9;
export const CPU_VITALS = ['user', 'system', 'irq', 'softirq', 'steal'];

export const NO_TIMELINE: Timeline = { first: 0, step: 1, n: 0, unit: '', series: [] };

function timelineOf(raw: RawTimeline, unit: string, names: string[] | null,
	convert: (value: number, at: number) => number): Timeline {
	const series = raw.lines
		.filter(({ name }) => !names || names.includes(name))
		.map(({ name, is_rest, values }) => ({
			name,
			isRest: is_rest,
			values: Float64Array.from(values, (value, at) => (value === null ? NaN : convert(value, at))),
		}));
	return { first: raw.first, step: raw.step, n: raw.seconds.length, unit, series };
}

/** CPUs, or for values that are no CPU time their number per second. */
export function samplesOf(raw: RawTimeline): Timeline {
	const perValue = raw.unit === 'ns' ? 1 / NS : raw.period_ns > 0 ? raw.period_ns / NS : 1;
	const unit = raw.unit === 'ns' || raw.period_ns > 0 ? 'CPUs' : 'per s';
	const hosts = Math.max(raw.hosts, 1);
	return timelineOf(raw, unit, null, (value, at) => (value * perValue * hosts) / raw.seconds[at]!);
}

/** The vitals that are CPU time, in CPUs. */
export function cpuVitalsOf(raw: RawTimeline): Timeline {
	return timelineOf(raw, 'CPUs', CPU_VITALS, (value) => value / NS);
}

/** Percent, as shares. */
export function percentOf(raw: RawTimeline): Timeline {
	return timelineOf(raw, '%', null, (value) => value / 100);
}

/** A vital of its own, or null. */
export function vitalOf(raw: RawTimeline, name: string): Series | null {
	const line = raw.lines.find((one) => one.name === name);
	const perUnit = line?.unit === 'ns' ? NS : 1;
	return line ? { name, isRest: false, values: Float64Array.from(line.values, (v) => (v ?? NaN) / perUnit) } : null;
}

/** The sum of all series. */
export function sumOf(timeline: Timeline): Float64Array {
	const sum = new Float64Array(timeline.n);
	for (const { values } of timeline.series)
		values.forEach((value, at) => (sum[at]! += value));
	return sum;
}

export function maxOf(values: Float64Array): number {
	let max = 0;
	for (const value of values)
		if (value > max)
			max = value;
	return max;
}

/** The number of the step at a time, or -1. */
export function stepAt(timeline: Timeline, time: number): number {
	const at = Math.floor((time - timeline.first) / timeline.step);
	return at >= 0 && at < timeline.n ? at : -1;
}

export function rangeOfStep({ first, step }: Timeline, at: number): Range {
	return { from: first + at * step, to: first + (at + 1) * step };
}

/** The mean of a series over a range, or NaN. */
export function meanOf(timeline: Timeline, values: Float64Array, range: Range): number {
	let sum = 0;
	let nr = 0;
	const last = Math.min(Math.ceil((range.to - timeline.first) / timeline.step), timeline.n);
	for (let at = Math.max(Math.floor((range.from - timeline.first) / timeline.step), 0); at < last; at++) {
		if (Number.isNaN(values[at]!))
			continue;
		sum += values[at]!;
		nr++;
	}
	return nr > 0 ? sum / nr : NaN;
}

/** "1.50 CPUs", "230 MB". */
export function amountOf(value: number, unit: string): string {
	if (Number.isNaN(value))
		return '\u2013';
	if (unit === 'bytes')
		return value >= 1e9 ? `${(value / 1e9).toFixed(1)} GB` : `${(value / 1e6).toFixed(0)} MB`;
	if (unit === '%')
		return `${(100 * value).toFixed(value < 0.1 ? 1 : 0)} %`;
	return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
