import { type Dispatcher, request } from 'undici';
import { AppError, messageOf } from '../../errors.ts';
import { isDomainAllowed, isWebUrl } from '../domain-policy.ts';
import type { AddressPolicy } from './address-policy.ts';
import { acceptedCodings, decodedText, unpackedBody } from './read-response.ts';
import { assertHostPermitted } from './vetted-agent.ts';

/** Redirects that are followed (design §13: each hop is looked at again). */
const redirectsMax = 5;

export interface PageDeps {
  readonly agent: Dispatcher;
  readonly isPermitted: AddressPolicy;
}

interface PageRequest {
  readonly url: string;
  readonly domains: readonly string[] | undefined;
  readonly followRedirects: boolean;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** Takes room for so many bytes of the body. */
  readonly grow: (bytes: number) => Promise<void>;
}

export interface FetchedPage {
  readonly status: number;
  readonly text: string;
  readonly contentType: string;
  /** Where a redirect leads that was not followed. */
  readonly location?: string;
}

/**
 * Asks for a page. Domain and address are checked on every hop (requirements AMB-139).
 * @throws AppError; its reason is the name of the error for the caller of the tool.
 */
export async function fetchPage(deps: PageDeps, asked: PageRequest): Promise<FetchedPage> {
  if (!isWebUrl(asked.url)) throw failed('InvalidUrl', invalidUrl);
  let url = urlOf(asked.url);
  for (let hop = 0; ; hop += 1) {
    assertAllowed(url, asked.domains);
    assertHostPermitted(url.hostname, deps.isPermitted);
    const page = await fetchOnce(deps, url, asked);
    if (page.location === undefined || !asked.followRedirects) return page;
    if (hop === redirectsMax)
      throw failed('TooManyRedirects', `more than ${redirectsMax} redirects, the last to ${page.location}`);
    url = urlOf(page.location, url);
  }
}

function urlOf(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null || !webProtocols.has(url.protocol)) throw failed('InvalidUrl', invalidUrl);
  if (url.username === '' && url.password === '') return url;
  throw failed('InvalidUrl', 'url must not hold a user or password');
}

const invalidUrl = 'url must start with http:// or https://';
const webProtocols: ReadonlySet<string> = new Set(['http:', 'https:']);

function assertAllowed({ hostname }: URL, domains: readonly string[] | undefined): void {
  if (isDomainAllowed(domains, hostname)) return;
  throw failed('DomainNotAllowed', `${hostname} is not in domain_allowlist of the SecurityContext; add it there`);
}

async function fetchOnce({ agent }: PageDeps, url: URL, asked: PageRequest): Promise<FetchedPage> {
  const { method = 'GET', body = null, signal, grow } = asked;
  const headers = { 'user-agent': 'windlass', accept: '*/*', 'accept-encoding': acceptedCodings, ...asked.headers };
  try {
    const response = await request(url, { dispatcher: agent, method, headers, body, signal });
    // A body that is left unread ends with an error, which would otherwise end the process.
    response.body.on('error', () => undefined);
    const location = locationOf(response);
    const contentType = headerOf(response, 'content-type');
    if (location !== undefined) {
      response.body.destroy();
      return { status: response.statusCode, text: '', contentType, location };
    }
    const bytes = await unpackedBody(response.body, headerOf(response, 'content-encoding'), { grow });
    // The content of an error page is not needed.
    return {
      status: response.statusCode,
      text: response.statusCode < 400 ? decodedText(bytes, contentType) : '',
      contentType,
    };
  } catch (error) {
    throw known(error, signal);
  }
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function locationOf(response: Dispatcher.ResponseData): string | undefined {
  const location = headerOf(response, 'location');
  return redirects.has(response.statusCode) && location !== '' ? location : undefined;
}

function headerOf({ headers }: Dispatcher.ResponseData, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

function known(error: unknown, signal: AbortSignal): AppError {
  if (error instanceof AppError) return error;
  if (signal.aborted) return failed('Timeout', 'no whole answer came in time; raise timeout_secs, or fetch less');
  const { cause } = error as { readonly cause?: unknown };
  if (cause instanceof AppError) return cause;
  return failed('NetworkError', messageOf(error).slice(0, 200) || 'the connection failed');
}

const failed = (reason: string, message: string): AppError => new AppError('unavailable', message, { reason });
