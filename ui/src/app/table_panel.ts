// SPDX-License-Identifier: Apache-2.0
/* The table of functions. Only the rows that are to be seen are elements. */
import { button, el, selectOf } from '../dom.ts';
import { changeOf } from '../model/diff.ts';
import { amount, counted, percent, points } from '../model/format.ts';
import type { Profile } from '../model/profile.ts';
import type { State } from '../model/state.ts';
import { sorted } from '../model/table.ts';
import type { Column, Order, Row } from '../model/table.ts';

const ROW_PX = 24;
const SPARE_ROWS = 12;

export interface TableEvents {
	by(by: string): void;
	order(order: Order): void;
	csv(rows: Row[]): void;
	/** A row was clicked, or its menu was opened. */
	choose(row: Row): void;
	open(row: Row): void;
	menu(row: Row, x: number, y: number): void;
}

export class TablePanel {
	readonly element: HTMLElement;
	private readonly by: HTMLSelectElement;
	private readonly head = el('tr');
	private readonly body = el('tbody');
	private readonly scroller = el('div', { class: 'rows' });
	private readonly number = el('span', { class: 'number' });
	private rows: Row[] = [];
	private order: Order = { column: 'self', isDescending: true };
	private current = 0;

	constructor(private readonly profile: Profile, private readonly events: TableEvents) {
		const labels: [string, string][] = profile.labels.map(({ name }) => [`label.${name}`, `by ${name}`]);
		this.by = selectOf('Rows of the table', [
			['function', 'by function'], ['file', 'by source file'], ['module', 'by module'], ...labels,
		], (value) => events.by(value));
		this.by.dataset.name = 'by';
		const csv = button('CSV', 'Save this table as comma-separated values', () => events.csv(this.rows), 'csv');
		const table = el('table', { attributes: { 'aria-label': 'Top of the stack' } },
			el('thead', {}, this.head), this.body);
		this.scroller.append(table);
		this.scroller.onscroll = () => this.draw();
		this.scroller.onkeydown = (event) => this.onKey(event);
		this.element = el('section', { class: profile.comparison ? 'table compares' : 'table' },
			el('div', { class: 'bar' }, this.by, this.number, csv), this.scroller);
		new ResizeObserver(() => this.draw()).observe(this.scroller);
	}

	show(rows: Row[], state: State) {
		this.order = state.order;
		this.by.value = state.by;
		this.rows = sorted(this.profile, rows, state.order);
		this.current = Math.min(this.current, Math.max(this.rows.length - 1, 0));
		this.number.textContent = counted(this.rows.length, 'row');
		this.drawHead();
		this.draw();
	}

	focus() {
		this.body.querySelector<HTMLElement>('tr[tabindex="0"]')?.focus();
	}

	private drawHead() {
		const columns: [Column, string][] = this.profile.comparison
			? [['before', 'Self before'], ['self', 'Self after'], ['change', 'Points'], ['total', 'Total after'],
				['name', 'Name']]
			: [['self', 'Self'], ['total', 'Total'], ['name', 'Name']];
		const focused = (document.activeElement as HTMLElement | null)?.dataset.name;
		this.head.replaceChildren(...columns.map(([column, text]) => {
			const isSorted = this.order.column === column;
			const isDescending = isSorted ? !this.order.isDescending : column !== 'name';
			const head = button(text, `Sort by ${text.toLowerCase()}`,
				() => this.events.order({ column, isDescending }), `sort-${column}`);
			const sort = isSorted ? (this.order.isDescending ? 'descending' : 'ascending') : 'none';
			return el('th', { class: column, attributes: { 'aria-sort': sort } }, head);
		}));
		if (focused?.startsWith('sort-'))
			this.head.querySelector<HTMLElement>(`[data-name="${focused}"]`)?.focus();
	}

