// SPDX-License-Identifier: Apache-2.0
/* The data of the page (docs/formats.md), checked and as typed arrays. */

export type Kernel = 'all' | 'only' | 'hide';

/** The JSON as profile/viewer_data.c writes it. */
export interface RawProfile {
	format: string;
	version: number;
	title: string;
	origin: string;
	note: string;
	type: string;
	values: string;
	start_unix_ns: number;
	duration_ns: number;
	period_ns: number;
	truncated_stacks: number;
	view: { bottom_up: boolean; kernel: Kernel; group: string[] };
	diff?: {
		measure: string;
		scale: number;
		has_noise: boolean;
		before_period_ns: number;
		before_duration_ns: number;
	};
	strings: string[];
	kinds: string[];
	frames: { name: number[]; kind: number[]; module: number[]; file: number[]; line: number[] };
	nodes: { parent: number[]; frame: number[]; inlined: number[] };
	samples: { node: number[]; labels: number[]; value: number[]; before?: number[] };
	labels: { name: string; values: number[] }[];
}

/** What a box stands for. Boxes with equal items below the same parent are one. */
export interface Item {
	name: string;
	kind: string;
	module: string;
	file: string;
	line: number;
	isInlined: boolean;
	/** Of the value of a label: its name. */
	label: string;
}

export interface Label {
	name: string;
	/** Of each label set: the number of its value in `words`. */
	valueOf: Int32Array;
	words: string[];
}

export interface Comparison {
	measure: string;
	scale: number;
	hasNoise: boolean;
	cpusBefore: number;
}

export interface Profile {
	title: string;
	origin: string;
	note: string;
	type: string;
	values: string;
	startMs: number;
	durationNs: number;
	periodNs: number;
	truncatedStacks: number;
	view: { bottomUp: boolean; kernel: Kernel; group: string[] };
	comparison: Comparison | null;
	/** Grows when labels become boxes. */
	items: Item[];
	/** The items of labels' values. */
	labelItems: Map<string, number>;
	/** Of each node of the tree; -1 for the root. A parent has a smaller number. */
	parent: Int32Array;
	itemOf: Int32Array;
	sampleNode: Int32Array;
	sampleSet: Int32Array;
	value: Float64Array;
	before: Float64Array;
	nrSets: number;
	labels: Label[];
	/** The sums of all samples. */
	total: number;
	totalBefore: number;
}

const LANGUAGES = new Set(['go', 'rust', 'jvm', 'javascript', 'python', 'jit']);

/* In a comparison, all languages of user space are one kind, as files do not always tell them
 * apart, and a program may have moved to another file. */
function identityOf(item: Item): string {
	const kind = LANGUAGES.has(item.kind) ? 'native' : item.kind;
	return `${kind} ${item.isInlined ? 'i' : ''} ${item.name}`;
}

function itemsOf(raw: RawProfile): { items: Item[]; itemOf: Int32Array } {
	const items: Item[] = [];
	const known = new Map<string, number>();
	const made = new Int32Array(2 * raw.frames.name.length).fill(-1);
	const { parent, frame, inlined } = raw.nodes;
	const itemOf = new Int32Array(parent.length).fill(-1);
	const shared = (identity: string, item: Item) => {
		const id = known.get(identity) ?? items.push(item) - 1;
		known.set(identity, id);
		return id;
	};
	for (let i = 1; i < parent.length; i++) {
		const f = frame[i]!;
		const key = 2 * f + inlined[i]!;
		if (made[key]! < 0) {
			const item: Item = {
				name: raw.strings[raw.frames.name[f]!] || '[unnamed]',
				kind: raw.kinds[raw.frames.kind[f]!]!,
				module: raw.strings[raw.frames.module[f]!]!,
				file: raw.strings[raw.frames.file[f]!]!,
				line: raw.frames.line[f]!,
				isInlined: inlined[i] === 1,
				label: '',
			};
			made[key] = raw.diff ? shared(identityOf(item), item) : items.push(item) - 1;
		}
		itemOf[i] = made[key]!;
	}
	return { items, itemOf };
}

function sum(numbers: Float64Array): number {
	return numbers.reduce((all, one) => all + one, 0);
}

function parentsOf(raw: RawProfile): Int32Array {
	const distance = raw.nodes.parent;
	const parent = new Int32Array(distance.length);
	parent[0] = -1;
	for (let i = 1; i < parent.length; i++) {
		const p = parent[i] = i - distance[i]!;
		if (p < 0 || p >= i)
			throw new Error('a node of the data has no parent');
	}
	return parent;
}

function labelsOf(raw: RawProfile): Label[] {
	return raw.labels.map(({ name, values }) => {
		const known = new Map<number, number>();
		const words: string[] = [];
		const valueOf = Int32Array.from(values, (value) => {
			const id = known.get(value) ?? words.push(raw.strings[value]!) - 1;
			known.set(value, id);
			return id;
		});
		return { name, valueOf, words };
	});
}

function comparisonOf(raw: RawProfile): Comparison | null {
	if (!raw.diff)
		return null;
	const { measure, scale, has_noise, before_period_ns, before_duration_ns } = raw.diff;
	return {
		measure,
		scale,
		hasNoise: has_noise,
		cpusBefore: raw.period_ns && before_duration_ns ? before_period_ns / before_duration_ns : 0,
	};
}

export function profileOf(raw: RawProfile): Profile {
	if (raw.format !== 'flamelet-view' || raw.version !== 1)
		throw new Error('this viewer does not know the format of its data');
	let node = 0;
	const nr = raw.samples.node.length;
	const sampleNode = Int32Array.from(raw.samples.node, (distance) => (node += distance));
	const value = Float64Array.from(raw.samples.value);
	const before = raw.samples.before ? Float64Array.from(raw.samples.before) : new Float64Array(nr);
	const sampleSet = Int32Array.from(raw.samples.labels);
	return {
		title: raw.title,
		origin: raw.origin,
		note: raw.note,
		type: raw.type,
		values: raw.values,
		startMs: raw.start_unix_ns / 1e6,
		durationNs: raw.duration_ns,
		periodNs: raw.period_ns,
		truncatedStacks: raw.truncated_stacks,
		view: {
			bottomUp: raw.view.bottom_up,
			kernel: raw.view.kernel,
			group: raw.view.group,
		},
		comparison: comparisonOf(raw),
		...itemsOf(raw),
		labelItems: new Map(),
		parent: parentsOf(raw),
		sampleNode,
		sampleSet,
		value,
		before,
		nrSets: sampleSet.reduce((most, set) => Math.max(most, set + 1), 0),
		labels: labelsOf(raw),
		total: sum(value),
		totalBefore: sum(before),
	};
}

/** The item of a label's value. */
export function labelItem(profile: Profile, label: string, value: string): number {
	const isProcess = label === 'comm' || label === 'process';
	const name = value || (isProcess ? '[unnamed]' : `[no ${label}]`);
	const key = JSON.stringify([label, name]);
	const known = profile.labelItems.get(key);
	if (known !== undefined)
		return known;
	const kind = isProcess ? 'process' : 'label';
	const id = profile.items.push({
		name, kind, module: '', file: '', line: 0, isInlined: false, label,
	}) - 1;
	profile.labelItems.set(key, id);
	return id;
}
