// SPDX-License-Identifier: Apache-2.0
/* Gets the numbers of a timeline, for more than the window, so that it can be moved at once. */
import { stepOf } from '../model/record/axis.ts';
import type { Place } from '../model/record/place.ts';
import { contains, lengthOf } from '../model/record/range.ts';
import type { Range } from '../model/record/range.ts';
import { isOfHosts, withLabel } from '../model/record/selector.ts';
import { cpuVitalsOf, NO_TIMELINE, percentOf, samplesOf, vitalOf } from '../model/record/series.ts';
import type { RawTimeline, Timeline } from '../model/record/series.ts';
import { NameColors, vitalColors } from '../model/record/shades.ts';
import { evenOut, SLOTS } from '../model/record/slots.ts';
import type { Chart, HeatRows, Track } from '../widget/chart_painter.ts';
import { ApiError } from './api.ts';
import type { Api, Parameters } from './api.ts';
import { selectorOf } from './query.ts';

const SPARE = 0.5; // of the window's length, on each side
const PX_PER_STEP = 2;
const MAX_LINES = 8;
/** Pods by the CPU time that their limits took from them. */
export const THROTTLED = 'pod, throttled';

export interface TimelineData {
	key: string;
	covers: Range;
	step: number;
	/** Of which lines they are. */
	lines: string;
	chart: Chart;
	tracks: Track[];
}

export const TRACKS_MAX = 4;

/** As long as no numbers have come. */
export const NO_DATA: Pick<TimelineData, 'chart' | 'lines' | 'tracks'> = {
	lines: 'vital',
	chart: { kind: 'areas', timeline: { ...NO_TIMELINE, unit: 'CPUs' }, colors: [], line: null }, tracks: [],
};

/** What the data are of, apart from their time. */
export function keyOf(place: Place, bounds: Range): string {
	return JSON.stringify([place.host, place.q, place.lines, bounds.to]);
}

export function stepFor(window: Range, px: number): number {
	return stepOf(window, px, PX_PER_STEP);
}

export function isEnough(data: TimelineData | null, key: string, window: Range, step: number): boolean {
	return data !== null && data.key === key && data.step === step && contains(data.covers, window);
}

export function coverOf(window: Range, bounds: Range, step: number): Range {
	const spare = Math.ceil((lengthOf(window) * SPARE) / step) * step;
	return { from: Math.max(window.from - spare, bounds.from), to: Math.min(window.to + spare, bounds.to) };
}

function track(raw: RawTimeline, name: string, unit: string, max: number, values: Float64Array): Track {
	const timeline: Timeline = {
		first: raw.first, step: raw.step, n: raw.seconds.length, unit, series: [{ name, isRest: false, values }],
	};
	return { name, unit, timeline, max };
}

/* Memory, what threads waited for, and how many wanted to run. */
function tracksOf(raw: RawTimeline): Track[] {
	const value = (name: string) => vitalOf(raw, name)?.values;
	const tracks: Track[] = [];
	const total = value('memory_total');
	const available = value('memory_available');
	if (total && available)
		tracks.push(track(raw, 'memory used', 'bytes', total.find((one) => one > 0) ?? 0,
			total.map((all, at) => all - available[at]!)));
	const runnable = value('runnable');
	if (runnable)
		tracks.push(track(raw, 'threads that run or wait for a CPU', '', 0, runnable));
	for (const [name, text] of [['psi_memory', 'memory pressure'], ['psi_io', 'I/O pressure']] as const) {
		const values = value(name);
		if (values)
			tracks.push(track(raw, text, '%', 1, values));
	}
	return tracks;
}

/* Null: the record has none of that time. */
function gpusOf(raw: RawTimeline | null): HeatRows | null {
	const last = raw?.lines.at(-1);
	return raw && last ? { timeline: percentOf(raw), max: 1, rows: [`GPU ${raw.lines[0]!.name}`, last.name] } : null;
}

function heatOf(timeline: Timeline, lines: string, periodNs: number, below: HeatRows | null): Chart {
	if (lines === 'cpu')
		return {
			kind: 'heat', timeline, max: 1, rows: ['CPU 0', String(Math.max(timeline.series.length - 1, 0))], below,
		};
	/* A slot is a twentieth of each second. */
	for (const { values } of timeline.series)
		values.forEach((value, at) => (values[at] = value * SLOTS));
	evenOut(timeline, periodNs);
	const max = timeline.series.reduce((most, { values }) =>
		values.reduce((one, value) => (value > one ? value : one), most), 0);
	return { kind: 'heat', timeline, max: max || 1, rows: ['0 ms', '950'], below };
}

/* Of each label. */
const colorsOfNames = new Map<string, NameColors>();

/* Counters of the kernel, or the values of a label, with the chosen samples as a line. */
function areasOf(timeline: Timeline, lines: string, line: Timeline | null): Chart {
	if (lines === 'vital')
		return { kind: 'areas', timeline, colors: vitalColors(timeline.series), line };
	const label = lines === THROTTLED ? 'pod' : lines;
	const names = colorsOfNames.get(label) ?? new NameColors();
	colorsOfNames.set(label, names);
	return { kind: 'areas', timeline, colors: names.of(timeline.series), line };
}

/** A timeline that may be of nothing: no line has values. */
async function rawOf(api: Api, query: Parameters, signal: AbortSignal): Promise<RawTimeline | null> {
	try {
		return await api.get<RawTimeline>('timeline', query, signal);
	} catch (error) {
		if (error instanceof ApiError && error.isEmpty)
			return null;
		throw error;
	}
}

/** What a timeline shows at first: pods, or processes where there are none. */
export async function firstLines(api: Api, bounds: Range, signal: AbortSignal): Promise<string> {
	const query = { from: bounds.from, to: bounds.to, step: lengthOf(bounds), by: 'pod', max: 1 };
	const raw = await rawOf(api, query, signal);
	return raw?.lines.some(({ name, is_rest }) => name !== '' && !is_rest) ? 'pod' : 'comm';
}

export async function fetchTimeline(
	api: Api, place: Place, cover: Range, step: number, key: string, signal: AbortSignal,
): Promise<TimelineData> {
	const ofHosts = withLabel('', 'host', place.host);
	const common = { from: cover.from, to: cover.to, step };
	const { lines } = place;
	const isMap = lines === 'cpu' || lines === 'slot';
	const isNode = lines === 'vital';
	const chosen = isNode && !isOfHosts(place.q);
	const [vitals, chart, gpus] = await Promise.all([
		rawOf(api, { ...common, by: 'vital', q: ofHosts }, signal),
		isNode && !chosen ? null : rawOf(api, {
			...common, by: isNode ? 'host' : lines === THROTTLED ? 'pod' : lines,
			throttled: lines === THROTTLED ? 1 : '',
			q: isMap ? ofHosts : selectorOf(place),
			max: isMap ? null : MAX_LINES,
		}, signal),
		lines === 'cpu' ? rawOf(api, { ...common, by: 'gpu', q: ofHosts }, signal) : null,
	]);
	const samples = chart ? samplesOf(chart) : NO_TIMELINE;
	return {
		key, covers: cover, step, lines,
		tracks: vitals ? tracksOf(vitals) : [],
		chart: isMap ? heatOf(samples, lines, chart?.period_ns ?? 0, gpusOf(gpus))
			: areasOf(isNode ? (vitals ? cpuVitalsOf(vitals) : NO_TIMELINE) : samples, lines, chosen ? samples : null),
	};
}
