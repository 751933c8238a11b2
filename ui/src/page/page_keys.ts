// SPDX-License-Identifier: Apache-2.0
/* The keys of the page. The viewer's (app/keys.ts) come after them. */
import { VIEWS } from '../model/record/place.ts';
import { moved, scaled, whole } from '../model/record/range.ts';
import type { Page } from './page.ts';

export const PAGE_KEYS: readonly [string, string][] = [
	['drag', 'select a range; a click selects a step or an event'],
	['Ctrl-drag', 'compare with a range'],
	['[ ]', 'the range before and after; also left and right on the timeline'],
	['Shift-left, -right', 'on the timeline: a second shorter and longer'],
	['Esc', 'the wider range from which this one was selected'],
	['e, E, !', 'next, previous, worst event (or peak)'],
	['r', 'compare with the time before it; again: no more'],
	['wheel, + \u2212', 'on the timeline: zoom'],
	['Shift-wheel, drag the axis', 'move the timeline'],
	['z', 'zoom the timeline to the selection'],
	['a, f', 'all of the record; follow the newest second'],
	['1 2 3 4', 'flame graph, applications, findings, events'],
	['q', 'selector of samples'],
];

const ZOOM = 0.6;
const MOVE = 0.25;

export class PageKeys {
	private readonly commands: Record<string, () => void>;
	private readonly timelineCommands: Record<string, () => void>;

	constructor(private readonly page: Page) {
		this.commands = {
			'[': () => page.step(-1),
			']': () => page.step(1),
			e: () => page.jump('next'),
			E: () => page.jump('previous'),
			'!': () => page.jump('worst'),
			r: () => page.compareWithBefore(),
			z: () => page.zoomToSelection(),
			a: () => page.quick(Infinity),
			f: () => page.change({ follows: !page.place.follows }, false),
			q: () => page.bar.q.select(),
			'?': () => page.help(),
			d: () => page.theme(),
		};
		VIEWS.forEach((view, i) => (this.commands[i + 1] = () => page.change({ view })));
		this.timelineCommands = {
			ArrowLeft: () => page.step(-1),
			ArrowRight: () => page.step(1),
			'+': () => page.change({ window: scaled(page.window, ZOOM, 0.5, page.bounds) }, false),
			'=': () => page.change({ window: scaled(page.window, ZOOM, 0.5, page.bounds) }, false),
			'-': () => page.change({ window: scaled(page.window, 1 / ZOOM, 0.5, page.bounds) }, false),
			PageUp: () => page.change({ window: moved(page.window, -MOVE, page.bounds) }, false),
			PageDown: () => page.change({ window: moved(page.window, MOVE, page.bounds) }, false),
			Home: () => page.select({ from: page.bounds.from, to: page.bounds.from + page.length }),
			End: () => page.select({ from: page.bounds.to - page.length, to: page.bounds.to }),
			Enter: () => page.zoomToSelection(),
			Escape: () => page.widen(),
		};
	}

	listen() {
		document.addEventListener('keydown', (event) => this.onKey(event), { capture: true });
	}

	private onKey(event: KeyboardEvent) {
		const { page } = this;
		const { target } = event;
		const isElsewhere = target instanceof HTMLInputElement || target instanceof HTMLSelectElement ||
			document.querySelector('dialog[open], .menu:not([hidden])') !== null;
		if (isElsewhere || event.ctrlKey || event.metaKey || event.altKey)
			return;
		const isTimeline = target === page.timeline.timeline.canvas;
		if (isTimeline && event.shiftKey && event.key.startsWith('Arrow'))
			this.resize(event.key === 'ArrowRight' ? 1 : -1);
		else if (isTimeline && this.timelineCommands[event.key])
			this.timelineCommands[event.key]!();
		else if (event.key === 'Escape' && !page.hasViewer)
			page.widen();
		else if (this.commands[event.key])
			this.commands[event.key]!();
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}

	private resize(seconds: 1 | -1) {
		const { from, to } = this.page.range;
		this.page.select(whole(from, Math.max(to + seconds, from + 1)));
	}
}
