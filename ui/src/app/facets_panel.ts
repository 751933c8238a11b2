// SPDX-License-Identifier: Apache-2.0
/* The list of labels and their values, by which samples are included, excluded and grouped. */
import { button, el, setPressed } from '../dom.ts';
import type { Facet, FacetValue } from '../model/facets.ts';
import { percent } from '../model/format.ts';
import type { Profile } from '../model/profile.ts';
import type { LabelChoice } from '../model/selection.ts';
import type { State } from '../model/state.ts';
import { rove } from './rove.ts';

const FEW = 8;
const MANY = 200;

export interface FacetEvents {
	choose(label: string, choice: LabelChoice): void;
	group(label: string): void;
	/** Chooses in the whole record; null: there is none. */
	record: ((label: string, word: string) => void) | null;
}

const NO_CHOICE: LabelChoice = { include: [], exclude: [] };

/** The choice after a word was included or excluded, or is no longer. */
export function toggled(choice: LabelChoice | undefined, word: string, how: 'include' | 'exclude'): LabelChoice {
	const { include, exclude } = choice ?? NO_CHOICE;
	const other = how === 'include' ? 'exclude' : 'include';
	const list = { include, exclude };
	const isIn = list[how].includes(word);
	return {
		...list,
		[how]: isIn ? list[how].filter((one) => one !== word) : [...list[how], word],
		[other]: list[other].filter((one) => one !== word),
	};
}

export class FacetsPanel {
	readonly element = el('aside', { class: 'facets', attributes: { 'aria-label': 'Labels' } });
	private readonly open = new Set<string>();
	private readonly filters = new Map<string, string>();
	private drawn: { facets: Facet[]; state: State } | null = null;

	constructor(private readonly profile: Profile, private readonly events: FacetEvents) {
		rove(this.element, 'h2, li, .more');
	}

	show(facets: Facet[], state: State) {
		this.drawn = { facets, state };
		const focused = (document.activeElement as HTMLElement | null)?.dataset.facet;
		this.element.replaceChildren(...facets.map((facet) => this.facet(facet, state)));
		if (focused)
			[...this.element.querySelectorAll<HTMLElement>('[data-facet]')]
				.find((element) => element.dataset.facet === focused)?.focus();
	}

	private again() {
		if (this.drawn)
			this.show(this.drawn.facets, this.drawn.state);
	}

	private facet(facet: Facet, state: State): HTMLElement {
		const { label } = facet;
		const isGroup = state.group?.includes(label) ?? false;
		const group = button('stack', `Show values of ${label} as boxes above the stacks`,
			() => this.events.group(label), `group-${label}`);
		const filter = this.filters.get(label)?.toLowerCase() ?? '';
		const found = facet.values.filter(({ word }) => word.toLowerCase().includes(filter));
		const isOpen = this.open.has(label);
		const shown = found.slice(0, isOpen ? MANY : FEW);
		setPressed(group, isGroup);
		group.dataset.facet = `group ${label}`;
		return el('section', {},
			el('h2', {}, el('span', { text: label }), group),
			facet.values.length > FEW && this.filterField(label),
			el('ul', {}, ...shown.map((value) => this.value(label, value, state))),
			found.length > FEW && this.more(label, isOpen, found.length - FEW));
	}

	private filterField(label: string): HTMLElement {
		const field = el('input', {
			type: 'search', attributes: { placeholder: 'filter values', 'data-facet': `filter ${label}`,
				'aria-label': `Filter values of ${label}` },
		});
		field.value = this.filters.get(label) ?? '';
		field.oninput = () => {
			this.filters.set(label, field.value);
			this.again();
			const again = [...this.element.querySelectorAll('input')]
				.find((one) => one.dataset.facet === `filter ${label}`);
			again?.setSelectionRange(field.value.length, field.value.length);
		};
		return field;
	}

	private more(label: string, isOpen: boolean, nr: number): HTMLElement {
		const element = button(isOpen ? 'fewer' : `${nr} more`, '', () => {
			if (!this.open.delete(label))
				this.open.add(label);
			this.again();
		});
		element.className = 'more';
		element.dataset.facet = `more ${label}`;
		return element;
	}

	private value(label: string, value: FacetValue, state: State): HTMLElement {
		const choice = state.labels[label];
		const text = value.word || `[no ${label}]`;
		const choose = (symbol: string, how: 'include' | 'exclude' | 'only', title: string, isOn: boolean) => {
			const element = button(symbol, `${title} ${label} ${text}`, () => this.events.choose(label,
				how === 'only' ? { include: [value.word], exclude: [] } : toggled(choice, value.word, how)));
			element.dataset.facet = `${how} ${label} ${value.word}`;
			element.className = how;
			setPressed(element, isOn);
			return element;
		};
		const isIn = choice?.include.includes(value.word) ?? false;
		const isOut = choice?.exclude.includes(value.word) ?? false;
		const only = isIn && choice?.include.length === 1;
		const { record } = this.events;
		const all = record && value.word
			? button('all', `Only ${label} ${text}, in the whole record: the timeline follows it`,
				() => record(label, value.word))
			: null;
		const share = percent(value.total, this.profile.total);
		const before = this.profile.comparison ? `${percent(value.before, this.profile.totalBefore)} \u2192 ` : '';
		const bar = el('i');
		bar.style.width = `${this.profile.total > 0 ? (100 * value.total) / this.profile.total : 0}%`;
		return el('li', { class: isOut ? 'out' : isIn ? 'in' : '' },
			bar,
			el('span', { class: 'word', text, title: text }),
			el('span', { class: 'share', text: before + share }),
			choose('+', 'include', 'Include', isIn),
			choose('\u2212', 'exclude', 'Exclude', isOut),
			choose('only', 'only', 'Only', only),
			all);
	}
}
