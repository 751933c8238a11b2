// SPDX-License-Identifier: Apache-2.0
/* Reads the data that stand in the page. */
import { profileOf } from './model/profile.ts';
import type { Profile, RawProfile } from './model/profile.ts';

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
	const text = atob(base64);
	const bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	return bytes;
}

export async function load(element: HTMLElement): Promise<Profile> {
	const packed = new Response(bytesOf(element.textContent)).body!;
	const text = await new Response(packed.pipeThrough(new DecompressionStream('gzip'))).text();
	element.remove();
	return profileOf(JSON.parse(text) as RawProfile);
}
