// SPDX-License-Identifier: Apache-2.0
/* Changes between two profiles, as profile/diff.h computes them. */
import type { Profile } from './profile.ts';

const STANDARD_ERRORS = 2;
const CONTINUITY_SAMPLES = 0.5;
const CHANGE_MIN_SAMPLES = 2;
const ROUNDING = 1e-12;

export interface Change {
	/** -1: it is gone, -0.5: half of it, 0.5: twice as much, 1: it is new. */
	relative: number;
	/** Of the share of all, in percentage points. */
	points: number;
	/** The change may be chance. */
	isNoise: boolean;
}

function noise(profile: Profile, before: number, after: number): number {
	const { comparison, total, totalBefore } = profile;
	if (!comparison?.hasNoise)
		return 0;
	const { scale } = comparison;
	const count = before + after;
	const share = comparison.measure === 'shares' && total + totalBefore > 0 ? count / (total + totalBefore) : 0;
	const error = Math.sqrt(scale * count * Math.max(1 - share, 0));
	const limit = STANDARD_ERRORS * error + CONTINUITY_SAMPLES * (1 + scale);
	return Math.max(limit, CHANGE_MIN_SAMPLES * Math.max(1, scale));
}

function share(count: number, all: number): number {
	return all > 0 ? count / all : 0;
}

export function changeOf(profile: Profile, before: number, after: number): Change {
	const scaled = before * (profile.comparison?.scale ?? 0);
	const larger = Math.max(scaled, after);
	const change = Math.abs(after - scaled) > ROUNDING * larger ? after - scaled : 0;
	return {
		relative: larger > 0 ? change / larger : 0,
		points: 100 * (share(after, profile.total) - share(before, profile.totalBefore)),
		isNoise: Math.abs(change) <= noise(profile, before, after),
	};
}
