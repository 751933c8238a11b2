// SPDX-License-Identifier: Apache-2.0
/* The parts of each second that a heat map has as rows. */
import type { Timeline } from './series.ts';

/** How many there are. */
export const SLOTS = 20;
const REACH = 4; // rows on each side that a row is compared with
const AROUND = 30; // steps on each side, over which a row's mean is taken
const LEAST = 2.5; // samples; where there are fewer, each one counts
const ONE = 1.3; // samples, as rows of other rates differ
const SLACK = 0.35; // of a sample, by which a row may differ from what the rate explains

/* Of each row: its sums up to each step. */
function sumsOf({ n, series }: Timeline): Float64Array[] {
	return series.map(({ values }) => {
		const sums = new Float64Array(n + 1);
		for (let at = 0; at < n; at++)
			sums[at + 1] = sums[at]! + (values[at]! || 0);
		return sums;
	});
}

/* The mean of the rows around one. The last row of a second is beside the first one. */
function meanAround(values: ArrayLike<number>, row: number, reach: number, withRow: boolean): number {
	let sum = 0;
	for (let i = -reach; i <= reach; i++)
		sum += i === 0 && !withRow ? 0 : values[(row + i + SLOTS) % SLOTS]!;
	return sum / (2 * reach + (withRow ? 1 : 0));
}

function median(values: number[]): number {
	const known = values.filter((one) => !Number.isNaN(one)).sort((a, b) => a - b);
	return known[known.length >> 1] ?? NaN;
}

/* Gives a cell that differs by one sample from those around it their value. */
function dropSingles({ n, step, series }: Timeline, periodNs: number) {
	const sample = (SLOTS * periodNs) / 1e9 / step;
	const before = series.map(({ values }) => values.slice());
	series.forEach(({ values }, row) => values.forEach((value, at) => {
		const level = median([
			...[-2, -1, 1, 2].map((i) => before[(row + i + SLOTS) % SLOTS]![at]!),
			...[-1, 1].filter((i) => at + i >= 0 && at + i < n).map((i) => before[row]![at + i]!),
		]);
		if (Math.min(value, level) > LEAST * sample && Math.abs(value - level) < ONE * sample)
			values[at] = level;
	}));
}

/* Evens out rows that have more or fewer samples than others only because of the sampling rate. */
function evenOutRows(timeline: Timeline, periodNs: number) {
	const perSlot = 1e9 / SLOTS / periodNs;
	const least = Math.floor(perSlot);
	const { n, series } = timeline;
	if (perSlot === least)
		return;
	const sums = sumsOf(timeline);
	for (let at = 0; at < n; at++) {
		const first = Math.max(at - AROUND, 0);
		const end = Math.min(at + AROUND + 1, n);
		const means = sums.map((sum) => sum[end]! - sum[first]!);
		const column = series.map(({ values }) => values[at]!);
		series.forEach(({ values }, row) => {
			const samples = (perSlot * means[row]!) / meanAround(means, row, REACH, true);
			const nearest = Math.min(Math.max(Math.round(samples), least), least + 1);
			if (samples < least - SLACK || samples > least + 1 + SLACK)
				return; // more than the rate explains
			const ticks = Math.abs(samples - nearest) < SLACK ? nearest : samples;
			const level = ticks > 0 ? column[row]! / ticks : meanAround(column, row, 1, false);
			values[at] = perSlot * level;
		});
	}
}

/** Takes out of a heat map what only the sampling rate makes look like structure.
 *
 * At 99 Hz, 19 rows of a busy CPU have five samples each and one has four, and it is the same row in all
 * seconds: its mean tells. It gets the level of the others. What a single second has is not touched, nor
 * what is more than the sample that a row may lack.
 *
 * A timer that is late moves a sample to the next row. So what differs by one sample from the cells
 * around it gets their value, where there are some. */
export function evenOut(timeline: Timeline, periodNs: number) {
	if (timeline.series.length !== SLOTS || !(periodNs > 0))
		return;
	evenOutRows(timeline, periodNs);
	dropSingles(timeline, periodNs);
}
