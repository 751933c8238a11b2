// SPDX-License-Identifier: Apache-2.0
/* The applications of the selection, as `flamelet top --json` prints them: how much of each is its
 * own code, the kernel's, or interrupts, and its hottest stack. */
import { button, el } from '../dom.ts';

interface Sides {
	cpus: number;
	application: number;
	kernel: number;
	irq: number;
	softirq: number;
}

export interface TopRow extends Sides {
	name: string;
	kind: string;
	samples: number;
	processes: number;
	hottest: { side: string; share: number; frames: { function: string; kernel: boolean }[] } | null;
}

export interface Top extends Sides {
	by: string;
	samples: number;
	lost: number;
	rows: TopRow[];
}

const SIDES = [['application', 'application'], ['kernel', 'kernel'], ['irq', 'interrupts'],
	['softirq', 'softirqs']] as const;
const FRAMES_MAX = 4;

function bar(row: Sides, all: number): HTMLElement {
	return el('div', { class: 'sides' }, ...SIDES.map(([side, text]) => {
		const part = el('i', { class: side, title: `${text}: ${row[side].toFixed(2)} CPUs` });
		part.style.width = `${all > 0 ? (100 * row[side]) / all : 0}%`;
		return part;
	}));
}

function split(row: Sides): string {
	const percent = (value: number) => `${Math.round(row.cpus > 0 ? (100 * value) / row.cpus : 0)} %`;
	return SIDES.map(([side]) => percent(row[side])).join(' \u00b7 ');
}

/** The selector of a row's samples; '': there is none. */
export function selectorOfRow({ kind, name }: TopRow): [string, string] | null {
	const label = kind === 'process' || kind === 'comm' ? 'comm' : kind === 'pod' ? 'pod' : '';
	const value = label === 'pod' ? name.split('/').pop()! : name;
	return label ? [label, value] : null;
}

export function appsView(top: Top, choose: (label: string, value: string) => void,
	search: (name: string) => void): Node[] {
	const most = top.rows.reduce((max, { cpus }) => Math.max(max, cpus), 0);
	const head = el('tr', {}, ...['CPUs', 'Application', 'application, kernel, interrupts, softirqs',
		'Hottest stack, the function that ran first'].map((text) => el('th', { text })));
	const rows = top.rows.map((row) => {
		const selector = selectorOfRow(row);
		const frames = row.hottest?.frames.slice(0, FRAMES_MAX) ?? [];
		const share = row.hottest ? `${Math.round(100 * row.hottest.share)} %` : '';
		return el('tr', {},
			el('td', { class: 'cpus', text: row.cpus.toFixed(2) }),
			el('td', { class: 'name', title: `${row.name} (${row.kind})` }, selector
				? button(row.name, `Only ${row.name}, in the whole record`, () => choose(...selector)) : row.name,
			el('small', { text: `${row.kind}${row.processes > 1 ? `, ${row.processes} processes` : ''}` })),
			el('td', {}, bar(row, most), el('small', { text: split(row) })),
			el('td', { class: 'stack' }, el('small', { text: share }), ...frames.map((frame, i) => {
				const name = button(frame.function, `Search for ${frame.function} in the flame graph`,
					() => search(frame.function));
				name.className = frame.kernel ? 'kernel' : '';
				return el('span', {}, i > 0 && ' \u2039 ', name);
			})));
	});
	const sum = `${top.cpus.toFixed(2)} CPUs: ${SIDES.map(([side, text]) => `${text} ${top[side].toFixed(2)}`)
		.join(', ')}. ${top.samples} samples${top.lost ? `, ${top.lost} lost` : ''}.`;
	return [el('p', { class: 'sum', text: sum }), el('table', { class: 'apps' }, el('thead', {}, head),
		el('tbody', {}, ...rows))];
}
