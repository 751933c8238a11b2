// SPDX-License-Identifier: Apache-2.0
/* Which samples are shown: by the labels that they have, and by the functions in their stacks. */
import type { Kernel, Profile } from './profile.ts';

export interface LabelChoice {
	include: string[];
	exclude: string[];
}

/** The choices with another one for a label. */
export function withChoice(
	labels: Record<string, LabelChoice>, label: string, choice: LabelChoice,
): Record<string, LabelChoice> {
	const all = Object.entries(labels).filter(([name]) => name !== label);
	if (choice.include.length + choice.exclude.length > 0)
		all.push([label, choice]);
	return Object.fromEntries(all);
}

export interface Refinement {
	kernel: Kernel;
	/** Functions by name: their boxes are hidden, */
	hide: string[];
	/** their stacks are left out, */
	drop: string[];
	/** or only stacks with all of these are shown. */
	only: string[];
	labels: Record<string, LabelChoice>;
}

export interface Selection {
	/** Whether every node but the root has a box. */
	isWhole: boolean;
	/** Of each node of the profile: whether it has a box. */
	hasBox: Uint8Array;
	/** Of each node: whether stacks that end here are shown. */
	isShown: Uint8Array;
	/** Of each label set: whether its samples are shown. */
	hasLabels: Uint8Array;
}

const ONLY_MAX = 30; // bits of a number

function isChosen(choice: LabelChoice, word: string): boolean {
	if (choice.exclude.includes(word))
		return false;
	return choice.include.length === 0 || choice.include.includes(word);
}

/** The label sets that the choices admit, but for the choice of the label `except`. */
export function chosenSets(profile: Profile, labels: Refinement['labels'], except = ''): Uint8Array {
	const admitted = new Uint8Array(profile.nrSets).fill(1);
	for (const label of profile.labels) {
		const choice = labels[label.name];
		if (!choice || label.name === except)
			continue;
		const chosen = label.words.map((word) => isChosen(choice, word));
		label.valueOf.forEach((value, set) => {
			if (!chosen[value])
				admitted[set] = 0;
		});
	}
	return admitted;
}

function named(profile: Profile, names: string[]): Uint8Array {
	if (names.length === 0)
		return new Uint8Array(profile.items.length);
	const wanted = new Set(names);
	return Uint8Array.from(profile.items, (item) => (wanted.has(item.name) && !item.label ? 1 : 0));
}

function kernelItems(profile: Profile): Uint8Array {
	return Uint8Array.from(profile.items, (item) => (item.kind === 'kernel' ? 1 : 0));
}

/* Everything but the root has a box, as in the first picture of most pages. */
function selectAll(profile: Profile, labels: Refinement['labels']): Selection {
	const n = profile.parent.length;
	const hasBox = new Uint8Array(n).fill(1, 1);
	return { isWhole: true, hasBox, isShown: new Uint8Array(n).fill(1), hasLabels: chosenSets(profile, labels) };
}

export function select(profile: Profile, refinement: Refinement): Selection {
	const { hide, drop, kernel, only, labels } = refinement;
	if (kernel === 'all' && hide.length + drop.length + only.length === 0)
		return selectAll(profile, labels);
	return selectSome(profile, refinement);
}

function selectSome(profile: Profile, refinement: Refinement): Selection {
	const { parent, itemOf } = profile;
	const hidden = named(profile, refinement.hide);
	const dropped = named(profile, refinement.drop);
	const only = refinement.only.slice(0, ONLY_MAX).map((name) => named(profile, [name]));
	const all = 2 ** only.length - 1;
	const kernel = kernelItems(profile);
	const n = parent.length;
	const hasBox = new Uint8Array(n);
	const isShown = new Uint8Array(n);
	const isDropped = new Uint8Array(n);
	const hasKernel = new Uint8Array(n);
	const found = new Int32Array(n);
	const wantsKernel = refinement.kernel === 'only';
	isShown[0] = all === 0 && !wantsKernel ? 1 : 0;
	for (let i = 1; i < n; i++) {
		const item = itemOf[i]!;
		const p = parent[i]!;
		isDropped[i] = isDropped[p]! | dropped[item]!;
		hasKernel[i] = hasKernel[p]! | kernel[item]!;
		found[i] = found[p]!;
		only.forEach((names, bit) => (found[i]! |= names[item]! << bit));
		isShown[i] = !isDropped[i] && found[i] === all && (!wantsKernel || hasKernel[i]) ? 1 : 0;
		hasBox[i] = hidden[item] ? 0 : 1;
		if (refinement.kernel !== 'all' && (kernel[item] === 1) !== wantsKernel)
			hasBox[i] = 0;
	}
	return { isWhole: false, hasBox, isShown, hasLabels: chosenSets(profile, refinement.labels) };
}
