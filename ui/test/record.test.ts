// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duration, rangeText, scaleOf, stepOf, ticksOf } from '../src/model/record/axis.ts';
import { isChosen, jump, markOf, peaksOf } from '../src/model/record/events.ts';
import type { RecordEvent } from '../src/model/record/events.ts';
import { rowAt, shareAbove } from '../src/model/record/heat.ts';
import { NO_PLACE, placeOf, textOfPlace } from '../src/model/record/place.ts';
import { before, scaled, stepped, whole, wider, windowAround, within } from '../src/model/record/range.ts';
import { isOfHosts, termsOf, valueOf, withLabel } from '../src/model/record/selector.ts';
import { cpuVitalsOf, meanOf, NO_TIMELINE, percentOf, samplesOf, stepAt, vitalOf } from '../src/model/record/series.ts';
import type { RawTimeline } from '../src/model/record/series.ts';
import { NameColors } from '../src/model/record/shades.ts';
import { evenOut } from '../src/model/record/slots.ts';
import { warningsOf } from '../src/page/warnings.ts';

const BOUNDS = { from: 1000, to: 2000 };

test('a range has whole seconds, at least one', () => {
	assert.deepEqual(whole(10.2, 10.4), { from: 10, to: 11 });
	assert.deepEqual(whole(12.5, 10.5), { from: 10, to: 13 });
	assert.deepEqual(whole(7, 7), { from: 7, to: 8 });
});

test('a step moves a range by its length and stops at the ends of the record', () => {
	assert.deepEqual(stepped({ from: 1100, to: 1110 }, 1, BOUNDS), { from: 1110, to: 1120 });
	assert.deepEqual(stepped({ from: 1100, to: 1110 }, -1, BOUNDS), { from: 1090, to: 1100 });
	assert.deepEqual(stepped({ from: 1995, to: 1999 }, 1, BOUNDS), { from: 1996, to: 2000 });
	assert.deepEqual(stepped({ from: 1000, to: 2000 }, -1, BOUNDS), BOUNDS);
	assert.deepEqual(within({ from: 0, to: 5000 }, BOUNDS), BOUNDS);
});

test('the time before a range ends at the beginning of the record', () => {
	assert.deepEqual(before({ from: 1500, to: 1600 }, BOUNDS), { from: 1400, to: 1500 });
	assert.deepEqual(before({ from: 1040, to: 1100 }, BOUNDS), { from: 1000, to: 1040 });
	assert.equal(before({ from: 1000, to: 1100 }, BOUNDS), null);
});

test('escape leads to the range that was left last for a part of it, else to a wider one', () => {
	const left = [{ from: 1000, to: 1900 }, { from: 1400, to: 1600 }, { from: 1700, to: 1800 }];
	assert.deepEqual(wider({ from: 1500, to: 1501 }, left, BOUNDS), { from: 1400, to: 1600 });
	assert.deepEqual(wider({ from: 1400, to: 1600 }, left, BOUNDS), { from: 1000, to: 1900 });
	assert.deepEqual(wider({ from: 1500, to: 1510 }, [], BOUNDS), { from: 1485, to: 1525 });
	assert.equal(wider(BOUNDS, left, BOUNDS), null);
});

test('the window follows the selection, and shows a second in a long record', () => {
	const day = { from: 0, to: 86400 };
	const window = windowAround(day, { from: 40000, to: 40001 }, day);
	assert.ok(window.from < 40000 && window.to > 40001 && window.to - window.from < 100);
	const narrow = { from: 1000, to: 1100 };
	assert.deepEqual(windowAround(narrow, { from: 1050, to: 1060 }, BOUNDS), narrow);
	assert.deepEqual(windowAround(narrow, { from: 1500, to: 1510 }, BOUNDS), { from: 1455, to: 1555 });
	assert.deepEqual(windowAround(narrow, BOUNDS, BOUNDS), BOUNDS);
});

test('zooming keeps the place under the pointer and has limits', () => {
	assert.deepEqual(scaled({ from: 1200, to: 1400 }, 0.5, 0.5, BOUNDS), { from: 1250, to: 1350 });
	assert.deepEqual(scaled({ from: 1200, to: 1400 }, 0.5, 0, BOUNDS), { from: 1200, to: 1300 });
	assert.deepEqual(scaled(BOUNDS, 9, 0.3, BOUNDS), BOUNDS);
	assert.equal(scaled({ from: 1200, to: 1230 }, 0.01, 0.5, BOUNDS).to, 1230);
});

