// SPDX-License-Identifier: Apache-2.0
/* The page of a record: a timeline, and below it what the selected range was. The place decides what
 * is shown; the fragment of the URL holds it, so that "back" undoes a step. */
import { Help } from '../app/help.ts';
import { Link } from '../app/link.ts';
import { Menu } from '../app/menu.ts';
import type { Entry } from '../app/menu.ts';
import { el } from '../dom.ts';
import { isChosen, jump, markOf, peaksOf } from '../model/record/events.ts';
import type { Jump, Mark, RecordEvent } from '../model/record/events.ts';
import { PLACE_NAMES, placeOf, textOfPlace } from '../model/record/place.ts';
import type { Place, View } from '../model/record/place.ts';
import { before, isSame, lengthOf, newest, stepped, wider, windowAround, within } from '../model/record/range.ts';
import type { Range } from '../model/record/range.ts';
import { withLabel } from '../model/record/selector.ts';
import { NO_SEARCH } from '../model/search.ts';
import { Api, ApiError, Latest } from './api.ts';
import { appsView } from './apps_view.ts';
import type { Top } from './apps_view.ts';
import { DIFF_FORMATS, download, exportQuery, FORMATS } from './downloads.ts';
import { EventsView } from './events_view.ts';
import { findingsView } from './findings_view.ts';
import type { Findings } from './findings_view.ts';
import { FlamePanel } from './flame_panel.ts';
import { ListPanel } from './list_panel.ts';
import type { Action, Nothing } from './overlay.ts';
import { PAGE_KEYS, PageKeys } from './page_keys.ts';
import { cpuQuery, flameQuery, typeOf } from './query.ts';
import type { Info } from './query.ts';
import { nextTheme, showTheme } from './theme.ts';
import { firstLines } from './timeline_data.ts';
import { TimelinePanel } from './timeline_panel.ts';
import { TopBar } from './top_bar.ts';
import { Warnings, warningsOf } from './warnings.ts';

const FIRST_S = 300; // that are selected at first
const FOLLOW_MS = 2000;
const LEFT_MAX = 50;
const APPS = 10;
const NOTICE_MS = 4000;
const HINT = 'Boxes are functions, as wide as their shares. A click zooms, a right click narrows.';
const PATHS: Record<View, string> = { flame: 'flame', apps: 'top', findings: 'findings', events: 'events' };
const NO_BASE = { base: null, baseQ: '', baseHost: '' };

export class Page {
	place: Place;
	readonly bar: TopBar;
	readonly timeline: TimelinePanel;
	private readonly api: Api;
	private readonly link = new Link(PLACE_NAMES);
	private readonly flame: FlamePanel;
	private readonly apps: ListPanel<Top>;
	private readonly findings: ListPanel<Findings>;
	private readonly eventsView: EventsView;
	private readonly menu = new Menu(new AbortController().signal);
	private readonly keys = new Help(PAGE_KEYS);
	private readonly notice = el('div', { class: 'notice', hidden: true, attributes: { role: 'status' } });
	private readonly warnings = new Warnings();
	private readonly latest = new Latest();
	private info: Info | null = null;
	private events: RecordEvent[] = [];
	private ofRecord: string[] = [];
	private firstLines = '';
	private marks: Mark[] = [];
	private peaks: Mark[] = [];
	private isPeaks = false;
	/* The ranges that were selected before. */
	private left: Range[] = [];
	private timer = 0;

