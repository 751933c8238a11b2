// SPDX-License-Identifier: Apache-2.0
/* The charts of a timeline: stacked areas with a line over them, a heat map, small tracks. */
import { scaleOf } from '../model/record/axis.ts';
import { shareAbove } from '../model/record/heat.ts';
import { amountOf, maxOf, sumOf } from '../model/record/series.ts';
import type { Timeline } from '../model/record/series.ts';
import { heatColor } from '../model/record/shades.ts';
import { GUTTER_PX } from './time_view.ts';
import type { Colors, TimeView } from './time_view.ts';

export interface Areas {
	kind: 'areas';
	timeline: Timeline;
	/** Of each series. */
	colors: string[];
	/** The chosen part of the samples, as a line. */
	line: Timeline | null;
}

/** The rows of a heat map. */
export interface HeatRows {
	timeline: Timeline;
	/** The value of the strongest colour. */
	max: number;
	/** Texts of the first and the last row. */
	rows: [string, string];
}

export interface Heat extends HeatRows {
	kind: 'heat';
	/** What is below the map; null: nothing. */
	below: HeatRows | null;
}

export interface Track {
	name: string;
	unit: string;
	timeline: Timeline;
	/** The value at the top; 0: the largest one. */
	max: number;
}

export type Chart = Areas | Heat;

const HEAT_GAP_PX = 6; // between two maps

interface Place {
	view: TimeView;
	top: number;
	height: number;
}

/* Calls back for each run of steps of which something is known. */
function runsOf(timeline: Timeline, values: Float64Array, run: (first: number, end: number) => void) {
	let first = -1;
	for (let at = 0; at <= timeline.n; at++) {
		const isKnown = at < timeline.n && !Number.isNaN(values[at]!);
		if (isKnown && first < 0)
			first = at;
		if (!isKnown && first >= 0) {
			run(first, at);
			first = -1;
		}
	}
}

function grid(context: CanvasRenderingContext2D, place: Place, unit: string, max: number, colors: Colors): number {
	const { view, top, height } = place;
	const scale = scaleOf(max);
	context.textAlign = 'right';
	for (let value = 0; value <= scale.max * 1.001; value += scale.step) {
		const y = Math.round(top + height - (value / scale.max) * height) + 0.5;
		context.strokeStyle = colors.line;
		context.beginPath();
		context.moveTo(GUTTER_PX, y);
		context.lineTo(GUTTER_PX + view.px, y);
		context.stroke();
		context.fillStyle = colors.dim;
		if (value > 0)
			context.fillText(String(Number(value.toPrecision(3))), GUTTER_PX - 6, Math.max(y, top + 6));
	}
	context.fillText(unit, GUTTER_PX - 6, top + height - 6);
	return scale.max;
}

function paintArea(context: CanvasRenderingContext2D, place: Place, timeline: Timeline, max: number,
	floor: Float64Array, values: Float64Array) {
	const { view, top, height } = place;
	const y = (value: number) => top + height - (value / max) * height;
	const x = (at: number) => view.xOf(timeline.first + at * timeline.step);
	runsOf(timeline, values, (first, end) => {
		context.beginPath();
		context.moveTo(x(first), y(floor[first]!));
		for (let at = first; at < end; at++) {
			context.lineTo(x(at), y(floor[at]! + values[at]!));
			context.lineTo(x(at + 1), y(floor[at]! + values[at]!));
		}
		for (let at = end - 1; at >= first; at--) {
			context.lineTo(x(at + 1), y(floor[at]!));
			context.lineTo(x(at), y(floor[at]!));
		}
		context.fill();
	});
}

function paintLine(context: CanvasRenderingContext2D, place: Place, timeline: Timeline, values: Float64Array,
	max: number) {
	const { view, top, height } = place;
	runsOf(timeline, values, (first, end) => {
		context.beginPath();
		for (let at = first; at < end; at++) {
			const y = top + height - (values[at]! / max) * height;
			context.lineTo(view.xOf(timeline.first + at * timeline.step), y);
			context.lineTo(view.xOf(timeline.first + (at + 1) * timeline.step), y);
		}
		context.stroke();
	});
}

/* Times of which nothing is known. */
function paintGaps(context: CanvasRenderingContext2D, place: Place, timeline: Timeline, colors: Colors) {
	const values = timeline.series[0]?.values;
	const { view, top, height } = place;
	context.fillStyle = colors.line;
	context.globalAlpha = 0.35;
	for (let at = 0; values && at < timeline.n; at++) {
		const x = view.xOf(timeline.first + at * timeline.step);
		if (Number.isNaN(values[at]!))
			context.fillRect(x, top, view.xOf(timeline.first + (at + 1) * timeline.step) - x + 0.5, height);
	}
	context.globalAlpha = 1;
}

