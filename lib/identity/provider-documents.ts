import type { JSONWebKeySet } from 'jose';
import { Agent, type Dispatcher, request } from 'undici';
import type { Clock } from '../clock.ts';
import { cutText } from '../cut-text.ts';
import { startDeadline } from '../deadline.ts';
import { AppError } from '../errors.ts';
import { isJsonObject } from '../json-object.ts';
import { identityLimits } from './limits.ts';
import { parseProviderAddress } from './provider-address.ts';

export interface ProviderOptions {
  /** Exactly what tokens carry as `iss`. */
  readonly issuer: string;
  /** Where the keys are. Default: what the issuer's discovery document says. */
  readonly jwksUrl?: string;
  /** Certificates to trust in place of the public ones, PEM. */
  readonly ca?: string;
  /** Accepts http on loopback addresses. */
  readonly allowHttp?: boolean;
  /** For a whole document. @default 5 s */
  readonly timeoutMs?: number;
}

/** The metadata that an identity provider publishes. */
export interface ProviderDocuments {
  /** Fetches the signing keys, with the whole answer bounded in bytes and time. @throws AppError `unavailable`. */
  keys(): Promise<JSONWebKeySet>;
  /** Breaks every connection. */
  close(): Promise<void>;
}

/** @throws AppError `invalid` where an address is not to be trusted. */
export function createProviderDocuments(clock: Clock, options: ProviderOptions): ProviderDocuments {
  return new HttpDocuments(clock, options);
}

class HttpDocuments implements ProviderDocuments {
  readonly #clock: Clock;
  readonly #options: ProviderOptions;
  readonly #issuer: URL;
  readonly #agent: Agent;
  #keysUrl: URL | undefined;

  constructor(clock: Clock, options: ProviderOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#issuer = this.#address(options.issuer);
    this.#keysUrl = options.jwksUrl === undefined ? undefined : this.#address(options.jwksUrl);
    this.#agent = new Agent({ connections: 2, connect: { ca: options.ca, timeout: this.#timeoutMs } });
  }

  async keys(): Promise<JSONWebKeySet> {
    this.#keysUrl ??= await this.#discover();
    try {
      return asKeySet(await this.#fetch(this.#keysUrl));
    } catch (error) {
      // The provider may have moved its keys: the next attempt asks it where they are.
      if (this.#options.jwksUrl === undefined) this.#keysUrl = undefined;
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  get #timeoutMs(): number {
    return this.#options.timeoutMs ?? identityLimits.documentTimeoutMs;
  }

  #address(text: string): URL {
    return parseProviderAddress(text, this.#options.allowHttp ?? false);
  }

  /** OpenID Connect Discovery §4: the document names the issuer it is of, letter by letter. */
  async #discover(): Promise<URL> {
    const base = this.#issuer.href.replace(/\/$/, '');
    const document = await this.#fetch(new URL(`${base}/.well-known/openid-configuration`));
    if (!isJsonObject(document)) throw unavailable('the discovery document is not a JSON object');
    const { issuer } = document;
    if (issuer !== this.#options.issuer) throw unavailable(`the discovery document is of the issuer ${named(issuer)}`);
    if (typeof document.jwks_uri !== 'string') throw unavailable('the discovery document names no jwks_uri');
    return this.#address(document.jwks_uri);
  }

  async #fetch(url: URL): Promise<unknown> {
    using deadline = startDeadline(this.#clock, this.#timeoutMs);
    try {
      const response = await request(url, {
        dispatcher: this.#agent,
        signal: deadline.signal,
        headers: { accept: 'application/json, application/jwk-set+json' },
      });
      return JSON.parse(await readBounded(url, response)) as unknown;
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      throw new AppError('unavailable', `no usable answer from ${url.host}`, { reason: 'ProviderFailed', cause });
    }
  }
}

/** Redirects are not followed: keys come from the address that was configured, or from nowhere. */
async function readBounded(url: URL, { statusCode, body }: Dispatcher.ResponseData): Promise<string> {
  // Destroying a body that is left unread raises an error of its own, which would end the process.
  body.on('error', () => undefined);
  if (statusCode !== 200) {
    body.destroy();
    throw unavailable(`${url.href} answered with status ${statusCode}`);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > identityLimits.documentBytes) throw unavailable('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function asKeySet(document: unknown): JSONWebKeySet {
  const keys = isJsonObject(document) ? document.keys : undefined;
  if (!Array.isArray(keys) || !keys.every(isJsonObject)) throw unavailable('the keys are not a JSON Web Key Set');
  return { keys } as JSONWebKeySet;
}

/** For a log: whatever it is, and not longer than a line. */
function named(issuer: unknown): string {
  return typeof issuer === 'string' ? JSON.stringify(cutText(issuer, 200)) : '(none)';
}

function unavailable(message: string): AppError {
  return new AppError('unavailable', message, { reason: 'ProviderFailed' });
}
