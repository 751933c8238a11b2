// SPDX-License-Identifier: Apache-2.0
/* The server of the record. */

export type Parameters = Record<string, string | number | null | undefined>;

/** The server refused, and its message says why. */
export class ApiError extends Error {
	/** There is nothing of that time. */
	readonly isEmpty: boolean;

	constructor(message: string, isEmpty: boolean) {
		super(message);
		this.isEmpty = isEmpty;
	}
}

interface Refusal {
	error?: string;
	empty?: boolean;
}

/** Whether a request was given up because a newer one took its place. */
export function isAborted(error: unknown): boolean {
	return error instanceof DOMException && error.name === 'AbortError';
}

export class Api {
	/** What the answers lack has changed. */
	onWarnings: () => void = () => undefined;
	/** What the newest answer of each path lacks: sentences, joined by "; ". */
	readonly warnings = new Map<string, string>();

	constructor(private readonly base: string) {}

	url(path: string, parameters: Parameters): string {
		const query = new URLSearchParams();
		for (const [name, value] of Object.entries(parameters))
			if (value !== null && value !== undefined && value !== '')
				query.append(name, String(value));
		const text = query.toString();
		return `${this.base}${path}${text && `?${text}`}`;
	}

	async get<T>(path: string, parameters: Parameters, signal: AbortSignal): Promise<T> {
		let answer: Response;
		try {
			answer = await fetch(this.url(path, parameters), { signal });
		} catch (error) {
			if (isAborted(error))
				throw error;
			throw new ApiError('flamelet ui does not answer: it may have ended', false);
		}
		this.note(path, answer.headers.get('Flamelet-Warnings') ?? '');
		if (!answer.ok) {
			const refusal = await answer.json().catch(() => ({})) as Refusal;
			throw new ApiError(refusal.error ?? `the server answers ${answer.status}`, refusal.empty === true);
		}
		return await answer.json() as T;
	}

	private note(path: string, warning: string) {
		if (warning === (this.warnings.get(path) ?? ''))
			return;
		this.warnings.set(path, warning);
		this.onWarnings();
	}
}

/** Keeps the newest of several requests for the same thing. */
export class Latest {
	private controller: AbortController | null = null;

	/** Gives up the one before. */
	next(): AbortSignal {
		this.controller?.abort();
		this.controller = new AbortController();
		return this.controller.signal;
	}
}
