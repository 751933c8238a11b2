// SPDX-License-Identifier: Apache-2.0
/* The first row of the page: which samples, of which time, compared with what. */
import { rove } from '../app/rove.ts';
import { button, el, selectOf, setPressed } from '../dom.ts';
import { duration, rangeText, zoneOf } from '../model/record/axis.ts';
import type { Place } from '../model/record/place.ts';
import { VIEWS } from '../model/record/place.ts';
import type { View } from '../model/record/place.ts';
import { lengthOf } from '../model/record/range.ts';
import type { Range } from '../model/record/range.ts';
import { termsOf } from '../model/record/selector.ts';
import { textOfType, typeOf } from './query.ts';
import type { Info } from './query.ts';

const VIEW_TEXTS: Record<View, [string, string]> = {
	flame: ['Flame graph', 'Where the CPU time of the selection went'],
	apps: ['Applications', 'Who used it, and how much of that was the kernel or interrupts'],
	findings: ['Findings', 'Known causes, with evidence'],
	events: ['Events', 'Unusual seconds of the record'],
};

export interface TopBarEvents {
	change(change: Partial<Place>): void;
	compareMenu(x: number, y: number): void;
	downloadMenu(x: number, y: number): void;
	theme(): void;
	help(): void;
}

export class TopBar {
	readonly element: HTMLElement;
	readonly views: HTMLElement;
	readonly q = el('input', { type: 'search', attributes: {
		placeholder: 'All samples, or {pod="web-1",comm!="bash"} (q)', 'aria-label': 'Selector of samples',
		spellcheck: 'false', autocomplete: 'off', 'data-name': 'q',
	} });
	private readonly host: HTMLSelectElement;
	private readonly type: HTMLSelectElement;
	private readonly range = el('b', { class: 'range' });
	private readonly length = el('span', { class: 'dim' });
	private readonly base = el('span', { class: 'chip base', hidden: true });
	private readonly tabs: HTMLButtonElement[];
	private hosts = '';
	private chosen = '';

	constructor(private readonly events: TopBarEvents) {
		this.host = selectOf('Host', [], (host) => events.change({ host }));
		this.type = selectOf('What the flame graph shows', [], (type) => events.change({ type }));
		this.q.onchange = () => this.choose();
		this.q.onkeydown = (event) => {
			event.stopPropagation();
			if (event.key === 'Escape') {
				event.preventDefault(); /* browsers empty the field */
				this.reset(this.chosen);
			}
			if (event.key === 'Enter')
				this.choose();
			if (event.key === 'Escape' || (event.key === 'Enter' && this.q.reportValidity()))
				this.q.blur();
		};
		this.tabs = VIEWS.map((view, i) =>
			button(VIEW_TEXTS[view][0], `${VIEW_TEXTS[view][1]} (${i + 1})`, () => events.change({ view }),
				`view-${view}`));
		const below = (element: HTMLElement, run: (x: number, y: number) => void) => {
			element.onclick = () => {
				const { left, bottom } = element.getBoundingClientRect();
				run(left, bottom + 2);
			};
			return element;
		};
		const nothing = () => undefined;
		this.element = el('div', { class: 'top' },
			el('div', { class: 'line', attributes: { role: 'toolbar', 'aria-label': 'Samples' } },
				el('strong', { class: 'brand', text: 'Flamelet' }), this.host, this.type, this.q,
				el('span', { class: 'when', attributes: { role: 'status' } }, this.range, ' ', this.length),
				this.base,
				el('span', { class: 'set' },
					below(button('Compare', 'Compare with another time, host or selection (r: with the time before)',
						nothing, 'compare'), (x, y) => events.compareMenu(x, y)),
					below(button('Download', 'Files of the selection', nothing, 'download'),
						(x, y) => events.downloadMenu(x, y)),
					button('\u25d0', 'Light, dark, or as the system (d)', () => events.theme(), 'page-theme'),
					button('?', 'Keys (?)', () => events.help(), 'page-help'))));
		this.views = el('div', { class: 'tabs', attributes: { role: 'toolbar', 'aria-label': 'Views' } }, ...this.tabs);
		rove(this.element);
		rove(this.views);
	}

	/* A text that is no selector stays, so that it can be corrected. */
	private choose() {
		const q = this.q.value.trim();
		const isWrong = termsOf(q) === null;
		this.q.classList.toggle('wrong', isWrong);
		this.q.setCustomValidity(isWrong ? 'Write labels as {namespace="shop",pod=~"web.*"}' : '');
		if (!isWrong)
			this.events.change({ q });
	}

	private reset(q: string) {
		this.q.value = q;
		this.q.classList.remove('wrong');
		this.q.setCustomValidity('');
	}

	show(place: Place, info: Info, selection: Range, events: string) {
		this.showChoices(place, info);
		this.chosen = place.q;
		if (document.activeElement !== this.q)
			this.reset(place.q);
		this.range.textContent = rangeText(selection);
		this.length.textContent = `${duration(lengthOf(selection))} \u00b7 ${zoneOf(selection.from)}`;
		this.showBase(place, selection);
		for (const element of this.tabs)
			setPressed(element, element.dataset.name === `view-${place.view}`);
		this.tabs.at(-1)!.textContent = events ? `Events (${events})` : 'Events';
	}

	private showChoices(place: Place, info: Info) {
		const key = JSON.stringify([info.hosts, info.types]);
		if (key !== this.hosts) {
			const option = (value: string, text: string) => el('option', { text, attributes: { value } });
			this.host.replaceChildren(option('', `${info.hosts.length} hosts`),
				...info.hosts.map((one) => option(one, one)));
			this.type.replaceChildren(...info.types.map((one) => option(one, textOfType(one))));
			this.hosts = key;
		}
		this.host.hidden = info.hosts.length < 2;
		this.host.value = place.host;
		this.type.hidden = info.types.length < 2;
		this.type.value = typeOf(place, info);
	}

	private showBase({ base, baseQ, baseHost }: Place, selection: Range) {
		const more = [baseHost, baseQ].filter(Boolean).join(' ');
		const text = base ? `compared with ${rangeText(base, selection)}${more && `, ${more}`}` : '';
		const title = base ? `Compared with ${rangeText(base)}${more && `, ${more}`}` : '';
		this.base.hidden = !base;
		this.base.replaceChildren(el('span', { text, title }), button('\u00d7', 'Compare no more',
			() => this.events.change({ base: null, baseQ: '', baseHost: '' }), 'no-base'));
	}
}
