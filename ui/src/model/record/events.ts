// SPDX-License-Identifier: Apache-2.0
/* The unusual seconds of a record, and the ways from one to the next. */
import { contains } from './range.ts';
import type { Range } from './range.ts';
import { matches, termsOf, valueOf } from './selector.ts';
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

/** What is marked on the timeline. "other": an event that the selector leaves out, to which no key
 * leads. */
export type MarkKind = 'event' | 'other' | 'peak';

export interface Mark extends Range {
	kind: MarkKind;
	score: number;
	text: string;
	/** Of Flamelet itself: the last one of the worst. */
	isOwn?: boolean;
}

export type Jump = 'next' | 'previous' | 'worst';

const DEVIATIONS = 6;
const NORMAL = 1.4826; // of the median absolute deviation to the standard deviation
const RISE_MIN = 1.25;
const CPU_SECONDS_MIN = 0.25; // more than usual: with 19 samples a second, five of them
const PEAKS_MAX = 200;
const OWN_SUBJECT = 'process flamelet';

export function markOf(event: RecordEvent, kind: MarkKind = 'event'): Mark {
	return {
		from: event.first, to: Math.max(event.end, event.first + 1), kind, score: event.score, text: event.text,
		isOwn: event.subject === OWN_SUBJECT,
	};
}

/* What is known of an event's samples, or null. A subject that is no pod is outside of pods. */
function labelOf(event: RecordEvent, label: string): string | null {
	if (label === 'host')
		return event.host;
	const isKnown = (termsOf(event.selector) ?? []).some((term) => term.label === label);
	if (isKnown)
		return valueOf(event.selector, label);
	return label === 'pod' || label === 'namespace' ? '' : null;
}

/** Whether the samples of an event's subject may be among the chosen ones. An event of the whole
 * node is left out where only some pods or processes are chosen. */
export function isChosen(event: RecordEvent, q: string): boolean {
	const terms = termsOf(q) ?? [];
	if (event.selector === '')
		return terms.every((term) => term.label === 'host' ? matches(term, event.host) : term.operator[0] === '!');
	return terms.every((term) => {
		const value = labelOf(event, term.label);
		return value === null || matches(term, value);
	});
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
	const least = timeline.unit === 'CPUs' ? CPU_SECONDS_MIN / timeline.step : 0;
	const limit = Math.max(usual + Math.max(DEVIATIONS * deviation, least), RISE_MIN * usual);
	const peaks: Mark[] = [];
	for (let at = 0; at < timeline.n; at++) {
		const value = sum[at]!;
		const isHighest = !(sum[at - 1]! > value) && !(sum[at + 1]! >= value);
		if (value > limit && isHighest)
			peaks.push({
				...rangeOfStep(timeline, at),
				kind: 'peak',
				score: value - usual,
				text: `${value.toFixed(2)} ${timeline.unit}, usually ${usual.toFixed(2)}`,
			});
	}
	return peaks.sort((a, b) => b.score - a.score).slice(0, PEAKS_MAX).sort((a, b) => a.from - b.from);
}

function isWorse(mark: Mark, other: Mark): boolean {
	return mark.isOwn === other.isOwn ? mark.score > other.score : !mark.isOwn;
}

/** The mark to jump to from a selection, or null. Marks are in the order of time. */
export function jump(all: readonly Mark[], selection: Range, how: Jump): Mark | null {
	const marks = all.filter(({ kind }) => kind !== 'other');
	const isAt = (mark: Mark) => mark.from === selection.from && mark.to === selection.to;
	if (how === 'worst')
		return marks.reduce<Mark | null>((worst, mark) => (worst && !isWorse(mark, worst) ? worst : mark), null);
	const isIn = marks.findIndex(isAt);
	if (isIn >= 0)
		return marks[isIn + (how === 'next' ? 1 : -1)] ?? null;
	if (how === 'next')
		return marks.find((mark) => mark.from > selection.from && !contains(selection, mark))
			?? marks.find((mark) => mark.from > selection.from) ?? null;
	return marks.filter((mark) => mark.from < selection.from).at(-1) ?? null;
}
