import { HttpError } from '../../lib/http/http-error.ts';

/** Pages of the web have no key, and must not reach a gateway whose bypass is on. @throws HttpError 403 */
export function refuseWebPage(headers: readonly (readonly [name: string, value: string])[]): void {
  if (!headers.some(([name]) => name === 'origin')) return;
  throw new HttpError({ code: 'forbidden', message: 'requests of web pages are not served' });
}
