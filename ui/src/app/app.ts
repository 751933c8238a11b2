// SPDX-License-Identifier: Apache-2.0
/* Joins the parts of the viewer. The state decides what they show; the fragment of the URL holds it.
 * A step of the user's is an entry of the browser's history, so that "back" undoes it. */
import { copy, el, save } from '../dom.ts';
import { facetsOf } from '../model/facets.ts';
import { count, percent } from '../model/format.ts';
import type { Profile } from '../model/profile.ts';
import { SceneMaker } from '../model/scene.ts';
import type { Scene } from '../model/scene.ts';
import { matchesIn, matchingItems, NO_SEARCH, tryMatcher } from '../model/search.ts';
import type { Matcher, Matches } from '../model/search.ts';
import { fragmentOf, initialState, NO_ZOOM, stateOf } from '../model/state.ts';
import type { State } from '../model/state.ts';
import { withChoice } from '../model/selection.ts';
import type { Selection } from '../model/selection.ts';
import { labelTable, tableCsv, tableOf } from '../model/table.ts';
import type { Row } from '../model/table.ts';
import { totalsOf } from '../model/totals.ts';
import { findNames, findPath, pathOf } from '../model/tree.ts';
import { Graph } from '../widget/graph.ts';
import type { Box } from '../widget/graph.ts';
import { CallsPanel } from './calls_panel.ts';
import { Chips } from './chips.ts';
import { FacetsPanel } from './facets_panel.ts';
import { Header } from './header.ts';
import { Help } from './help.ts';
import { factsOf, HoverCard, nameOf } from './hover_card.ts';
import { Keys } from './keys.ts';
import type { Link } from './link.ts';
import { Menu } from './menu.ts';
import { boxEntries, functionRowEntries, rowEntries, wordOf } from './menu_entries.ts';
import { TablePanel } from './table_panel.ts';
import { Toolbar } from './toolbar.ts';

const LABEL_PREFIX = 'label.';
const NOTICE_MS = 2500;
const QUIET_MS = 200;
const THEMES = ['auto', 'light', 'dark'] as const;

/** What is around the viewer. */
export interface Shell {
	link: Link;
	/** Keys of a page around it. */
	keys: readonly [string, string][];
	/** Escape was pressed, and the viewer has nothing to leave. */
	leave(): void;
	/** The colours may be others. */
	onTheme(): void;
	/** Whether keys are the viewer's. */
	isActive(): boolean;
	/** What the status says while there is nothing else to say. */
	hint: string;
	/** Has the page show only the samples with a label, in the whole record. Null: there is no record. */
	choose: ((label: string, word: string) => void) | null;
}

export const NO_SHELL: Omit<Shell, 'link'> = {
	keys: [], leave: () => undefined, onTheme: () => undefined, isActive: () => true, hint: '', choose: null,
};

export class App {
	readonly profile: Profile;
	state: State;
	readonly graph: Graph;
	readonly toolbar: Toolbar;
	readonly help: Help;
	readonly menu: Menu;
	readonly maker: SceneMaker;
	scene: Scene;
	selected: Box | null = null;
	private readonly card = new HoverCard();
	private readonly header: Header;
	private readonly chips: Chips;
	private readonly facets: FacetsPanel;
	private readonly table: TablePanel;
	private readonly calls: CallsPanel;
	private readonly status = el('div', { class: 'status', attributes: { role: 'status', 'aria-live': 'polite' } });
	private readonly prefersDark = matchMedia('(prefers-color-scheme: dark)');
	private readonly initial: State;
	private matches: Matches | null = null;
	private match = -1;
	private isMatch: Uint8Array | null = null;
	private readonly ended = new AbortController();
	private timer = 0;
	private readonly drawn = {
		header: '', facets: '', table: '', calls: '', selection: null as Selection | null, scene: null as Scene | null,
	};

