// SPDX-License-Identifier: Apache-2.0
/* What is known of a box, beside the pointer or the selected box. */
import { el } from '../dom.ts';
import { changeOf } from '../model/diff.ts';
import { amount, count, isTime, percent, points, values } from '../model/format.ts';
import { widthsOf } from '../model/layout.ts';
import type { Profile } from '../model/profile.ts';
import type { Scene } from '../model/scene.ts';
import type { Side } from '../model/layout.ts';
import { placeOf } from '../model/table.ts';
import type { Box } from '../widget/graph.ts';

export interface Fact {
	name: string;
	text: string;
}

const OFFSET_PX = 14;

function change(profile: Profile, before: number, after: number): string {
	const { isNoise, points: change } = changeOf(profile, before, after);
	const mark = before === 0 ? ', new' : after === 0 ? ', gone' : isNoise ? ', within sampling noise' : '';
	return `${percent(before, profile.totalBefore)} \u2192 ${percent(after, profile.total)}, ` +
		`${points(change)} points${mark}`;
}

function sharesOf(profile: Profile, value: number, shown: number): string {
	const more = values(profile, value);
	const ofShown = shown < profile.total ? `, ${percent(value, shown)} of what is shown` : '';
	return `${percent(value, profile.total)}, ${amount(profile, value)}${more && `, ${more}`}${ofShown}`;
}

/** The lines of a box's card, and of its description for screen readers. */
export function factsOf(profile: Profile, scene: Scene, side: Side, box: Box, focus: number): Fact[] {
	const part = scene.parts[box.part];
	if (!part || box.node >= part.tree.n)
		return [];
	const { tree } = part;
	const item = profile.items[tree.item[box.node]!];
	const total = tree.total[box.node]!;
	const before = tree.before[box.node]!;
	const facts: Fact[] = [];
	const put = (name: string, text: string) => text && facts.push({ name, text });
	if (profile.comparison) {
		put('total', change(profile, before, total));
		put('self', change(profile, tree.selfBefore[box.node]!, tree.self[box.node]!));
		put(isTime(profile) ? 'time' : profile.values, isTime(profile) ?
			`${amount(profile, before)} \u2192 ${amount(profile, total)}` :
			`${count(before)} \u2192 ${count(total)}`);
	} else {
		put('total', sharesOf(profile, total, widthsOf(tree, side)[focus]!));
		put('self', `${percent(tree.self[box.node]!, profile.total)}, ${amount(profile, tree.self[box.node]!)}`);
	}
	if (!item)
		return facts;
	put('kind', (item.label ? `value of ${item.label}` : item.kind) + (item.isInlined ? ', inlined' : ''));
	put('source', placeOf(item.file, item.line));
	put('module', item.module);
	return facts;
}

export function nameOf(profile: Profile, scene: Scene, box: Box): string {
	const tree = scene.parts[box.part]?.tree;
	return profile.items[tree?.item[box.node] ?? -1]?.name ?? 'all';
}

export class HoverCard {
	readonly element = el('div', { class: 'card', hidden: true, attributes: { role: 'tooltip' } });

	hide() {
		this.element.hidden = true;
	}

	show(name: string, facts: Fact[], x: number, y: number) {
		const list = el('dl');
		for (const { name: key, text } of facts)
			list.append(el('dt', { text: key }), el('dd', { text }));
		this.element.replaceChildren(el('b', { text: name }), list);
		this.element.hidden = false;
		const { width, height } = this.element.getBoundingClientRect();
		const left = x + OFFSET_PX + width > window.innerWidth ? x - OFFSET_PX - width : x + OFFSET_PX;
		const top = y + OFFSET_PX + height > window.innerHeight ? y - OFFSET_PX - height : y + OFFSET_PX;
		this.element.style.left = `${Math.max(left, 4)}px`;
		this.element.style.top = `${Math.max(top, 4)}px`;
	}
}
