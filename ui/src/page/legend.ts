// SPDX-License-Identifier: Apache-2.0
/* What the colours of a timeline mean, with the values under the pointer or of the selection. */
import { rove } from '../app/rove.ts';
import { el } from '../dom.ts';
import { clock } from '../model/record/axis.ts';
import { rowAt } from '../model/record/heat.ts';
import type { Range } from '../model/record/range.ts';
import { amountOf, meanOf, stepAt, sumOf } from '../model/record/series.ts';
import type { Timeline } from '../model/record/series.ts';
import { heatColor } from '../model/record/shades.ts';
import type { Areas, Chart, Heat } from '../widget/chart_painter.ts';
import type { Hover } from '../widget/timeline.ts';

const RAMP_STEPS = 6;

export interface LegendEvents {
	/** A value of the label was chosen. */
	choose(value: string): void;
}

export class Legend {
	readonly element = el('div', { class: 'series', attributes: { 'aria-label': 'Values of the timeline' } });

	constructor(private readonly events: LegendEvents) {
		rove(this.element, '.row');
	}

	show(chart: Chart, lines: string, selection: Range, hover: Hover | null) {
		if (chart.kind === 'heat')
			this.showHeat(chart, lines, hover);
		else
			this.showAreas(chart, lines, selection, hover);
	}

	private showAreas({ timeline, line, colors }: Areas, lines: string, selection: Range,
		hover: Hover | null) {
		const at = hover ? stepAt(timeline, hover.time) : -1;
		const valueOf = (one: Timeline, values: Float64Array) =>
			amountOf(at >= 0 ? values[at] ?? NaN : meanOf(one, values, selection), '');
		const ofLine = (one: Timeline) => one.n > 0 ? valueOf(one, sumOf(one)) : amountOf(0, '');
		const isLabel = /^\w+$/.test(lines) && lines !== 'vital';
		const rows = timeline.series.map((series, i) => this.row(
			series.name || (series.isRest ? 'other' : `[no ${lines}]`), colors[i]!,
			valueOf(timeline, series.values), isLabel && !series.isRest && series.name !== ''));
		const head = hover && at >= 0 ? clock(hover.time) : 'mean of the selection';
		this.element.replaceChildren(
			el('div', { class: 'head' }, el('span', { text: head }), el('span', { text: timeline.unit })),
			...(line ? [this.row('selected', '', ofLine(line), false)] : []), ...rows);
	}

	private row(name: string, color: string, value: string, isChoice: boolean): HTMLElement {
		const dot = el('i', { class: color ? '' : 'line' });
		dot.style.background = color;
		const parts = [dot, el('span', { class: 'word', text: name, title: name }), el('b', { text: value })];
		if (!isChoice)
			return el('div', { class: 'row' }, ...parts);
		return el('button', { class: 'row', type: 'button', title: `Only ${name}, in the whole record`,
			onclick: () => this.events.choose(name) }, ...parts);
	}

	private showHeat(chart: Heat, lines: string, hover: Hover | null) {
		const isDark = document.documentElement.dataset.theme === 'dark';
		const ramp = el('div', { class: 'ramp' }, ...Array.from({ length: RAMP_STEPS }, (_, i) => {
			const cell = el('i');
			cell.style.background = `rgb(${heatColor(i / (RAMP_STEPS - 1), isDark).join()})`;
			return cell;
		}));
		const isCpu = lines === 'cpu';
		const title = chart.below ? 'How busy each CPU and GPU was' : 'How busy each CPU was';
		this.element.replaceChildren(
			el('div', { class: 'head', text: isCpu ? title : 'CPUs busy in each 50 ms' }), ramp,
			el('div', { class: 'ends' }, el('span', { text: '0' }),
				el('span', { text: isCpu ? '100 %' : amountOf(chart.max, '') })),
			...(hover ? factsOf(chart, isCpu, hover) : []).map(([name, text]) =>
				el('div', { class: 'row' }, el('span', { class: 'word', text: name }), el('b', { text }))));
	}
}

/* What is under the pointer. */
function factsOf({ timeline, below }: Heat, isCpu: boolean, hover: Hover): [string, string][] {
	const found = rowAt(timeline, below?.timeline ?? null, hover.height);
	const map = found?.isBelow ? below!.timeline : timeline;
	const series = found ? map.series[found.row] : undefined;
	const at = stepAt(map, hover.time);
	if (!found || !series || at < 0)
		return [];
	const value = series.values[at]!;
	return [
		['time', clock(map.first + at * map.step)],
		isCpu ? [found.isBelow ? 'GPU' : 'CPU', series.name] : ['from', `${series.name} ms on`],
		isCpu ? ['busy', amountOf(value, '%')] : ['CPUs busy', amountOf(value, '')],
	];
}