test('steps, ticks, scales and lengths of time are round', () => {
	assert.equal(stepOf({ from: 0, to: 3600 }, 1000, 2), 10);
	assert.equal(stepOf({ from: 0, to: 60 }, 1000, 2), 1);
	assert.equal(stepOf({ from: 0, to: 86400 * 300 }, 100, 2), 86400 * 6);
	assert.deepEqual(scaleOf(1.97), { max: 2, step: 0.5 });
	assert.deepEqual(scaleOf(0), { max: 1, step: 1 });
	const ticks = ticksOf({ from: 1000, to: 1600 }, 800).map(({ time }) => time);
	assert.deepEqual(ticks, [1020, 1080, 1140, 1200, 1260, 1320, 1380, 1440, 1500, 1560]);
	assert.equal(duration(1), '1 s');
	assert.equal(duration(3661), '1 h 1 min');
	assert.equal(duration(0), '0 s');
});

const RAW: RawTimeline = {
	first: 100, step: 10, hosts: 1, unit: 'samples', period_ns: 1e8, seconds: [10, 0, 5],
	lines: [
		{ name: 'web', total: 60, is_rest: false, values: [50, null, 10] },
		{ name: '', total: 10, is_rest: true, values: [10, null, 0] },
	],
};

test('samples become CPUs by the seconds of which something is known', () => {
	const timeline = samplesOf(RAW);
	assert.equal(timeline.unit, 'CPUs');
	assert.deepEqual([...timeline.series[0]!.values], [0.5, NaN, 0.2]);
	assert.equal(meanOf(timeline, timeline.series[0]!.values, { from: 100, to: 130 }), 0.35);
	assert.ok(Number.isNaN(meanOf(timeline, timeline.series[0]!.values, { from: 110, to: 120 })));
	assert.equal(stepAt(timeline, 129), 2);
	assert.equal(stepAt(timeline, 130), -1);
	assert.deepEqual([...samplesOf({ ...RAW, hosts: 2, seconds: [20, 0, 10] }).series[0]!.values], [0.5, NaN, 0.2]);
});

test('vitals are those of CPU time, and others by name', () => {
	const raw = {
		...RAW, unit: '', period_ns: 0, lines: [
			{ name: 'user', unit: 'ns', is_rest: false, values: [2e9, null, 5e8] },
			{ name: 'runnable', unit: 'count', is_rest: false, values: [3, null, 4] },
		],
	};
	assert.deepEqual(cpuVitalsOf(raw).series.map(({ name, values }) => [name, ...values]), [['user', 2, NaN, 0.5]]);
	assert.deepEqual([...vitalOf(raw, 'runnable')!.values], [3, NaN, 4]);
	assert.equal(vitalOf(raw, 'psi_cpu'), null);
});

test('percent of GPUs are shares, and what is not known stays so', () => {
	const lines = [{ name: '0', is_rest: false, values: [37, null, 0] }];
	const timeline = percentOf({ ...RAW, unit: '%', lines });
	assert.deepEqual([...timeline.series[0]!.values], [0.37, NaN, 0]);
	assert.equal(timeline.unit, '%');
});

test('of two heat maps, each row has its place, and none is too small to see', () => {
	const series = (nr: number) => Array.from({ length: nr }, (_, i) =>
		({ name: String(i), isRest: false, values: new Float64Array(1) }));
	const cpus = { ...NO_TIMELINE, series: series(6) };
	const gpus = { ...NO_TIMELINE, series: series(2) };
	assert.equal(shareAbove(6, 2), 0.75);
	assert.equal(shareAbove(128, 2), 0.8);
	assert.equal(shareAbove(0, 2), 0);
	assert.equal(shareAbove(6, 0), 1);
	assert.deepEqual(rowAt(cpus, gpus, 0), { isBelow: false, row: 0 });
	assert.deepEqual(rowAt(cpus, gpus, 0.74), { isBelow: false, row: 5 });
	assert.deepEqual(rowAt(cpus, gpus, 0.75), { isBelow: true, row: 0 });
	assert.deepEqual(rowAt(cpus, gpus, 0.99), { isBelow: true, row: 1 });
	assert.deepEqual(rowAt(cpus, null, 0.99), { isBelow: false, row: 5 });
	assert.equal(rowAt(cpus, gpus, 1), null);
	assert.equal(rowAt(cpus, gpus, -0.1), null);
});

