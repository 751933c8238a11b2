// SPDX-License-Identifier: Apache-2.0
/* The sums of what is shown. */
import type { Profile } from './profile.ts';
import type { Selection } from './selection.ts';

export interface Totals {
	total: number;
	before: number;
	/** What ran in the kernel, and what has a stack that is not whole. */
	kernel: number;
	truncated: number;
}

/* Of each node: whether the stack ends before its root, as its first frame says. */
function truncatedNodes({ parent, itemOf, items }: Profile): Uint8Array {
	const isTruncated = new Uint8Array(parent.length);
	for (let i = 1; i < parent.length; i++)
		isTruncated[i] = parent[i] === 0 ? Number(items[itemOf[i]!]!.kind === 'truncated') : isTruncated[parent[i]!]!;
	return isTruncated;
}

export function totalsOf(profile: Profile, selection: Selection): Totals {
	const totals = { total: 0, before: 0, kernel: 0, truncated: 0 };
	const isTruncated = truncatedNodes(profile);
	profile.sampleNode.forEach((node, i) => {
		if (!selection.isShown[node] || !selection.hasLabels[profile.sampleSet[i]!])
			return;
		const value = profile.value[i]!;
		totals.total += value;
		totals.before += profile.before[i]!;
		if (profile.items[profile.itemOf[node]!]?.kind === 'kernel')
			totals.kernel += value;
		if (isTruncated[node])
			totals.truncated += value;
	});
	return totals;
}
