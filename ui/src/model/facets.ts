// SPDX-License-Identifier: Apache-2.0
/* The values of labels, with their sums, for the list by which samples are chosen. */
import type { Profile } from './profile.ts';
import { chosenSets } from './selection.ts';
import type { Refinement, Selection } from './selection.ts';

export interface FacetValue {
	word: string;
	total: number;
	before: number;
}

export interface Facet {
	label: string;
	values: FacetValue[];
}

/** The sums by label set of the samples whose stacks are shown. */
function sumsBySet(profile: Profile, selection: Selection): { total: Float64Array; before: Float64Array } {
	const total = new Float64Array(profile.nrSets);
	const before = new Float64Array(profile.nrSets);
	profile.sampleNode.forEach((node, i) => {
		if (!selection.isShown[node])
			return;
		total[profile.sampleSet[i]!]! += profile.value[i]!;
		before[profile.sampleSet[i]!]! += profile.before[i]!;
	});
	return { total, before };
}

/** All labels that tell samples apart, or by which samples are chosen. The values of a label have
 * the sums that they would have if nothing was chosen by this label. */
export function facetsOf(profile: Profile, selection: Selection, labels: Refinement['labels']): Facet[] {
	const sums = sumsBySet(profile, selection);
	return profile.labels
		.filter((label) => label.words.length > 1 || labels[label.name] || label.words[0] !== '')
		.map((label) => {
			const sets = chosenSets(profile, labels, label.name);
			const values = label.words.map((word) => ({ word, total: 0, before: 0 }));
			label.valueOf.forEach((value, set) => {
				if (!sets[set])
					return;
				values[value]!.total += sums.total[set]!;
				values[value]!.before += sums.before[set]!;
			});
			values.sort((a, b) => b.total - a.total || b.before - a.before || (a.word < b.word ? -1 : 1));
			return { label: label.name, values };
		});
}

export interface Owner {
	label: string;
	word: string;
	share: number;
}

/* Of each node: 1 if a function of that name is at or above it. */
function nodesWith(profile: Profile, name: string): Uint8Array {
	const has = new Uint8Array(profile.parent.length);
	for (let i = 1; i < has.length; i++)
		has[i] = has[profile.parent[i]!]! | (profile.items[profile.itemOf[i]!]!.name === name ? 1 : 0);
	return has;
}

/** Of the samples with a function in their stacks: the most frequent value of each label. */
export function ownersOf(profile: Profile, selection: Selection, name: string): Owner[] {
	const isBelow = nodesWith(profile, name);
	const sums = new Float64Array(profile.nrSets);
	let all = 0;
	profile.sampleNode.forEach((node, i) => {
		const set = profile.sampleSet[i]!;
		if (!selection.isShown[node] || !selection.hasLabels[set] || !isBelow[node])
			return;
		sums[set]! += profile.value[i]! + profile.before[i]!;
		all += profile.value[i]! + profile.before[i]!;
	});
	const owners: Owner[] = [];
	for (const label of profile.labels) {
		const byValue = new Float64Array(label.words.length);
		label.valueOf.forEach((value, set) => (byValue[value]! += sums[set] ?? 0));
		const most = byValue.reduce((best, sum, value) => (sum > byValue[best]! ? value : best), 0);
		if (all > 0 && label.words[most] && label.words.length > 1)
			owners.push({ label: label.name, word: label.words[most], share: byValue[most]! / all });
	}
	return owners;
}