test('jumps go to the next, the previous and the worst mark', () => {
	const mark = (from: number, score: number) => ({ from, to: from + 2, kind: 'event' as const, score, text: '' });
	const marks = [mark(100, 1), mark(200, 9), mark(300, 2)];
	const from = (how: 'next' | 'previous' | 'worst', selection: { from: number; to: number }) =>
		jump(marks, selection, how)?.from;
	assert.equal(from('next', { from: 100, to: 102 }), 200);
	assert.equal(from('previous', { from: 300, to: 302 }), 200);
	assert.equal(from('worst', { from: 0, to: 1 }), 200);
	assert.equal(from('next', { from: 0, to: 1000 }), 100);
	assert.equal(from('next', { from: 300, to: 302 }), undefined);
	assert.equal(from('previous', { from: 250, to: 260 }), 200);
	assert.equal(jump([], BOUNDS, 'worst'), null);
});

const EVENT: RecordEvent = {
	id: 'e1', kind: 'pod-cpu', first: 100, end: 102, open: false, score: 5, host: 'a', subject: 'pod shop/web-1',
	selector: '{namespace="shop",pod="web-1"}', text: '',
};

test('an event is of the chosen samples if its subject may be, and one of the node if nobody is chosen', () => {
	const node = { ...EVENT, subject: '', selector: '' };
	const process = { ...EVENT, subject: 'process x"y', selector: '{comm="x\\"y"}' };
	const cases: [string, boolean, boolean, boolean][] = [ // of the pod, the node, the process
		['', true, true, true],
		['{pod="web-1"}', true, false, false],
		['{pod="db-1"}', false, false, false],
		['{pod=~"web.*",namespace="shop"}', true, false, false],
		['{pod=~"we"}', false, false, false],
		['{pod!="web-1"}', false, true, true],
		['{pod!~"web.*"}', false, true, true],
		['{comm="x\\"y"}', true, false, true],
		['{comm="z"}', true, false, false],
		['{pod=""}', false, false, true],
		['{host="a"}', true, true, true],
		['{host="b"}', false, false, false],
		['{pod=~"["}', true, false, true],
	];
	for (const [q, ...wanted] of cases)
		assert.deepEqual([EVENT, node, process].map((event) => isChosen(event, q)), wanted, q);
});

test('jumps skip events of other samples, and Flamelet is the worst only if nobody else is', () => {
	const other = { ...markOf({ ...EVENT, score: 9 }, 'other'), from: 90, to: 92 };
	const own = { ...markOf({ ...EVENT, score: 8, subject: 'process flamelet' }), from: 95, to: 97 };
	const marks = [other, own, markOf(EVENT)];
	assert.equal(jump(marks, BOUNDS, 'worst')?.from, 100);
	assert.equal(jump(marks, { from: 0, to: 10 }, 'next')?.from, 95);
	assert.equal(jump([other, own], BOUNDS, 'worst')?.from, 95);
	assert.equal(jump([other], BOUNDS, 'worst'), null);
});

test('a name keeps its colour whatever is shown with it, and no two names that are shown share one', () => {
	const names = (from: number, to: number) => Array.from({ length: to - from }, (_, i) =>
		({ name: `pod-${from + i}`, isRest: false }));
	const colors = new NameColors();
	const first = colors.of([...names(0, 8), { name: '', isRest: true }]);
	assert.equal(new Set(first).size, 9);
	assert.equal(colors.of(names(8, 16)).filter((one) => first.includes(one)).length, 0);
	assert.deepEqual(colors.of(names(4, 9)).slice(0, 4), first.slice(4, 8));
	assert.deepEqual(new NameColors().of(names(0, 1)), new NameColors().of(names(0, 1)));
	for (let at = 16; at < 100; at += 7)
		assert.equal(new Set(colors.of(names(at, at + 8))).size, 8);
});

test('peaks are what is far above the usual', () => {
	const values = Float64Array.from({ length: 60 }, (_, i) => (i === 30 ? 3 : i === 31 ? 2.5 : 1 + (i % 3) / 100));
	values[10] = NaN;
	const timeline = { first: 0, step: 5, n: 60, unit: 'CPUs', series: [{ name: 'user', isRest: false, values }] };
	assert.deepEqual(peaksOf(timeline).map(({ from, to }) => [from, to]), [[150, 155]]);
	assert.deepEqual(peaksOf({ ...timeline, n: 0, series: [] }), []);
});

