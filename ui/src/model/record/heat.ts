// SPDX-License-Identifier: Apache-2.0
/* Heat maps of which one may be below the other: CPUs, and GPUs below them. */
import type { Timeline } from './series.ts';

const LEAST_SHARE = 0.2;

/** The part of the height that the upper map takes: each row as much as any other, but each map a fifth. */
export function shareAbove(above: number, below: number): number {
	if (below === 0)
		return 1;
	if (above === 0)
		return 0;
	return Math.min(Math.max(above / (above + below), LEAST_SHARE), 1 - LEAST_SHARE);
}

export interface HeatRow {
	isBelow: boolean;
	row: number;
}

/** The row at a height, from 0 at the top to 1; null: it is outside. */
export function rowAt(above: Timeline, below: Timeline | null, height: number): HeatRow | null {
	const nrBelow = below?.series.length ?? 0;
	const share = shareAbove(above.series.length, nrBelow);
	if (height < 0 || height >= 1)
		return null;
	if (height < share)
		return { isBelow: false, row: Math.floor((height / share) * above.series.length) };
	return { isBelow: true, row: Math.floor(((height - share) / (1 - share)) * nrBelow) };
}
