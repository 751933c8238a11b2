// SPDX-License-Identifier: Apache-2.0
/* What narrows the view, each with a button that takes it away. */
import { button, el } from '../dom.ts';
import { withChoice } from '../model/selection.ts';
import { NO_ZOOM } from '../model/state.ts';
import type { State } from '../model/state.ts';

interface Chip {
	text: string;
	without: Partial<State>;
}

const WORDS = { hide: 'hidden', drop: 'without', only: 'only stacks with' } as const;

export function chipsOf(state: State): Chip[] {
	const chips: Chip[] = [];
	if (state.pivot)
		chips.push({ text: `callers and callees of ${state.pivot}`, without: { pivot: '', zoom: NO_ZOOM } });
	for (const name of ['hide', 'drop', 'only'] as const)
		for (const value of state[name])
			chips.push({
				text: `${WORDS[name]} ${value}`,
				without: { [name]: state[name].filter((one) => one !== value) },
			});
	for (const [label, { include, exclude }] of Object.entries(state.labels)) {
		const words = (list: string[]) => list.map((word) => word || '[none]').join(', ');
		if (include.length > 0)
			chips.push({
				text: `${label}: ${words(include)}`,
				without: { labels: withChoice(state.labels, label, { include: [], exclude }) },
			});
		if (exclude.length > 0)
			chips.push({
				text: `not ${label}: ${words(exclude)}`,
				without: { labels: withChoice(state.labels, label, { include, exclude: [] }) },
			});
	}
	if (state.kernel !== 'all')
		chips.push({ text: state.kernel === 'only' ? 'kernel only' : 'kernel hidden', without: { kernel: 'all' } });
	if (state.group)
		chips.push({ text: `stacked by ${state.group.join(', ') || 'nothing'}`, without: { group: null } });
	return chips;
}

export class Chips {
	readonly element = el('div', { class: 'chips', attributes: { 'aria-label': 'What narrows the view' } });

	constructor(private readonly change: (change: Partial<State>) => void) {}

	show(state: State) {
		const chips = chipsOf(state);
		this.element.hidden = chips.length === 0;
		this.element.replaceChildren(...chips.map(({ text, without }) =>
			el('span', { class: 'chip' }, el('span', { text, title: text }),
				button('\u00d7', `Remove: ${text}`, () => this.change(without)))));
	}
}