test('a single sample in a time without any is no peak', () => {
	const peaks = (cpus: number, unit: string) => {
		const values = Float64Array.from({ length: 60 }, (_, i) => (i === 30 ? cpus : 0));
		return peaksOf({ first: 0, step: 1, n: 60, unit, series: [{ name: '', isRest: false, values }] }).length;
	};
	assert.deepEqual([peaks(1 / 19, 'CPUs'), peaks(6 / 19, 'CPUs'), peaks(1 / 19, 'per s')], [0, 1, 1]);
});

/* CPUs that are busy but for the slots of `idle`, as a sampler at `hz` sees them. */
function slotsAt(hz: number, cpus: number, idle: (at: number, row: number) => boolean) {
	const rows = Array.from({ length: 20 }, () => new Float64Array(50));
	for (let at = 0; at < 50; at++)
		for (let tick = 0; tick < hz; tick++) {
			const row = Math.floor(((tick + 0.3) * 20) / hz);
			if (!idle(at, row))
				rows[row]![at]! += (cpus * 20) / hz;
		}
	return {
		first: 0, step: 1, n: 50, unit: 'CPUs',
		series: rows.map((values, i) => ({ name: String(50 * i), isRest: false, values })),
	};
}

test('a slot that lacks a sample because of the rate is no structure, and an idle one is', () => {
	for (const [hz, cpus] of [[99, 1], [99, 4], [19, 2], [49, 3], [100, 1]] as const) {
		const timeline = slotsAt(hz, cpus, (at, row) => at === 25 && row > 4 && row < 9);
		evenOut(timeline, 1e9 / hz);
		const all = timeline.series.map(({ values }) => values);
		const busy = all.flatMap((values, row) => [...values.filter((_, at) => at !== 25 || row <= 4 || row >= 9)]);
		assert.ok(Math.max(...busy) - Math.min(...busy) < 0.05 * cpus, `${hz} Hz: ${Math.min(...busy)}`);
		for (let row = 5; row < 9; row++)
			assert.equal(all[row]![25], 0, `${hz} Hz`);
	}
});

test('each warning is shown once, and those of answers without those of the record', () => {
	assert.deepEqual(warningsOf(['a is left out; it is damaged', 'a is left out; it is damaged'],
		['a is left out; it is damaged; 5 samples are left out', '5 samples are left out', '']),
	['a is left out; it is damaged', '5 samples are left out']);
	assert.deepEqual(warningsOf([], ['']), []);
});

test('the day of a range is left out beside one of the same day', () => {
	const range = { from: 86400 * 100 + 40000, to: 86400 * 100 + 40010 };
	assert.equal(rangeText(range, { from: range.from + 20, to: range.to + 20 }).length, 'HH:MM:SS - HH:MM:SS'.length);
	assert.ok(rangeText(range, { from: range.from - 86400 * 2, to: range.to }).startsWith('1970-'));
});

test('selectors are taken apart and changed without losing a term', () => {
	const text = '{namespace="shop", pod=~"web.*",comm!="a\\"b"}';
	assert.equal(termsOf(text)!.length, 3);
	assert.equal(withLabel(text, 'pod', 'db-1'), '{namespace="shop",comm!="a\\"b",pod="db-1"}');
	assert.equal(withLabel('', 'comm', 'a"\\'), '{comm="a\\"\\\\"}');
	assert.equal(valueOf(withLabel('', 'comm', 'a"\\'), 'comm'), 'a"\\');
	assert.equal(withLabel('{pod="x"}', 'pod', ''), '');
	assert.ok(isOfHosts('{host="a"}') && isOfHosts('') && !isOfHosts('{pod="a"}'));
	for (const wrong of ['pod="x"', '{pod}', '{pod="x}', '{pod="x" comm="y"}', '{"x"}'])
		assert.equal(termsOf(wrong), null, wrong);
});

test('a place survives its way through the URL, and wrong ones are left out', () => {
	const place = {
		...NO_PLACE, range: { from: 10, to: 20 }, window: { from: 0, to: 100 }, host: 'a', q: '{pod="x&y#"}',
		base: { from: 1, to: 5 }, baseQ: '{a="b"}', view: 'apps' as const, lines: 'pod', follows: true,
		hasTracks: false,
	};
	assert.deepEqual(placeOf(`#${textOfPlace(place)}`), place);
	assert.deepEqual(placeOf(''), NO_PLACE);
	assert.equal(textOfPlace(NO_PLACE), '');
	const wrong = placeOf('#from=20&to=10&window=x-y&view=__proto__&base_from=1e9&base_to=-1');
	assert.deepEqual(wrong, NO_PLACE);
});