	constructor(profile: Profile, private readonly root: HTMLElement, readonly shell: Shell) {
		const { signal } = this.ended;
		this.profile = profile;
		this.help = new Help(shell.keys);
		this.menu = new Menu(signal);
		this.initial = initialState(profile);
		this.state = stateOf(shell.link.fragment, profile);
		this.maker = new SceneMaker(profile);
		this.scene = this.maker.sceneOf(this.state);
		this.header = new Header(profile);
		this.chips = new Chips((change) => this.change(change));
		this.toolbar = new Toolbar(profile, {
			change: (change, isStep) => this.change(change, isStep),
			reset: () => this.reset(),
			step: (step) => this.stepMatch(step),
			png: () => void this.savePicture(),
			help: () => this.help.toggle(),
			theme: () => this.nextTheme(),
		});
		this.facets = new FacetsPanel(profile, {
			choose: (label, choice) => {
				this.change({ labels: withChoice(this.state.labels, label, choice) });
			},
			group: (label) => this.toggleGroup(label),
			record: shell.choose,
		});
		this.graph = this.makeGraph();
		this.table = this.makeTable();
		this.calls = this.makeCalls();
		this.build();
		this.prefersDark.addEventListener('change', () => this.render(), { signal });
		new Keys(this).listen(signal);
		this.render();
		this.graph.scrollToRoot();
	}

	/** The functions down to the zoomed box. */
	zoomedNames(): string[] {
		const { part, node, span } = this.state.zoom;
		if (part !== 0 || span || this.state.pivot)
			return [];
		return pathOf(this.treeOf(0), node).map((item) => this.profile.items[item]!.name);
	}

	/** Zooms to the box with such functions above it, as far as there is one. */
	zoomToNames(names: readonly string[]) {
		const node = findNames(this.treeOf(0), names, (item) => this.profile.items[item]?.name);
		if (node > 0)
			this.change({ zoom: { part: 0, node, span: null } }, false);
	}

	/** Ends listening to the window. */
	end() {
		clearTimeout(this.timer);
		this.ended.abort();
	}

	private makeGraph(): Graph {
		return new Graph(this.profile, {
			zoom: (zoom, isStep) => this.change({ zoom }, isStep),
			select: (box) => this.select(box),
			hover: (box, x, y) => this.hover(box, x, y),
			menu: (box, x, y) => this.openMenu(box, x, y),
			pivot: (box) => this.pivotOn(this.nameOf(box)),
		});
	}

	private makeTable(): TablePanel {
		return new TablePanel(this.profile, {
			by: (by) => this.change({ by }),
			order: (order) => this.change({ order }),
			csv: (rows) => this.saveTable(rows),
			choose: (row) => {
				if (this.state.by === 'function')
					this.searchFor(row.name);
			},
			open: (row) => this.openRow(row),
			menu: (row, x, y) => this.menu.open(row.name, rowEntries(this, row), x, y),
		});
	}

	private makeCalls(): CallsPanel {
		return new CallsPanel(this.profile, {
			choose: (row) => this.searchFor(row.name),
			open: (row) => this.pivotOn(row.name),
			menu: (row, x, y) => {
				this.menu.open(row.name, functionRowEntries(this, row.name), x, y);
			},
		});
	}

	private build() {
		this.root.replaceChildren(
			this.header.element, this.toolbar.element, this.chips.element,
			el('main', {}, this.facets.element,
				el('div', { class: 'views' }, this.graph.element, this.table.element, this.calls.element)),
			el('footer', {}, this.status, this.header.legend),
			this.card.element, this.menu.element, this.help.element);
		this.root.classList.add('ready');
	}

	/* -- the state -- */

	/** Changes the state. `isStep`: "back" undoes it. */
	change(change: Partial<State>, isStep = true) {
		const before = this.state;
		const path = change.zoom || before.zoom.span ? null : pathOf(this.treeOf(before.zoom.part), before.zoom.node);
		this.state = { ...before, ...change };
		if (path && path.length > 0)
			this.keepZoom(path);
		clearTimeout(this.timer);
		if (isStep)
			this.write(true);
		else
			this.timer = window.setTimeout(() => this.write(false), QUIET_MS);
		this.render();
	}

	/* Browsers ignore pages that change their URL with each movement of the mouse. */
	private write(isStep: boolean) {
		this.shell.link.writeView(fragmentOf(this.state, this.initial), isStep);
	}

	private treeOf(part: number) {
		return (this.scene.parts[part] ?? this.scene.parts[0]!).tree;
	}

	/* Finds the zoomed box again where the tree has changed. */
	private keepZoom(path: number[]) {
		const scene = this.maker.sceneOf(this.state);
		const { part } = this.state.zoom;
		const tree = scene.parts[part]?.tree;
		if (scene !== this.scene)
			this.state.zoom = tree ? { part, node: findPath(tree, path), span: null } : NO_ZOOM;
	}