	constructor(base: string, private readonly root: HTMLElement) {
		this.api = new Api(base);
		this.place = placeOf(this.link.fragment);
		const change = (one: Partial<Place>, isStep?: boolean) => this.change(one, isStep);
		this.bar = new TopBar({
			change,
			compareMenu: (x, y) => this.menu.open('Compare the selection with', this.comparisons(), x, y),
			downloadMenu: (x, y) => this.menu.open('Save the selection as', this.downloads(), x, y),
			theme: () => this.theme(),
			help: () => this.help(),
		});
		this.timeline = new TimelinePanel(this.api, {
			/* What is selected with the mouse is seen already. */
			change, select: (range) => this.select(range, { window: this.place.window }),
			compare: (base) => this.change({ base }),
			quick: (seconds) => this.quick(seconds), step: (step) => this.step(step), jump: (how) => this.jump(how),
			choose: (label, value) => this.choose(label, value),
		});
		const nothing = () => this.nothing();
		this.flame = new FlamePanel(this.api, {
			link: this.link, keys: PAGE_KEYS, leave: () => this.widen(), isActive: () => this.hasViewer, hint: HINT,
			onTheme: () => this.timeline.timeline.repaint(),
			choose: (label, word) => this.choose(label, word),
		}, nothing);
		const search = (name: string) => this.searchFor(name);
		this.apps = new ListPanel<Top>(this.api, 'top', 'Applications', 'Who used the CPUs in the selected range. ' +
			'A name shows only its samples, a function is searched for in the flame graph.',
		(top) => appsView(top, (label, value) => this.choose(label, value), search), nothing);
		this.findings = new ListPanel<Findings>(this.api, 'findings', 'Findings', 'Known causes of CPU time and of ' +
			'waits, found by the functions in the stacks of the selected range.',
		(one) => findingsView(one, search), nothing);
		this.eventsView = new EventsView({
			select: (range) => this.select(range),
			choose: (range, q) => this.select(range, { q, view: 'flame' }),
			all: () => this.change({ q: '' }),
		});
		this.api.onWarnings = () => this.warn();
		this.timeline.onData = () => this.onData();
	}

	async start() {
		const status = el('p', { text: 'Reading the record\u2026' });
		showTheme(this.link);
		this.root.replaceChildren(status);
		try {
			await this.refresh();
			this.firstLines = await firstLines(this.api, this.bounds, new AbortController().signal);
		} catch (error) {
			status.textContent = error instanceof ApiError ? `${error.message}.` : String(error);
			if (!(error instanceof ApiError))
				throw error;
			return;
		}
		this.root.replaceChildren(this.bar.element, this.timeline.element, this.bar.views,
			el('div', { class: 'views-of-record' }, this.flame.element, this.apps.element, this.findings.element,
				this.eventsView.element), this.warnings.element,
			this.notice, this.menu.element, this.keys.element);
		this.root.classList.add('record');
		this.link.onChange = () => this.onFragment();
		new PageKeys(this).listen();
		window.setInterval(() => void this.follow(), FOLLOW_MS);
		this.render();
		this.timeline.timeline.canvas.focus({ preventScroll: true });
	}

	/* What the record has by now. */
	private async refresh() {
		const signal = this.latest.next();
		const info = await this.api.get<Info>('info', {}, signal);
		const { events, warnings } = await this.api.get<{ events: RecordEvent[]; warnings: string[] }>('events',
			{ from: info.first, to: info.end }, signal);
		this.info = info;
		this.events = events;
		this.ofRecord = [...info.warnings, ...warnings];
		this.warn();
	}

	/* Of the record, the timeline and the view that is shown. */
	private warn() {
		const shown = ['timeline', PATHS[this.place.view]].map((path) => this.api.warnings.get(path) ?? '');
		this.warnings.show(warningsOf(this.ofRecord, shown));
	}

	/* -- where we are -- */

	get bounds(): Range {
		const { first, end } = this.info!;
		return { from: first, to: Math.max(end, first + 1) };
	}

	get range(): Range {
		return this.place.range ?? newest(FIRST_S, this.bounds);
	}

	get length(): number {
		return lengthOf(this.range);
	}

	get window(): Range {
		return this.place.window ?? this.bounds;
	}

	get hasViewer(): boolean {
		return this.place.view === 'flame' && this.flame.app !== null;
	}

	/** `isStep`: "back" undoes it. */
	change(change: Partial<Place>, isStep = true) {
		this.place = { ...this.place, ...change };
		clearTimeout(this.timer);
		if (isStep)
			this.write(true);
		else
			this.timer = window.setTimeout(() => this.write(false), 200);
		this.render();
	}

	private write(isStep: boolean) {
		this.link.writePage(textOfPlace(this.place), isStep);
	}

	private onFragment() {
		clearTimeout(this.timer);
		this.place = placeOf(this.link.fragment);
		showTheme(this.link);
		this.render(true);
	}

