// SPDX-License-Identifier: Apache-2.0
/* The row of controls: each shows a part of the state, and asks for another one. */
import { button, el, selectOf, setPressed } from '../dom.ts';
import type { Kernel, Profile } from '../model/profile.ts';
import type { State, Tab } from '../model/state.ts';
import { rove } from './rove.ts';

/* The words of pictures (profile/flamegraph.js). */
const WIDTH_AFTER = 'Width: after';
const WIDTH_BEFORE = 'Width: before';

export interface ToolbarEvents {
	change(change: Partial<State>, isStep?: boolean): void;
	reset(): void;
	step(step: 1 | -1): void;
	png(): void;
	help(): void;
	theme(): void;
}

export class Toolbar {
	readonly element: HTMLElement;
	readonly search = el('input', { id: 'search', type: 'search', attributes: {
		placeholder: 'Search (/)', 'aria-label': 'Search functions', spellcheck: 'false', autocomplete: 'off',
	} });
	private readonly found = el('span', { class: 'found', attributes: { role: 'status' } });
	private readonly modes: { key: 'matchesCase' | 'wholeWord' | 'isRegex'; element: HTMLButtonElement }[];
	private readonly tabs: HTMLButtonElement[];
	private readonly toggles: { element: HTMLButtonElement; isOn: (state: State) => boolean }[] = [];
	private readonly kernel: HTMLSelectElement;
	private state: State | null = null;

	constructor(profile: Profile, private readonly events: ToolbarEvents) {
		this.modes = ([
			['matchesCase', 'Aa', 'Match upper and lower case'],
			['wholeWord', 'ab|', 'Match whole words'],
			['isRegex', '.*', 'Regular expression'],
		] as const).map(([key, text, title]) => ({
			key,
			element: button(text, title, () => this.toggleMode(key), key),
		}));
		this.tabs = ([
			['graph', 'Graph', 'The flame graph (t)'], ['table', 'Table', 'The table (t)'],
			['both', 'Both', 'The flame graph and the table (t)'], ['calls', 'Calls', 'The call graph (t)'],
		] as [Tab, string, string][]).map(([tab, text, title]) =>
			button(text, title, () => events.change({ tab }), `tab-${tab}`));
		this.kernel = selectOf('Kernel', [
			['all', 'with kernel'], ['only', 'kernel only'], ['hide', 'hide kernel'],
		], (value) => events.change({ kernel: value as Kernel }));
		this.kernel.dataset.name = 'kernel';
		this.search.oninput = () => this.searchFor();
		this.search.onkeydown = (event) => this.onSearchKey(event);
		this.element = el('div', { class: 'toolbar', attributes: { role: 'toolbar', 'aria-label': 'View' } },
			el('span', { class: 'set' }, ...this.tabs),
			el('span', { class: 'set' }, ...this.viewButtons(profile)),
			this.kernel,
			el('span', { class: 'set grow' }, this.search, ...this.modes.map(({ element }) => element),
				button('\u2191', 'Previous match (N)', () => events.step(-1), 'previous'),
				button('\u2193', 'Next match (n)', () => events.step(1), 'next')),
			this.found,
			el('span', { class: 'set' },
				button('PNG', 'Save the graph as a picture (s)', () => events.png(), 'png'),
				button('\u25d0', 'Light, dark, or as the system (d)', () => events.theme(), 'theme'),
				button('?', 'Keys (?)', () => events.help(), 'help')));
		rove(this.element);
	}

	private viewButtons(profile: Profile): HTMLElement[] {
		const { events } = this;
		const toggle = (text: string, title: string, name: string, isOn: (state: State) => boolean,
			change: (state: State) => Partial<State>) => {
			const element = button(text, title, () => this.state && events.change(change(this.state)), name);
			this.toggles.push({ element, isOn });
			return element;
		};
		const all = [
			toggle('Labels', 'Choose samples by label (l)', 'labels', (s) => s.hasFacets,
				(s) => ({ hasFacets: !s.hasFacets })),
			toggle('Bottom-up', 'Begin with the functions that ran (b)', 'bottom-up', (s) => s.bottomUp,
				(s) => ({ bottomUp: !s.bottomUp, pivot: '' })),
			toggle('Flip', 'Root at the bottom (i)', 'flip', (s) => s.isFlipped, (s) => ({ isFlipped: !s.isFlipped })),
			button('Reset', 'Show all of the width (0)', () => events.reset(), 'reset'),
		];
		if (profile.comparison)
			all.push(
				toggle(WIDTH_AFTER, 'Whether boxes are as wide as before or as after (w)', 'width',
					(s) => s.side === 'before', (s) => ({ side: s.side === 'before' ? 'after' : 'before' })),
				toggle('Colors', 'Orange and blue, which color-blind people can tell apart (v)', 'palette',
					(s) => s.palette === 'orange-blue',
					(s) => ({ palette: s.palette === 'orange-blue' ? 'red-blue' : 'orange-blue' })));
		return all;
	}

	show(state: State, found: string, error: string) {
		this.state = state;
		if (this.search.value !== state.search.text)
			this.search.value = state.search.text;
		this.search.classList.toggle('wrong', error !== '');
		this.search.title = error;
		this.found.textContent = error || found;
		this.kernel.value = state.kernel;
		for (const { key, element } of this.modes)
			setPressed(element, state.search[key]);
		for (const { element, isOn } of this.toggles) {
			setPressed(element, isOn(state));
			if (element.dataset.name === 'width')
				element.textContent = isOn(state) ? WIDTH_BEFORE : WIDTH_AFTER;
		}
		for (const element of this.tabs)
			setPressed(element, element.dataset.name === `tab-${state.tab}`);
	}

	private toggleMode(key: 'matchesCase' | 'wholeWord' | 'isRegex') {
		if (this.state)
			this.events.change({ search: { ...this.state.search, [key]: !this.state.search[key] } }, false);
	}

	private searchFor() {
		if (this.state)
			this.events.change({ search: { ...this.state.search, text: this.search.value } }, false);
	}

	private onSearchKey(event: KeyboardEvent) {
		event.stopPropagation();
		if (event.key === 'Enter')
			this.events.step(event.shiftKey ? -1 : 1);
		else if (event.key === 'Escape' && !this.search.value)
			this.search.blur();
		else if (event.key === 'Escape') {
			this.search.value = '';
			this.searchFor();
		} else
			return;
		event.preventDefault();
	}
}
