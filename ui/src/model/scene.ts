// SPDX-License-Identifier: Apache-2.0
/* What a state shows of a profile: one tree, or two of a function's callers and callees, and where
 * their rows are. */
import type { Profile } from './profile.ts';
import { select } from './selection.ts';
import type { Refinement, Selection } from './selection.ts';
import type { State } from './state.ts';
import type { Tree } from './tree.ts';
import { bottomUp, pivot, rankOf, topDown } from './views.ts';
import type { Grouping, Maker } from './views.ts';

export interface Part {
	tree: Tree;
	/** The row of its root, and whether rows of larger depth are below it. */
	row: number;
	step: 1 | -1;
}

export interface Scene {
	parts: Part[];
	nrRows: number;
}

const PROCESS = 'comm';

/** Makes scenes, and keeps what the next one may need as well. */
export class SceneMaker {
	private rank: Int32Array | null = null;
	private selection: Selection | null = null;
	private selectionKey = '';
	private table: Tree | null = null;
	private scene: Scene | null = null;
	private sceneKey = '';

	constructor(private readonly profile: Profile) {}

	selectionOf(refinement: Refinement): Selection {
		const { kernel, hide, drop, only, labels } = refinement;
		const key = JSON.stringify([kernel, hide, drop, only, labels]);
		if (!this.selection || key !== this.selectionKey) {
			this.selection = select(this.profile, refinement);
			this.selectionKey = key;
			this.table = null;
		}
		return this.selection;
	}

	/** The tree of which tables are made: without labels. */
	tableTree(state: State): Tree {
		const maker = this.makerOf(state);
		this.table ??= topDown(maker, { labels: [], areLast: false });
		return this.table;
	}

	sceneOf(state: State): Scene {
		const maker = this.makerOf(state);
		const key = JSON.stringify([
			this.selectionKey, state.bottomUp, state.isFlipped, state.pivot, state.group,
		]);
		if (!this.scene || key !== this.sceneKey) {
			this.scene = this.make(maker, state);
			this.sceneKey = key;
		}
		return this.scene;
	}

	private makerOf(state: State): Maker {
		return {
			profile: this.profile,
			selection: this.selectionOf(state),
			hidesKernel: state.kernel === 'hide',
			rank: () => {
				if (this.rank?.length !== this.profile.items.length)
					this.rank = rankOf(this.profile);
				return this.rank;
			},
		};
	}

	private groupingOf(state: State): Grouping {
		if (state.group)
			return { labels: state.group, areLast: false };
		const hasProcesses = this.profile.labels.some((label) => label.name === PROCESS);
		return { labels: hasProcesses ? [PROCESS] : [], areLast: true };
	}

	private make(maker: Maker, state: State): Scene {
		const grouping = this.groupingOf(state);
		const down: 1 | -1 = state.isFlipped ? -1 : 1;
		if (state.pivot) {
			const { callers, callees } = pivot(maker, state.pivot, grouping);
			const nrRows = callers.maxDepth + callees.maxDepth + 1;
			const row = state.isFlipped ? callees.maxDepth : callers.maxDepth;
			const up: 1 | -1 = state.isFlipped ? 1 : -1;
			return { parts: [{ tree: callees, row, step: down }, { tree: callers, row, step: up }], nrRows };
		}
		const tree = state.bottomUp ? bottomUp(maker, grouping) : topDown(maker, grouping);
		const nrRows = tree.maxDepth + 1;
		return { parts: [{ tree, row: state.isFlipped ? nrRows - 1 : 0, step: down }], nrRows };
	}
}
