// SPDX-License-Identifier: Apache-2.0
/* Profiles for tests, written as folded text: "comm;main;read_[k] 3", or with two counts, of before
 * and after. A frame may end in _[k] (kernel), _[g] (Go), _[i] (inlined), or @module. */
import { profileOf } from '../src/model/profile.ts';
import type { Profile, RawProfile } from '../src/model/profile.ts';
import { pathOf } from '../src/model/tree.ts';
import type { Tree } from '../src/model/tree.ts';

const KINDS = ['native', 'kernel', 'truncated', 'go', 'rust', 'jvm', 'javascript', 'python', 'jit', 'label'];
const MARKS: Record<string, string> = { k: 'kernel', g: 'go', p: 'python' };

class Rows {
	readonly rows: string[] = [];
	private readonly ids = new Map<string, number>();
	id(row: string): number {
		const id = this.ids.get(row) ?? this.rows.push(row) - 1;
		this.ids.set(row, id);
		return id;
	}
}

interface Line {
	frames: string[];
	labels: Record<string, string>;
	counts: number[];
}

function parse(text: string): Line[] {
	return text.trim().split('\n').map((line) => {
		const [, stack, counts] = /^(.*?)((?: \d+)+)$/.exec(line.trim())!;
		const [first, ...frames] = stack!.split(';');
		const labels: Record<string, string> = {};
		first!.split(',').forEach((part, i) => {
			const [name, value] = part.includes('=') ? part.split('=') : [i === 0 ? 'comm' : 'x', part];
			labels[name!] = value!;
		});
		return { frames, labels, counts: counts!.trim().split(' ').map(Number) };
	});
}

export function rawOf(text: string): RawProfile {
	const lines = parse(text);
	const strings = new Rows();
	const frames = new Rows();
	const nodes = new Rows();
	const sets = new Rows();
	strings.id('');
	const names = [...new Set(lines.flatMap((line) => Object.keys(line.labels)))];
	const isDiff = lines.some((line) => line.counts.length > 1);
	nodes.id('[0, 0, 0, "the root"]');
	const samples = lines.map(({ frames: stack, labels, counts }) => {
		let node = 0;
		for (const frame of stack) {
			const [, name, mark, module] = /^(.*?)(?:_\[(\w)\])?(?:@(.*))?$/.exec(frame)!;
			const kind = KINDS.indexOf(MARKS[mark ?? ''] ?? 'native');
			const id = frames.id(JSON.stringify([strings.id(name!), kind, strings.id(module ?? '')]));
			node = nodes.id(JSON.stringify([node, id, mark === 'i' ? 1 : 0]));
		}
		const set = sets.id(JSON.stringify(names.map((name) => strings.id(labels[name] ?? ''))));
		const [before, after] = isDiff ? [counts[0]!, counts[1]!] : [0, counts[0]!];
		return { node, set, before, after };
	});
	samples.sort((a, b) => a.node - b.node || a.set - b.set);
	const frameRows = frames.rows.map((row) => JSON.parse(row) as number[]);
	const nodeRows = nodes.rows.map((row) => JSON.parse(row) as number[]);
	const setRows = sets.rows.map((row) => JSON.parse(row) as number[]);
	const sum = (side: 'before' | 'after') => samples.reduce((all, sample) => all + sample[side], 0);
	return {
		format: 'flamelet-view', version: 1, title: 't', origin: 'o', note: '', type: 'samples', values: 'samples',
		start_unix_ns: 0, duration_ns: 1e9, period_ns: 1e7, truncated_stacks: 0,
		view: { bottom_up: false, kernel: 'all', group: [] },
		...(isDiff && { diff: {
			measure: 'shares', scale: sum('after') / sum('before'), has_noise: true,
			before_period_ns: 1e7, before_duration_ns: 1e9,
		} }),
		strings: strings.rows,
		kinds: KINDS,
		frames: {
			name: frameRows.map((row) => row[0]!), kind: frameRows.map((row) => row[1]!),
			module: frameRows.map((row) => row[2]!), file: frameRows.map(() => 0), line: frameRows.map(() => 0),
		},
		nodes: {
			parent: nodeRows.map((row, i) => i - row[0]!), frame: nodeRows.map((row) => row[1]!),
			inlined: nodeRows.map((row) => row[2]!),
		},
		samples: {
			node: samples.map((sample, i) => sample.node - (samples[i - 1]?.node ?? 0)),
			labels: samples.map((sample) => sample.set),
			value: samples.map((sample) => sample.after),
			...(isDiff && { before: samples.map((sample) => sample.before) }),
		},
		labels: names.map((name, i) => ({ name, values: setRows.map((row) => row[i]!) })),
	};
}

export function profile(text: string): Profile {
	return profileOf(rawOf(text));
}

/** The boxes of a tree, one a line: "a;b total self". */
export function boxes(of: Profile, tree: Tree): string[] {
	const lines = [];
	for (let i = 1; i < tree.n; i++) {
		const path = pathOf(tree, i).map((item) => of.items[item]!.name).join(';');
		lines.push(`${path} ${tree.total[i]!} ${tree.self[i]!}`);
	}
	return lines;
}