	private flameQuery() {
		return flameQuery({ ...this.place, type: typeOf(this.place, this.info!) }, this.range);
	}

	private render(isForeign = false) {
		const { place, range, bounds, window } = this;
		if (!this.info)
			return;
		this.findMarks();
		this.bar.show(place, this.info, range, this.eventsText());
		const lines = place.lines || this.firstLines;
		this.timeline.show({
			place: { ...place, lines }, bounds, window, selection: range, marks: this.marks,
		});
		this.root.dataset.view = place.view;
		this.root.classList.toggle('follows', place.follows);
		this.warn();
		if (place.view === 'flame')
			this.flame.show(this.flameQuery(), isForeign);
		else if (place.view === 'apps')
			this.apps.show({ ...cpuQuery(place, range), n: APPS });
		else if (place.view === 'findings')
			this.findings.show(cpuQuery(place, range));
		else
			this.eventsView.show(this.shownEvents, place.q, range);
	}

	/* -- the range -- */

	select(range: Range, change: Partial<Place> = {}) {
		const { bounds } = this;
		const chosen = within(range, bounds);
		if (!isSame(chosen, this.range))
			this.left = [...this.left, this.range].slice(-LEFT_MAX);
		const window = windowAround(this.window, chosen, bounds);
		this.change({
			range: chosen, window: isSame(window, bounds) ? null : window,
			follows: this.place.follows && chosen.to === bounds.to, base: this.baseOf(chosen), ...change,
		});
	}

	/* The time before the selection, and the same time of others, follow it. */
	private baseOf(chosen: Range): Range | null {
		const { base } = this.place;
		const earlier = before(this.range, this.bounds);
		if (base && isSame(base, this.range))
			return chosen;
		return base && earlier && isSame(base, earlier) ? before(chosen, this.bounds) : base;
	}

	step(step: 1 | -1) {
		this.select(stepped(this.range, step, this.bounds));
	}

	/** To the last wider range. */
	widen() {
		const range = wider(this.range, this.left, this.bounds);
		if (range)
			this.select(range);
	}

	quick(seconds: number) {
		const range = newest(Math.min(seconds, lengthOf(this.bounds)), this.bounds);
		this.select(range, { window: seconds === Infinity ? null : range });
	}

	zoomToSelection() {
		const { range, bounds } = this;
		const around = Math.max(Math.round(lengthOf(range) / 2), 5);
		this.change({ window: within({ from: range.from - around, to: range.to + around }, bounds) });
	}

	jump(how: Jump) {
		const mark = jump(this.marks, this.range, how);
		if (mark)
			this.select({ from: mark.from, to: mark.to });
		else
			this.notify(`there is no ${how} ${this.isPeaks ? 'peak' : 'event'}` +
				(this.place.q ? ' of the chosen samples' : ''));
	}

	/* Events of the chosen hosts; where none is of the chosen samples, peaks of these, too. */
	private findMarks() {
		const events = this.shownEvents.map((one) => markOf(one, isChosen(one, this.place.q) ? 'event' : 'other'));
		this.isPeaks = events.every(({ kind }) => kind === 'other');
		this.marks = [...(this.isPeaks ? this.peaks : []), ...events]
			.sort((a, b) => a.from - b.from || b.score - a.score);
	}

	private eventsText(): string {
		const nr = this.shownEvents.length;
		const nrChosen = this.marks.filter(({ kind }) => kind === 'event').length;
		return nr === 0 ? '' : nrChosen < nr ? `${nrChosen} of ${nr}` : String(nr);
	}

	private get shownEvents(): RecordEvent[] {
		const { host } = this.place;
		return this.events.filter((event) => !host || event.host === host);
	}

	private onData() {
		const chart = this.timeline.data?.chart;
		this.peaks = chart?.kind === 'areas' ? peaksOf(chart.line ?? chart.timeline) : this.peaks;
		if (this.isPeaks)
			this.render();
	}

	/* -- the newest second -- */

