// SPDX-License-Identifier: Apache-2.0
/* Files of the selection, as `flamelet query -o` writes them. */
import { save } from '../dom.ts';
import type { State } from '../model/state.ts';
import type { LabelChoice } from '../model/selection.ts';
import { escaped, termsOf, textOf } from '../model/record/selector.ts';
import type { Term } from '../model/record/selector.ts';
import { ApiError } from './api.ts';
import type { Api, Parameters } from './api.ts';

export const FORMATS: [string, string][] = [
	['folded', 'Folded text'],
	['csv', 'Table of functions (CSV)'],
	['svg', 'SVG picture'],
	['html', 'Stand-alone HTML'],
	['pprof', 'pprof (.pb.gz)'],
	['speedscope', 'speedscope'],
	['firefox', 'Firefox Profiler'],
	['json', 'JSON with all samples'],
];
/** What a comparison can be. */
export const DIFF_FORMATS: ReadonlySet<string> = new Set(['folded', 'csv', 'svg', 'html']);

function quoted(word: string): string {
	return escaped(word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
}

function termOf(label: string, words: string[], isExcluded: boolean): Term[] {
	if (words.length === 0)
		return [];
	if (words.length === 1)
		return [{ label, operator: isExcluded ? '!=' : '=', value: escaped(words[0]!) }];
	return [{ label, operator: isExcluded ? '!~' : '=~', value: words.map(quoted).join('|') }];
}

/** The selector with what is chosen by labels in the viewer. */
export function withChoices(q: string, labels: Record<string, LabelChoice>): string {
	const terms = Object.entries(labels).flatMap(([label, { include, exclude }]) =>
		[...termOf(label, include, false), ...termOf(label, exclude, true)]);
	return terms.length > 0 ? textOf([...(termsOf(q) ?? []), ...terms]) : q;
}

/** What of the viewer's state an export has, too. */
export function exportQuery(query: Parameters, format: string, state: State | undefined): Parameters {
	if (!state)
		return { ...query, fmt: format };
	return {
		...query,
		fmt: format,
		q: withChoices(String(query.q ?? ''), state.labels),
		group: state.group?.join(',') ?? '',
		bottomup: state.bottomUp ? 1 : '',
		kernel: state.kernel === 'all' ? '' : state.kernel,
	};
}

export async function download(api: Api, query: Parameters): Promise<void> {
	const answer = await fetch(api.url('export', query));
	if (!answer.ok) {
		const refusal = await answer.json().catch(() => ({})) as { error?: string };
		throw new ApiError(refusal.error ?? `the server answers ${answer.status}`, false);
	}
	const name = /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1];
	save(name ?? `flamelet.${String(query.fmt)}`, await answer.blob());
}