	/** Shows what the fragment says now. */
	onFragment() {
		clearTimeout(this.timer);
		this.state = stateOf(this.shell.link.fragment, this.profile);
		this.render();
	}

	/* -- what is shown -- */

	private get isDark(): boolean {
		const { theme } = this.state;
		return theme === 'dark' || (theme === 'auto' && this.prefersDark.matches);
	}

	render() {
		const { state } = this;
		const scene = this.maker.sceneOf(state);
		const isNew = scene !== this.drawn.scene;
		this.scene = scene;
		this.drawn.scene = scene;
		if (isNew)
			this.selected = null;
		document.documentElement.dataset.theme = this.isDark ? 'dark' : 'light';
		this.shell.onTheme();
		document.documentElement.dataset.tab = state.tab;
		const { matcher, error } = tryMatcher(state.search);
		this.find(matcher);
		this.showHeader();
		this.toolbar.show(state, this.foundText(), error);
		this.chips.show(state);
		this.showFacets();
		this.showTable(matcher);
		this.showCalls();
		this.showGraph();
		if (isNew)
			this.graph.scrollToRoot();
		this.card.hide();
		this.tell();
	}

	/* Its sums are over all samples, so it stays as it is while the mouse moves. */
	private showHeader() {
		const { state, isDark, profile, drawn } = this;
		const selection = this.maker.selectionOf(state);
		const key = JSON.stringify([state.palette, isDark, profile.items.length, state.side, state.tab === 'calls']);
		if (selection !== drawn.selection || key !== drawn.header)
			this.header.show(totalsOf(profile, selection), isDark, state);
		drawn.selection = selection;
		drawn.header = key;
	}

	private showGraph() {
		const { side, palette, zoom } = this.state;
		const { isMatch, selected, isDark } = this;
		this.graph.show(this.scene, { side, palette, isDark, zoom, isMatch, selected });
	}

	private find(matcher: Matcher | null) {
		this.isMatch = matcher && matchingItems(this.profile.items, matcher);
		this.matches = this.isMatch && matchesIn(this.treeOf(0), this.isMatch);
		this.match = -1;
	}

	private foundText(): string {
		const { matches, profile } = this;
		if (!matches)
			return '';
		const before = profile.comparison ? `${percent(matches.before, profile.totalBefore)} \u2192 ` : '';
		const nr = matches.boxes.length;
		return `${before}${percent(matches.total, profile.total)} in ${count(nr)} ${nr === 1 ? 'box' : 'boxes'}`;
	}

	private showFacets() {
		const { state } = this;
		this.facets.element.hidden = !state.hasFacets;
		const { kernel, hide, drop, only, labels, group } = state;
		const key = state.hasFacets ? JSON.stringify([kernel, hide, drop, only, labels, group]) : '';
		if (key && key !== this.drawn.facets)
			this.facets.show(facetsOf(this.profile, this.maker.selectionOf(state), labels), state);
		this.drawn.facets = key;
	}

	private showTable(matcher: Matcher | null) {
		const { state } = this;
		const { kernel, hide, drop, only, labels, by, order, search } = state;
		const hasTable = state.tab === 'table' || state.tab === 'both';
		const key = !hasTable ? '' : JSON.stringify([kernel, hide, drop, only, labels, by, order, search]);
		if (key && key !== this.drawn.table) {
			const rows = this.rows();
			this.table.show(matcher ? rows.filter((row) => matcher(row.name)) : rows, state);
		}
		this.drawn.table = key;
	}

	private showCalls() {
		const { state, isDark } = this;
		const { kernel, hide, drop, only, labels, palette, search } = state;
		const key = state.tab === 'calls'
			? JSON.stringify([kernel, hide, drop, only, labels, palette, search, isDark]) : '';
		if (key && key !== this.drawn.calls)
			this.calls.show(this.maker.tableTree(state), state, isDark, this.isMatch);
		this.drawn.calls = key;
	}

	private rows(): Row[] {
		const { by } = this.state;
		if (by.startsWith(LABEL_PREFIX))
			return labelTable(this.profile, this.maker.selectionOf(this.state), by.slice(LABEL_PREFIX.length));
		return tableOf(this.profile, this.maker.tableTree(this.state), by);
	}

	/* -- boxes -- */

	nameOf(box: Box): string {
		return nameOf(this.profile, this.scene, box);
	}

