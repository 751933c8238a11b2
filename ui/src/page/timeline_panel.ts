// SPDX-License-Identifier: Apache-2.0
/* The timeline with its controls: what it shows, how to move in it, and what is marked. */
import { HoverCard } from '../app/hover_card.ts';
import { rove } from '../app/rove.ts';
import { button, el, selectOf, setPressed } from '../dom.ts';
import { clock, duration } from '../model/record/axis.ts';
import type { Jump, Mark } from '../model/record/events.ts';
import type { Place } from '../model/record/place.ts';
import type { Range } from '../model/record/range.ts';
import { lengthOf } from '../model/record/range.ts';
import { TimelineCanvas } from '../widget/timeline.ts';
import type { Hover } from '../widget/timeline.ts';
import { Latest } from './api.ts';
import type { Api } from './api.ts';
import { Legend } from './legend.ts';
import { Overlay } from './overlay.ts';
import {
	coverOf, fetchTimeline, isEnough, keyOf, NO_DATA, stepFor, THROTTLED, TRACKS_MAX,
} from './timeline_data.ts';
import type { TimelineData } from './timeline_data.ts';

const WINDOW_PAUSE_MS = 60; // between a movement and the request
const CHARTS: [string, string, string][] = [
	['vital', 'Node', 'CPU time of the node, as its kernel counts it'],
	['pod', 'Pods', 'CPU time of the largest pods'],
	['container', 'Containers', 'CPU time of the largest containers'],
	['comm', 'Processes', 'CPU time of the largest processes, by name'],
	['cpu', 'CPUs', 'How busy each CPU was, and each GPU: a heat map'],
	['slot', '50 ms', 'What happened within each second: a heat map of its 50 ms'],
];
const LABELS = [THROTTLED, 'namespace', 'workload', 'host', 'service', 'process', 'thread', 'cgroup'];
export const QUICK: [number, string][] = [
	[60, '1 m'], [300, '5 m'], [900, '15 m'], [3600, '1 h'], [21600, '6 h'], [86400, '24 h'],
];

export interface TimelinePanelEvents {
	change(change: Partial<Place>, isStep?: boolean): void;
	select(range: Range): void;
	compare(range: Range): void;
	quick(seconds: number): void;
	step(step: 1 | -1): void;
	jump(how: Jump): void;
	choose(label: string, value: string): void;
}

/** What the page shows around it. */
export interface TimelineContext {
	place: Place;
	bounds: Range;
	window: Range;
	selection: Range;
	marks: readonly Mark[];
}

export class TimelinePanel {
	readonly element: HTMLElement;
	readonly timeline: TimelineCanvas;
	/** New numbers have come. */
	onData: () => void = () => undefined;
	data: TimelineData | null = null;
	private readonly overlay: Overlay;
	private readonly legend: Legend;
	private readonly card = new HoverCard();
	private readonly tip = el('p', { class: 'tip',
		text: 'Drag selects a range, a click one step; Ctrl-drag compares; the wheel zooms. ? lists the keys.' });
	private readonly charts: HTMLButtonElement[];
	private readonly more: HTMLSelectElement;
	private readonly follow: HTMLButtonElement;
	private readonly tracks: HTMLButtonElement;
	private readonly jumps: HTMLButtonElement[];
	private readonly quick: HTMLButtonElement[];
	private readonly latest = new Latest();
	private context: TimelineContext | null = null;
	private hover: Hover | null = null;
	private timer = 0;
	private wanted = '';

	constructor(private readonly api: Api, private readonly events: TimelinePanelEvents) {
		this.timeline = new TimelineCanvas({
			select: (range) => events.select(range),
			compare: (range) => events.compare(range),
			window: (window) => events.change({ window }, false),
			hover: (hover) => this.onHover(hover),
			mark: (mark, x, y) => this.onMark(mark, x, y),
		});
		this.legend = new Legend({ choose: (value) => events.choose(this.data!.lines, value) });
		this.charts = CHARTS.map(([lines, text, title]) =>
			button(text, title, () => events.change({ lines }), `lines-${lines}`));
		const labels = LABELS.map((one): [string, string] => [one, one]);
		this.more = selectOf('By another label', [['', 'by\u2026'], ...labels], (lines) =>
			events.change({ lines }));
		this.more.dataset.name = 'lines';
		this.follow = button('Follow', 'Follow the newest second (f)', () => this.toggle('follows'), 'follow');
		this.tracks = button('Tracks', 'Memory, run queue and pressure', () => this.toggle('hasTracks'), 'tracks');
		this.jumps = ([
			['\u2039 event', 'Previous event (E)', 'previous'], ['worst', 'The worst event (!)', 'worst'],
			['event \u203a', 'Next event (e)', 'next'],
		] as const).map(([text, title, how]) => button(text, title, () => events.jump(how), `jump-${how}`));
		this.quick = [...QUICK.map(([seconds, text]) =>
			button(text, `The newest ${duration(seconds)}`, () => events.quick(seconds), `quick-${seconds}`)),
		button('all', 'All of the record (a)', () => events.quick(Infinity), 'quick-all')];
		const body = el('div', { class: 'chart' }, this.timeline.canvas, this.legend.element, this.tip);
		this.element = el('section', { class: 'timeline panel', attributes: { 'aria-label': 'Timeline' } },
			this.bar(), body, this.card.element);
		this.overlay = new Overlay(body);
		new ResizeObserver(() => this.load()).observe(this.timeline.canvas);
	}

