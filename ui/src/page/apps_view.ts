// SPDX-License-Identifier: Apache-2.0
/* The applications of the selection, as `flamelet top --json` prints them: how much of each is its
 * own code, the kernel's, or interrupts, and its hottest stack. */
import { button, el } from '../dom.ts';
import { counted } from '../model/format.ts';

interface Sides {
	cpus: number;
	application: number;
	kernel: number;
	irq: number;
	softirq: number;
}

/** Threads that were blocked, and that waited for a CPU; null: not known. */
interface Waits {
	wait: number | null;
	delay: number | null;
}

export interface TopRow extends Sides, Waits {
	reasons: Record<string, number>;
	name: string;
	kind: string;
	samples: number;
	processes: number;
	hottest: { side: string; share: number; frames: { function: string; kernel: boolean }[] } | null;
}

export interface Top extends Sides, Waits {
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

function waitCells({ wait, delay, reasons }: TopRow): HTMLElement[] {
	if (wait === null || delay === null)
		return [];
	const title = Object.entries(reasons).map(([reason, threads]) => `${reason} ${threads.toFixed(2)}`).join(', ');
	return [wait, delay].map((threads) => el('td', { class: 'cpus', title, text: threads.toFixed(2) }));
}

/** The selector of a row's samples; '': there is none. */
export function selectorOfRow({ kind, name }: TopRow): [string, string] | null {
	const label = kind === 'process' || kind === 'comm' ? 'comm' : kind === 'pod' ? 'pod' : '';
	const value = label === 'pod' ? name.split('/').pop()! : name;
	return label ? [label, value] : null;
}

function waitSum({ wait, delay }: Waits): string {
	return wait === null || delay === null ? '' :
		` ${wait.toFixed(2)} threads were blocked, and ${delay.toFixed(2)} waited for a CPU.`;
}

export function appsView(top: Top, choose: (label: string, value: string) => void,
	search: (name: string) => void): Node[] {
	const most = top.rows.reduce((max, { cpus }) => Math.max(max, cpus), 0);
	const cpus = ['CPUs', ...(top.wait === null ? [] : ['Blocked', 'Delayed'])];
	const head = el('tr', {}, ...cpus.map((text) => el('th', { class: 'cpus', text })),
		el('th', { class: 'name', text: 'Application' }),
		el('th', { class: 'split', text: 'application, kernel, interrupts, softirqs' }),
		el('th', { text: 'Hottest stack, the function that ran first' }));
	const rows = top.rows.map((row) => {
		const selector = selectorOfRow(row);
		const frames = row.hottest?.frames.slice(0, FRAMES_MAX) ?? [];
		const share = row.hottest ? `${Math.round(100 * row.hottest.share)} %` : '';
		return el('tr', {},
			el('td', { class: 'cpus', text: row.cpus.toFixed(2) }), ...waitCells(row),
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
		.join(', ')}. ${counted(top.samples, 'sample')}${top.lost ? `, ${top.lost} lost` : ''}.`;
	return [el('p', { class: 'sum', text: sum + waitSum(top) }), el('table', { class: 'apps' }, el('thead', {}, head),
		el('tbody', {}, ...rows))];
}