	private factsOf(box: Box) {
		const { zoom } = this.state;
		const focus = zoom.part === box.part && zoom.node < this.treeOf(box.part).n ? zoom.node : 0;
		return factsOf(this.profile, this.scene, this.state.side, box, focus);
	}

	select(box: Box | null) {
		this.selected = box;
		this.showGraph();
		this.tell();
	}

	private hover(box: Box | null, x: number, y: number) {
		if (box && !this.menu.isOpen)
			this.card.show(this.nameOf(box), this.factsOf(box), x, y);
		else
			this.card.hide();
	}

	/* Describes the selected box below the graph, where screen readers find it. */
	private tell() {
		const box = this.selected;
		const facts = box ? this.factsOf(box).map(({ name, text }) => `${name} ${text}`) : [];
		this.status.textContent = box ? [this.nameOf(box), ...facts].join(' \u00b7 ') : this.shell.hint;
	}

	showCard() {
		if (!this.selected)
			return;
		const { x, y } = this.graph.placeOf(this.selected);
		this.hover(this.selected, x, y);
	}

	openMenu(box: Box, x: number, y: number) {
		this.card.hide();
		this.menu.open(this.nameOf(box), boxEntries(this, box), x, y);
	}

	/* -- commands -- */

	searchFor(name: string) {
		this.change({ search: { ...NO_SEARCH, text: name, matchesCase: true } }, false);
	}

	notify(text: string) {
		this.status.textContent = text;
		setTimeout(() => this.tell(), NOTICE_MS);
	}

	reset() {
		this.change({ zoom: NO_ZOOM });
		this.graph.scrollToRoot();
	}

	pivotOn(name: string) {
		const { tab } = this.state;
		this.change({ pivot: name, zoom: NO_ZOOM, tab: tab === 'table' ? 'both' : tab === 'calls' ? 'graph' : tab });
	}

	narrow(how: 'hide' | 'drop' | 'only', name: string) {
		if (!this.state[how].includes(name))
			this.change({ [how]: [...this.state[how], name] });
	}

	chooseLabel(label: string, word: string, how: 'include' | 'exclude') {
		const choice = this.state.labels[label] ?? { include: [], exclude: [] };
		const chosen = how === 'include' ? { include: [word], exclude: [] }
			: { include: choice.include, exclude: [...new Set([...choice.exclude, word])] };
		this.change({ labels: { ...this.state.labels, [label]: chosen } });
	}

	undoNarrowing() {
		this.change({ hide: [], drop: [], only: [], labels: {}, kernel: 'all', pivot: '', zoom: NO_ZOOM });
	}

	private toggleGroup(label: string) {
		const group = this.state.group ?? [];
		const changed = group.includes(label) ? group.filter((one) => one !== label) : [...group, label];
		this.change({ group: changed.length > 0 ? changed : null });
	}

	stepMatch(step: 1 | -1) {
		const boxes = this.matches?.boxes ?? [];
		if (boxes.length === 0)
			return;
		this.match = this.match < 0 && step < 0 ? boxes.length - 1 : (this.match + step + boxes.length) % boxes.length;
		const box: Box = { part: 0, node: boxes[this.match]! };
		this.select(box);
		this.graph.reveal(box);
		this.toolbar.show(this.state, `${this.foundText()}, ${count(this.match + 1)}.`, '');
	}

	nextTheme() {
		const at = THEMES.indexOf(this.state.theme);
		this.change({ theme: THEMES[(at + 1) % THEMES.length]! }, false);
	}

	async copyName(name: string) {
		this.notify(await copy(name) ? `copied ${name}` : 'this browser permits no copying');
	}

	private openRow(row: Row) {
		const { by } = this.state;
		if (by === 'function')
			this.pivotOn(row.name);
		else if (by.startsWith(LABEL_PREFIX))
			this.chooseLabel(by.slice(LABEL_PREFIX.length), wordOf(row.name), 'include');
	}

	async savePicture() {
		const picture = await this.graph.picture(this.profile.title);
		if (picture)
			save('flamegraph.png', picture);
		else
			this.notify('the picture is too large for this browser');
	}

	private saveTable(rows: Row[]) {
		const by = this.state.by.replace(LABEL_PREFIX, '');
		save(`${by}.csv`, new Blob([tableCsv(this.profile, rows, by)], { type: 'text/csv' }));
	}
}
