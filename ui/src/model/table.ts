// SPDX-License-Identifier: Apache-2.0
/* The top of the stack as a table: by function, by the file of the source, by the file of the code,
 * or by a label. */
import { changeOf } from './diff.ts';
import { csvCell } from './format.ts';
import type { Item, Profile } from './profile.ts';
import type { Selection } from './selection.ts';
import type { Tree } from './tree.ts';

export interface Row {
	name: string;
	kind: string;
	place: string;
	self: number;
	total: number;
	selfBefore: number;
	totalBefore: number;
}

export type Column = 'name' | 'self' | 'total' | 'before' | 'change';

export interface Order {
	column: Column;
	isDescending: boolean;
}

const NO_STACK = '[no stack]';
const UNKNOWN = '[unknown]';

export function placeOf(file: string, line: number): string {
	return file && line ? `${file}:${line}` : file;
}

/* What the items of a row have in common. The kernel's functions, and why stacks are not whole, are
 * rows of their own. In a comparison, functions are compared by their names (profile.ts); else
 * functions of one name in two programs are two. */
function identityOf(profile: Profile, item: Item, by: string): string {
	const kind = item.kind === 'kernel' || item.kind === 'truncated' ? item.kind : '';
	const origin = by !== 'function' || kind || profile.comparison ? '' : item.module || item.file;
	return JSON.stringify([nameOf(item, by), kind, origin]);
}

function nameOf(item: Item, by: string): string {
	return by === 'function' ? item.name : (by === 'file' ? item.file : item.module) || UNKNOWN;
}

/* The row of each item. */
function rowsOfItems(profile: Profile, by: string): { rows: Row[]; rowOf: Int32Array } {
	const known = new Map<string, number>();
	const rows: Row[] = [];
	const itemOf: Item[] = []; // of each row: one that says where the function is
	const rowOf = Int32Array.from(profile.items, (item) => {
		if (item.label)
			return -1;
		const identity = identityOf(profile, item, by);
		const id = known.get(identity) ?? rows.push(emptyRow(nameOf(item, by), by === 'function' ? item.kind : '')) - 1;
		known.set(identity, id);
		if (!itemOf[id]?.file)
			itemOf[id] = item;
		return id;
	});
	if (by === 'function')
		setPlaces(rows, itemOf);
	return { rows, rowOf };
}

/* The file of the code is part of the place if it tells functions apart. */
function setPlaces(rows: Row[], itemOf: Item[]) {
	const nrOfName = new Map<string, number>();
	for (const { name } of rows)
		nrOfName.set(name, (nrOfName.get(name) ?? 0) + 1);
	rows.forEach((row, id) => {
		const { file, line, module } = itemOf[id]!;
		const source = placeOf(file, line);
		const isShared = nrOfName.get(row.name)! > 1;
		row.place = isShared && source && module ? `${source} in ${module}` : source || module;
	});
}

function emptyRow(name: string, kind: string): Row {
	return { name, kind, place: '', self: 0, total: 0, selfBefore: 0, totalBefore: 0 };
}

/** The rows of a tree of stacks from the root. A row counts once in a stack, however often it is
 * there. */
export function tableOf(profile: Profile, tree: Tree, by: string): Row[] {
	const { rows, rowOf } = rowsOfItems(profile, by);
	const noStack = rows.push(emptyRow(NO_STACK, '')) - 1;
	const column = () => new Float64Array(rows.length);
	const sums = { self: column(), total: column(), selfBefore: column(), totalBefore: column() };
	const nrOpen = new Int32Array(rows.length);
	const path = new Int32Array(tree.maxDepth + 1); // the boxes that are open
	const row = new Int32Array(tree.n); // of each box
	let nr = 0;
	for (let i = 0; i < tree.n; i++) {
		while (nr > 0 && tree.end[path[nr - 1]!]! <= i)
			nrOpen[row[path[--nr]!]!]!--;
		const item = tree.item[i]!;
		const id = item < 0 ? noStack : rowOf[item]!;
		path[nr++] = i;
		row[i] = id;
		sums.self[id]! += tree.self[i]!;
		sums.selfBefore[id]! += tree.selfBefore[i]!;
		if (nrOpen[id]!++ > 0)
			continue;
		sums.total[id]! += item < 0 ? tree.self[i]! : tree.total[i]!;
		sums.totalBefore[id]! += item < 0 ? tree.selfBefore[i]! : tree.before[i]!;
	}
	return rows
		.map((one, id) => ({
			...one,
			self: sums.self[id]!, total: sums.total[id]!,
			selfBefore: sums.selfBefore[id]!, totalBefore: sums.totalBefore[id]!,
		}))
		.filter(({ total, totalBefore }) => total > 0 || totalBefore > 0);
}

/** The rows of a label's values. */
export function labelTable(profile: Profile, selection: Selection, name: string): Row[] {
	const label = profile.labels.find((one) => one.name === name);
	if (!label)
		return [];
	const rows = label.words.map((word) => emptyRow(word || `[no ${name}]`, ''));
	profile.sampleNode.forEach((node, i) => {
		const set = profile.sampleSet[i]!;
		if (!selection.isShown[node] || !selection.hasLabels[set])
			return;
		const row = rows[label.valueOf[set]!]!;
		row.total = row.self += profile.value[i]!;
		row.totalBefore = row.selfBefore += profile.before[i]!;
	});
	return rows.filter((row) => row.total > 0 || row.totalBefore > 0);
}

function key(profile: Profile, row: Row, column: Column): number | string {
	switch (column) {
	case 'name':
		return row.name;
	case 'self':
		return row.self;
	case 'total':
		return row.total;
	case 'before':
		return row.selfBefore;
	case 'change':
		return changeOf(profile, row.selfBefore, row.self).points;
	}
}

export function sorted(profile: Profile, rows: Row[], order: Order): Row[] {
	const keyed = rows.map((row) => ({ row, key: key(profile, row, order.column) }));
	const sign = order.isDescending ? -1 : 1;
	keyed.sort((a, b) => {
		if (a.key !== b.key)
			return a.key < b.key ? -sign : sign;
		return b.row.total - a.row.total || (a.row.name < b.row.name ? -1 : 1);
	});
	return keyed.map(({ row }) => row);
}

export function tableCsv(profile: Profile, rows: Row[], by: string): string {
	const isDiff = profile.comparison !== null;
	const head = [by, 'kind', 'place', 'self', 'total'];
	if (isDiff)
		head.push('self_before', 'total_before', 'self_points');
	const lines = rows.map((row) => {
		const change = changeOf(profile, row.selfBefore, row.self).points.toFixed(4);
		const numbers = isDiff ? [row.self, row.total, row.selfBefore, row.totalBefore] : [row.self, row.total];
		const cells = [csvCell(row.name), row.kind, csvCell(row.place), ...numbers.map((n) => n.toFixed(0))];
		return (isDiff ? [...cells, change] : cells).join();
	});
	return [head.join(), ...lines, ''].join('\r\n');
}
