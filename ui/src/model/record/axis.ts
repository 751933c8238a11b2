// SPDX-License-Identifier: Apache-2.0
/* Times for people, in the browser's time zone. */
import type { Range } from './range.ts';

const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
const SLACK = 0.05; // of a step, by which a curve may be cut at the top
const LONGEST_S = STEPS_S[STEPS_S.length - 1]!;

function firstAtLeast(least: number): number {
	return STEPS_S.find((step) => step >= least) ?? Math.ceil(least / LONGEST_S) * LONGEST_S;
}

/** The seconds of a step of a timeline that is drawn so wide. */
export function stepOf(window: Range, px: number, pxPerStep: number): number {
	return firstAtLeast(((window.to - window.from) * pxPerStep) / Math.max(px, 1));
}

function offsetS(time: number): number {
	return -60 * new Date(time * 1000).getTimezoneOffset();
}

const two = (number: number) => String(number).padStart(2, '0');

export function clock(time: number, hasSeconds = true): string {
	const date = new Date(time * 1000);
	const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
	return hasSeconds ? `${minutes}:${two(date.getSeconds())}` : minutes;
}

export function day(time: number): string {
	const date = new Date(time * 1000);
	return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** "UTC", "UTC+5:30". */
export function zoneOf(time: number): string {
	const minutes = offsetS(time) / 60;
	if (minutes === 0)
		return 'UTC';
	const rest = Math.abs(minutes) % 60;
	return `UTC${minutes > 0 ? '+' : '\u2212'}${Math.floor(Math.abs(minutes) / 60)}${rest ? `:${two(rest)}` : ''}`;
}

/** "5 s", "2 min 30 s", "1 h 5 min". */
export function duration(seconds: number): string {
	const units: [number, string][] = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
	const parts: string[] = [];
	let rest = Math.round(seconds);
	for (const [length, unit] of units) {
		if (rest >= length && parts.length < 2)
			parts.push(`${Math.floor(rest / length)} ${unit}`);
		rest %= length;
	}
	return parts.join(' ') || '0 s';
}

/** `beside`: a range whose day is known to the reader. */
export function rangeText({ from, to }: Range, beside: Range | null = null): string {
	const isOneDay = day(from) === day(to - 1);
	const isKnown = isOneDay && beside !== null && day(from) === day(beside.from) && day(from) === day(beside.to - 1);
	return `${isKnown ? '' : `${day(from)} `}${clock(from)} \u2013 ${isOneDay ? '' : `${day(to)} `}${clock(to)}`;
}

export interface Tick {
	time: number;
	text: string;
}

/** The places of an axis that have a text, `pxPerTick` apart or more. */
export function ticksOf(window: Range, px: number, pxPerTick = 80): Tick[] {
	const step = stepOf(window, px, pxPerTick);
	const ticks: Tick[] = [];
	const offset = offsetS(window.from);
	for (let local = Math.ceil((window.from + offset) / step) * step; local - offset <= window.to; local += step) {
		const time = local - offset;
		const isMidnight = local % 86400 === 0;
		ticks.push({ time, text: isMidnight ? day(time).slice(5) : clock(time, step < 60) });
	}
	return ticks;
}

/** The largest of a scale that begins at 0, and its steps. */
export function scaleOf(max: number): { max: number; step: number } {
	if (!(max > 0))
		return { max: 1, step: 1 };
	const power = 10 ** Math.floor(Math.log10(max));
	const step = [0.2, 0.5, 1, 2, 5].map((one) => one * power).find((one) => max / one <= 4) ?? 10 * power;
	return { max: Math.ceil(max / step - SLACK) * step, step };
}
