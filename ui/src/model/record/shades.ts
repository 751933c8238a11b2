// SPDX-License-Identifier: Apache-2.0
/* The colours of timelines and heat maps. */

type Rgb = [number, number, number];

const VITALS: Record<string, string> = {
	user: '#f3ad55', system: '#6f9df0', irq: '#e2574c', softirq: '#a678d8', steal: '#9aa3af',
};
/* Eight hues in three tones. */
const SERIES = [
	'#4c8bf5', '#f0964a', '#4fb593', '#b07cd8', '#e2687f', '#bfae3a', '#45b3c7', '#a0826d',
	'#9cc0fb', '#f8c79b', '#9ad8c2', '#d6b9ee', '#f2aebb', '#ded384', '#95d6e2', '#cdb9ab',
	'#2f5fb5', '#b3651f', '#2f7f65', '#7d4aa8', '#ab3a52', '#857822', '#257f91', '#6f5646',
];
const HUES = 8;
const REST = '#a9b1bd';

const HEAT_LIGHT: Rgb[] = [
	[0xf1, 0xf3, 0xf6], [0xfd, 0xe9, 0xb5], [0xfb, 0xb6, 0x5a], [0xee, 0x6a, 0x3b],
	[0xb3, 0x26, 0x3a], [0x5c, 0x10, 0x37],
];
const HEAT_DARK: Rgb[] = [
	[0x24, 0x29, 0x31], [0x43, 0x2c, 0x46], [0x80, 0x30, 0x52], [0xcb, 0x4b, 0x45],
	[0xf1, 0x93, 0x40], [0xfd, 0xea, 0xa8],
];

export interface Named {
	name: string;
	isRest: boolean;
}

/** The colours of the kernel's counters. */
export function vitalColors(series: readonly Named[]): string[] {
	return series.map(({ name }) => VITALS[name] ?? REST);
}

/* FNV-1a. */
function hashOf(name: string): number {
	let hash = 2166136261;
	for (let i = 0; i < name.length; i++)
		hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
	return (hash ^ (hash >>> 15)) >>> 0;
}

/** Colours that belong to names: whatever else is shown, a name has the same one. The name decides
 * on it, and takes the next one if another name has it already. After more names than there are
 * colours, a colour is given again, but not to two names that are shown together. */
export class NameColors {
	private readonly colorOf = new Map<string, number>();

	of(series: readonly Named[]): string[] {
		const names = series.filter(({ isRest }) => !isRest).map(({ name }) => name);
		const shown = new Set<number>();
		for (const name of names) {
			const known = this.colorOf.get(name);
			if (known !== undefined && shown.has(known))
				this.colorOf.delete(name);
			else if (known !== undefined)
				shown.add(known);
		}
		for (const name of [...names].sort())
			if (!this.colorOf.has(name)) {
				const at = this.free(name, shown);
				this.colorOf.set(name, at);
				shown.add(at);
			}
		return series.map(({ name, isRest }) => isRest ? REST : SERIES[this.colorOf.get(name)!]!);
	}

	/* The first tone is used up before the second. */
	private free(name: string, shown: ReadonlySet<number>): number {
		const given = new Set(this.colorOf.values());
		const first = hashOf(name);
		const inTone = (tone: number) => Array.from({ length: HUES }, (_, i) => tone * HUES + ((first + i) % HUES));
		const all = [...inTone(0), ...inTone(1), ...inTone(2)];
		return all.find((at) => !given.has(at)) ?? all.find((at) => !shown.has(at)) ?? all[0]!;
	}
}

/** The colour of a share from 0 to 1. */
export function heatColor(share: number, isDark: boolean): Rgb {
	const stops = isDark ? HEAT_DARK : HEAT_LIGHT;
	const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
	const at = Math.min(Math.floor(place), stops.length - 2);
	return stops[at]!.map((part, i) => Math.round(part + (stops[at + 1]![i]! - part) * (place - at))) as Rgb;
}
