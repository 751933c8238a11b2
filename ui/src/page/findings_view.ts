// SPDX-License-Identifier: Apache-2.0
/* Known causes of CPU time and of waits in the selection, as `flamelet findings --json` prints them. */
import { button, el } from '../dom.ts';
import { counted } from '../model/format.ts';

interface Part {
	name: string;
	samples: number;
	of: number;
}

interface Finding {
	id: string;
	title: string;
	kind: 'cpu' | 'offcpu';
	samples: number; /* of offcpu, here and in parts: nanoseconds */
	of: number;
	cpus?: number;
	threads?: number;
	callers: Part[];
	programs: Part[];
	starters: Part[];
	stack: string[];
	next: string[];
	more: string;
}

export interface Findings {
	samples: number;
	rules: string[];
	findings: Finding[];
}

const FRAMES_MAX = 6;

function parts(list: Part[]): string {
	return list.map(({ name, samples, of }) => `${name} ${Math.round(of > 0 ? (100 * samples) / of : 0)} %`).join(', ');
}

function seconds(ns: number): string {
	return `${(ns / 1e9).toFixed(2)} s`;
}

function card(finding: Finding, search: (name: string) => void): HTMLElement {
	const facts: [string, (Node | string)[]][] = [
		finding.kind === 'offcpu' ? ['blocked', [`${seconds(finding.samples)} of ${seconds(finding.of)}; ` +
			`${(finding.threads ?? 0).toFixed(2)} threads on average`]] :
			['samples', [`${finding.samples} of ${finding.of}; ${(finding.cpus ?? 0).toFixed(2)} CPUs on average`]],
		['called by', [parts(finding.callers)]],
		['time of', [parts(finding.programs)]],
		['started by', [parts(finding.starters)]],
		['for example', finding.stack.slice(0, FRAMES_MAX).flatMap((name, i) =>
			[i > 0 ? ' \u2039 ' : '', button(name, `Search for ${name} in the flame graph`, () => search(name))])],
		['next', finding.next.map((step) => el('div', { text: step }))],
		['more', [finding.more]],
	];
	return el('article', { attributes: { 'data-finding': finding.id } }, el('h3', { text: finding.title }),
		el('dl', {}, ...facts.filter(([, children]) => children.some((child) => child !== '')).flatMap(
			([name, children]) => [el('dt', { text: name }), el('dd', {}, ...children)])));
}

export function findingsView(answer: Findings, search: (name: string) => void): Node[] {
	if (answer.findings.length === 0)
		return [el('p', { class: 'sum', text: `None of the ${answer.rules.length} rules matches the ` +
			`${counted(answer.samples, 'sample')} of the selection.` })];
	return answer.findings.map((finding) => card(finding, search));
}