	private async follow() {
		const isBusy = [this.timeline, this.flame, this.apps, this.findings].some(({ isWaiting }) => isWaiting);
		const isRead = document.querySelector('dialog[open], .menu:not([hidden])') !== null;
		if (!this.place.follows || document.hidden || isBusy || isRead)
			return;
		try {
			await this.refresh();
		} catch (error) {
			this.notify((error as Error).message);
			return;
		}
		const { length, bounds } = this;
		const span = lengthOf(this.window);
		this.place = {
			...this.place, range: newest(length, bounds),
			window: this.place.window && newest(span, bounds),
		};
		this.write(false);
		this.render();
	}

	/* -- comparing -- */

	compareWithBefore() {
		const base = this.place.base ? null : before(this.range, this.bounds);
		const isWanted = !this.place.base;
		this.change({ ...NO_BASE, base });
		if (isWanted && !base)
			this.notify('the record has nothing before this range');
	}

	private comparisons(): Entry[] {
		const { range, bounds, info } = this;
		const entry = (text: string, base: Range | null, more: Partial<Place> = {}, key = ''): Entry[] =>
			base ? [{ text, key, run: () => this.change({ baseQ: '', baseHost: '', base, ...more }) }] : [];
		const ago = (seconds: number) => {
			const shifted = { from: range.from - seconds, to: range.to - seconds };
			return shifted.from >= bounds.from ? shifted : null;
		};
		const others = info!.hosts.filter((host) => info!.hosts.length > 1 && host !== this.place.host);
		return [
			...entry('the same length before', before(range, bounds), {}, 'r'),
			...entry('a minute before', ago(60)), ...entry('an hour before', ago(3600)),
			...entry('a day before', ago(86400)), ...entry('all of the record', bounds),
			...others.flatMap((host) => entry(`host ${host} at the same time`, range, { baseHost: host })),
			...(this.place.q ? entry('all samples of the same time', range, { baseQ: '{comm=~".*"}' }) : []),
			{ text: 'another range: Ctrl-drag on the timeline', run: () => this.timeline.timeline.canvas.focus() },
			...(this.place.base ? [{ text: 'nothing', run: () => this.change(NO_BASE) }] : []),
		];
	}

	/* -- what panels ask for -- */

	/** Only the samples with a label, in the whole record. */
	choose(label: string, value: string) {
		this.change({ q: withLabel(this.place.q, label, value) });
	}

	private searchFor(name: string) {
		const view = new URLSearchParams({ search: name, mode: 'c' });
		this.change({ view: 'flame' });
		if (this.flame.app)
			this.flame.app.change({ search: { ...NO_SEARCH, text: name, matchesCase: true } });
		else
			this.link.writeView(view.toString(), false);
	}

	private downloads(): Entry[] {
		const query = this.flameQuery();
		const entries = FORMATS.filter(([format]) => !this.place.base || DIFF_FORMATS.has(format))
			.map(([format, text]): Entry => ({
				text,
				run: () => void download(this.api, exportQuery(query, format, this.flame.app?.state))
					.catch((error: unknown) => this.notify((error as Error).message)),
			}));
		const { app } = this.flame;
		if (app)
			entries.push({ text: 'PNG picture of the graph', key: 's', run: () => void app.savePicture() });
		return entries;
	}

	/* A selection without samples. Of two that are compared, the server says which one it is. */
	private nothing(): Nothing {
		const { q, base } = this.place;
		const actions: Action[] = [];
		const text = `There are no samples${q && ` of ${q}`} in this range`;
		if (wider(this.range, this.left, this.bounds))
			actions.push({ text: 'A wider range', run: () => this.widen() });
		if (q)
			actions.push({ text: 'All samples', run: () => this.change({ q: '' }) });
		if (base)
			actions.push({ text: 'Compare no more', run: () => this.change(NO_BASE) });
		actions.push({ text: 'The newest minutes', run: () => this.quick(FIRST_S) });
		return { text: base ? '' : text, actions };
	}

	help() {
		(this.hasViewer ? this.flame.app!.help : this.keys).toggle();
	}

	theme() {
		if (this.hasViewer)
			this.flame.app!.nextTheme();
		else
			nextTheme(this.link);
		this.timeline.timeline.repaint();
	}

	notify(text: string) {
		this.notice.textContent = text[0]!.toUpperCase() + text.slice(1);
		this.notice.hidden = false;
		setTimeout(() => (this.notice.hidden = true), NOTICE_MS);
	}
}

