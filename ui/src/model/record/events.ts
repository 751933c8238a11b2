// SPDX-License-Identifier: Apache-2.0
/* The unusual seconds of a record, and the ways from one to the next. */
import { contains } from './range.ts';
import type { Range } from './range.ts';
import { rangeOfStep, sumOf } from './series.ts';
import type { Timeline } from './series.ts';

/** As `flamelet ls --json` prints it. */
export interface RecordEvent {
	id: string;
	kind: string;
	first: number;
	end: number;
	open: boolean;
	score: number;
	host: string;
	subject: string;
	selector: string;
	text: string;
}

/** A place to jump to. */
export interface Mark extends Range {
	score: number;
	text: string;
}

export type Jump = 'next' | 'previous' | 'worst';

const DEVIATIONS = 6;
const NORMAL = 1.4826; // of the median absolute deviation to the standard deviation
const RISE_MIN = 1.25;
const PEAKS_MAX = 200;

export function markOf(event: RecordEvent): Mark {
	return { from: event.first, to: Math.max(event.end, event.first + 1), score: event.score, text: event.text };
}

function median(sorted: Float64Array): number {
	return sorted[sorted.length >> 1] ?? 0;
}

/** Steps of a timeline far above the usual, for a record without events. */
export function peaksOf(timeline: Timeline): Mark[] {
	const sum = sumOf(timeline);
	const known = sum.filter((value) => !Number.isNaN(value)).sort();
	const usual = median(known);
	const deviation = NORMAL * median(known.map((value) => Math.abs(value - usual)).sort());
	const limit = Math.max(usual + DEVIATIONS * deviation, RISE_MIN * usual);
	const peaks: Mark[] = [];
	for (let at = 0; at < timeline.n; at++) {
		const value = sum[at]!;
		const isHighest = !(sum[at - 1]! > value) && !(sum[at + 1]! >= value);
		if (value > limit && isHighest)
			peaks.push({
				...rangeOfStep(timeline, at),
				score: value - usual,
				text: `${value.toFixed(2)} ${timeline.unit}, usually ${usual.toFixed(2)}`,
			});
	}
	return peaks.sort((a, b) => b.score - a.score).slice(0, PEAKS_MAX).sort((a, b) => a.from - b.from);
}

/** The mark to jump to from a selection, or null. Marks are in the order of time. */
export function jump(marks: readonly Mark[], selection: Range, how: Jump): Mark | null {
	const isAt = (mark: Mark) => mark.from === selection.from && mark.to === selection.to;
	if (how === 'worst')
		return marks.reduce<Mark | null>((worst, mark) => (worst && worst.score >= mark.score ? worst : mark), null);
	const isIn = marks.findIndex(isAt);
	if (isIn >= 0)
		return marks[isIn + (how === 'next' ? 1 : -1)] ?? null;
	if (how === 'next')
		return marks.find((mark) => mark.from > selection.from && !contains(selection, mark))
			?? marks.find((mark) => mark.from > selection.from) ?? null;
	return marks.filter((mark) => mark.from < selection.from).at(-1) ?? null;
}