	private draw() {
		const { scrollTop, clientHeight } = this.scroller;
		const first = Math.max(Math.floor(scrollTop / ROW_PX) - SPARE_ROWS, 0);
		const last = Math.min(Math.ceil((scrollTop + clientHeight) / ROW_PX) + SPARE_ROWS, this.rows.length);
		const isFocused = this.body.contains(document.activeElement);
		const space = (nr: number) => {
			const cell = el('td', { attributes: { colspan: this.profile.comparison ? '5' : '3' } });
			cell.style.height = `${Math.max(nr, 0) * ROW_PX}px`;
			return el('tr', { class: 'space', attributes: { 'aria-hidden': 'true' } }, cell);
		};
		const rows = this.rows.slice(first, last).map((row, i) => this.row(row, first + i));
		this.body.replaceChildren(space(first), ...rows, space(this.rows.length - last));
		if (isFocused)
			this.focus();
	}

	private row(row: Row, index: number): HTMLElement {
		const onclick = () => {
			this.current = index;
			this.events.choose(row);
		};
		const element = el('tr', { onclick, attributes: { tabindex: index === this.current ? '0' : '-1' } });
		element.ondblclick = () => this.events.open(row);
		element.oncontextmenu = (event) => {
			event.preventDefault();
			this.events.menu(row, event.clientX, event.clientY);
		};
		const name = el('td', { class: 'name', title: row.name },
			el('span', { class: `dot ${row.kind}` }), el('span', { text: row.name }),
			row.place ? el('small', { text: row.place }) : null);
		if (!this.profile.comparison) {
			element.append(this.share(row.self, this.profile.total), this.share(row.total, this.profile.total), name);
			return element;
		}
		const change = changeOf(this.profile, row.selfBefore, row.self);
		const mark = row.totalBefore === 0 ? ' new' : row.total === 0 ? ' gone' : '';
		element.append(
			this.share(row.selfBefore, this.profile.totalBefore),
			this.share(row.self, this.profile.total),
			el('td', { class: `value ${change.isNoise ? 'noise' : change.points > 0 ? 'grew' : 'shrank'}`,
				text: points(change.points) + mark }),
			this.share(row.total, this.profile.total), name);
		return element;
	}

	private share(part: number, all: number): HTMLElement {
		const bar = el('i');
		bar.style.width = `${all > 0 ? (100 * part) / all : 0}%`;
		const more = this.profile.comparison ? null : el('small', { text: amount(this.profile, part) });
		return el('td', { class: 'value' }, bar, el('span', { text: percent(part, all) }), more);
	}

	private onKey(event: KeyboardEvent) {
		const page = Math.max(Math.floor(this.scroller.clientHeight / ROW_PX) - 1, 1);
		const steps: Record<string, number> = {
			ArrowDown: this.current + 1, ArrowUp: this.current - 1, PageDown: this.current + page,
			PageUp: this.current - page, Home: 0, End: this.rows.length - 1,
		};
		const row = this.rows[this.current];
		if (!this.body.contains(event.target as Node) || !row)
			return;
		const to = steps[event.key];
		if (to !== undefined)
			this.moveTo(Math.min(Math.max(to, 0), this.rows.length - 1));
		else if (event.key === 'Enter')
			this.events.open(row);
		else if (event.key === ' ')
			this.events.choose(row);
		else if (event.key === 'm' || event.key === 'ContextMenu') {
			const { left, bottom } = (event.target as HTMLElement).getBoundingClientRect();
			this.events.menu(row, left + 8, bottom);
		} else
			return;
		event.preventDefault();
		event.stopPropagation();
	}

	private moveTo(index: number) {
		const y = index * ROW_PX;
		const { scrollTop, clientHeight } = this.scroller;
		this.current = index;
		if (y < scrollTop)
			this.scroller.scrollTop = y;
		else if (y + 2 * ROW_PX > scrollTop + clientHeight)
			this.scroller.scrollTop = y + 2 * ROW_PX - clientHeight;
		this.draw();
		this.focus();
	}
}