	private bar(): HTMLElement {
		const { events } = this;
		const set = (...children: HTMLElement[]) => el('span', { class: 'set' }, ...children);
		const bar = el('div', { class: 'controls', attributes: { role: 'toolbar', 'aria-label': 'Time' } },
			set(...this.charts), this.more, this.tracks, el('span', { class: 'fill' }),
			set(button('\u2190', 'The time before ([)', () => events.step(-1), 'step-back'),
				button('\u2192', 'The time after (])', () => events.step(1), 'step-on')),
			set(...this.jumps), set(...this.quick), this.follow);
		rove(bar);
		return bar;
	}

	private toggle(name: 'follows' | 'hasTracks') {
		if (this.context)
			this.events.change({ [name]: !this.context.place[name] }, name !== 'follows');
	}

	show(context: TimelineContext) {
		const { place } = context;
		this.context = context;
		for (const element of this.charts)
			setPressed(element, element.dataset.name === `lines-${place.lines}`);
		this.more.value = LABELS.includes(place.lines) ? place.lines : '';
		setPressed(this.follow, place.follows);
		setPressed(this.tracks, place.hasTracks);
		this.tip.hidden = !place.hasTracks; // there is no room for it
		for (const element of this.jumps)
			element.disabled = context.marks.every(({ kind }) => kind === 'other');
		this.showQuick(context);
		this.load();
		this.draw();
	}

	private showQuick({ selection, bounds }: TimelineContext) {
		this.quick.forEach((element, i) => {
			const seconds = QUICK[i]?.[0] ?? lengthOf(bounds);
			element.hidden = seconds > lengthOf(bounds);
			setPressed(element, selection.to === bounds.to && lengthOf(selection) === seconds);
		});
	}

	get isWaiting(): boolean {
		return this.overlay.isWaiting;
	}

	private draw() {
		const { context } = this;
		const { chart, lines, tracks } = this.data ?? NO_DATA;
		if (!context)
			return;
		const { place, window, bounds, selection, marks } = context;
		this.timeline.show({
			window, bounds, selection, marks, base: place.base, chart,
			tracks: place.hasTracks ? tracks : [], roomForTracks: place.hasTracks ? TRACKS_MAX : 0,
		});
		this.legend.show(chart, lines, selection, this.hover);
	}

	/* Asks for numbers if those at hand are not enough. */
	private load() {
		const { context, timeline } = this;
		if (!context || !timeline.canvas.clientWidth)
			return;
		const key = keyOf(context.place, context.bounds);
		const step = stepFor(context.window, timeline.px);
		const cover = coverOf(context.window, context.bounds, step);
		const wanted = JSON.stringify([key, step, cover]);
		if (isEnough(this.data, key, context.window, step) || wanted === this.wanted)
			return;
		this.wanted = wanted;
		clearTimeout(this.timer);
		const fetch = () => void this.overlay.during(async () => {
			this.data = await fetchTimeline(this.api, context.place, cover, step, key, this.latest.next());
			this.draw();
			this.onData();
		});
		/* The server answers one question after the other: the first one is the cheapest. */
		if (this.data)
			this.timer = window.setTimeout(fetch, WINDOW_PAUSE_MS);
		else
			fetch();
	}

	private onHover(hover: Hover | null) {
		this.hover = hover;
		if (this.context && this.data)
			this.legend.show(this.data.chart, this.data.lines, this.context.selection, hover);
	}

	private onMark(mark: Mark | null, x: number, y: number) {
		if (!mark) {
			this.card.hide();
			return;
		}
		this.card.show(mark.text, [
			{ name: 'from', text: `${clock(mark.from)}, ${duration(lengthOf(mark))}` },
			{ name: 'score', text: mark.score.toFixed(1) },
			...(mark.kind === 'other' ? [{ name: 'of', text: 'other samples than those of the selector' }] : []),
			{ name: 'click', text: mark.kind === 'peak' ? 'selects the peak' : 'selects the event' },
		], x, y);
	}
}
