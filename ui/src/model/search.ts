// SPDX-License-Identifier: Apache-2.0
/* Search in names: plain text unless a switch says otherwise. */
import type { Item } from './profile.ts';
import type { Tree } from './tree.ts';

export interface Search {
	text: string;
	/** Aa */
	matchesCase: boolean;
	/** ab| */
	wholeWord: boolean;
	/** .* */
	isRegex: boolean;
}

export const NO_SEARCH: Search = { text: '', matchesCase: false, wholeWord: false, isRegex: false };

export type Matcher = (name: string) => boolean;

/** Returns null if nothing is searched for. Throws SyntaxError if it is no regular expression. */
export function matcherOf(search: Search): Matcher | null {
	if (!search.text)
		return null;
	const source = search.isRegex ? search.text : search.text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
	/* A word ends where a character follows that cannot be part of a name. */
	const word = search.wholeWord ? `(?<![\\p{L}\\p{N}_$])(?:${source})(?![\\p{L}\\p{N}_$])` : source;
	const expression = new RegExp(word, search.matchesCase ? 'u' : 'iu');
	return (name) => expression.test(name);
}

/** Like matcherOf(), and says what is wrong instead of throwing. */
export function tryMatcher(search: Search): { matcher: Matcher | null; error: string } {
	try {
		return { matcher: matcherOf(search), error: '' };
	} catch (error) {
		return { matcher: null, error: (error as Error).message.replace(/^Invalid regular expression: /, '') };
	}
}

/** Of each item: 1 if its name matches. */
export function matchingItems(items: Item[], matcher: Matcher): Uint8Array {
	return Uint8Array.from(items, (item) => (matcher(item.name) ? 1 : 0));
}

export interface Matches {
	/** The boxes, in the order of the tree. */
	boxes: number[];
	/** The values of all stacks with a match, each counted once. */
	total: number;
	before: number;
}

export function matchesIn(tree: Tree, isMatch: Uint8Array): Matches {
	const matches: Matches = { boxes: [], total: 0, before: 0 };
	let counted = 0; // boxes up to here are below one that was counted
	for (let i = 0; i < tree.n; i++) {
		const item = tree.item[i]!;
		if (item < 0 || !isMatch[item])
			continue;
		matches.boxes.push(i);
		if (i < counted)
			continue;
		matches.total += tree.total[i]!;
		matches.before += tree.before[i]!;
		counted = tree.end[i]!;
	}
	return matches;
}