function inPlace(context: CanvasRenderingContext2D, { view, top, height }: Place, paint: () => void) {
	context.save();
	context.beginPath();
	context.rect(GUTTER_PX, top, view.px, height);
	context.clip();
	paint();
	context.restore();
}

function paintAreas(context: CanvasRenderingContext2D, place: Place, { timeline, line, colors: shades }: Areas,
	colors: Colors) {
	const chosen = line ? sumOf(line) : new Float64Array(0);
	const max = grid(context, place, timeline.unit, Math.max(maxOf(sumOf(timeline)), maxOf(chosen)), colors);
	inPlace(context, place, () => {
		paintGaps(context, place, timeline, colors);
		const floor = new Float64Array(timeline.n);
		context.globalAlpha = line ? 0.4 : colors.isDark ? 0.85 : 1;
		timeline.series.forEach((series, at) => {
			context.fillStyle = shades[at]!;
			paintArea(context, place, timeline, max, floor, series.values);
			series.values.forEach((value, i) => (floor[i]! += value));
		});
		context.globalAlpha = 1;
		context.strokeStyle = colors.text;
		context.lineWidth = 1.5;
		if (line)
			paintLine(context, place, line, chosen, max);
		context.lineWidth = 1;
	});
}

function paintRows(context: CanvasRenderingContext2D, place: Place, { timeline, max, rows }: HeatRows,
	colors: Colors) {
	const { view, top, height } = place;
	const nr = timeline.series.length;
	context.fillStyle = colors.dim;
	context.textAlign = 'right';
	context.fillText(rows[0], GUTTER_PX - 6, top + 6);
	if (nr > 1 && height > 24)
		context.fillText(rows[1], GUTTER_PX - 6, top + height - 6);
	if (nr === 0 || timeline.n === 0)
		return;
	const image = new ImageData(timeline.n, nr);
	timeline.series.forEach(({ values }, row) => values.forEach((value, at) => {
		if (!Number.isNaN(value))
			image.data.set([...heatColor(value / max, colors.isDark), 255], 4 * (row * timeline.n + at));
	}));
	const small = document.createElement('canvas');
	small.width = timeline.n;
	small.height = nr;
	small.getContext('2d')!.putImageData(image, 0, 0);
	inPlace(context, place, () => {
		const x = view.xOf(timeline.first);
		context.imageSmoothingEnabled = false;
		context.drawImage(small, x, top, view.xOf(timeline.first + timeline.n * timeline.step) - x, height);
	});
}

function paintHeat(context: CanvasRenderingContext2D, { view, top, height }: Place, chart: Heat, colors: Colors) {
	const { below } = chart;
	if (!below) {
		paintRows(context, { view, top, height }, chart, colors);
		return;
	}
	const above = height * shareAbove(chart.timeline.series.length, below.timeline.series.length);
	if (above > 0)
		paintRows(context, { view, top, height: above - HEAT_GAP_PX / 2 }, chart, colors);
	paintRows(context, { view, top: top + above + HEAT_GAP_PX / 2, height: height - above - HEAT_GAP_PX / 2 }, below,
		colors);
}

export function paintChart(context: CanvasRenderingContext2D, place: Place, chart: Chart, colors: Colors) {
	if (chart.kind === 'heat')
		paintHeat(context, place, chart, colors);
	else
		paintAreas(context, place, chart, colors);
}

/** A small area below the axis, with its value at a step or, with -1, its largest one. */
export function paintTrack(context: CanvasRenderingContext2D, place: Place, track: Track, at: number,
	colors: Colors) {
	const { timeline, name, unit } = track;
	const { view, top, height } = place;
	const { values } = timeline.series[0]!;
	const max = track.max || maxOf(values) || 1;
	const inner = { view, top: top + 3, height: height - 4 };
	context.strokeStyle = colors.line;
	context.strokeRect(GUTTER_PX, top + 0.5, view.px, height);
	inPlace(context, inner, () => {
		context.fillStyle = colors.dim;
		context.globalAlpha = 0.45;
		paintArea(context, inner, timeline, max, new Float64Array(timeline.n), values);
		context.globalAlpha = 1;
	});
	const value = at >= 0 ? amountOf(values[at]!, unit) : `\u2264 ${amountOf(maxOf(values), unit)}`;
	const text = `${name}  ${value}`;
	context.textAlign = 'left';
	context.fillStyle = colors.panel;
	context.globalAlpha = 0.8;
	context.fillRect(GUTTER_PX + 3, top + 4, context.measureText(text).width + 6, height - 7);
	context.globalAlpha = 1;
	context.fillStyle = colors.dim;
	context.fillText(text, GUTTER_PX + 6, top + height / 2 + 1);
}
