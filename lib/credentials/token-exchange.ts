import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import * as oauth from 'oauth4webapi';
import type { Clock } from '../clock.ts';
import { startDeadline } from '../deadline.ts';
import { bytesOf } from '../memory-budget/index.ts';
import { createSharedCache, entryWith, sharesOf } from '../shared-cache.ts';
import { type Upstream, UpstreamError } from '../upstream/index.ts';
import { credentialLimits } from './credential.ts';
import { credentialFailed } from './read-secret.ts';

interface TokenRequest {
  readonly tenant: string;
  /** Changes with the Secret, and with everything that is asked for. */
  readonly key: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  readonly audience: string | undefined;
  /** Internal networks in which the server may be. */
  readonly allowedNetworks: readonly string[];
}

/** Access tokens of OAuth 2.0 servers by the client credentials grant (RFC 6749 §4.4). */
export interface TokenExchange {
  /** A token that is valid for a while; callers at one time share one request. @throws AppError CredentialFailed */
  token(request: TokenRequest): Promise<string>;
  /**
   * An upstream refused this token, which is not given out again. True where the next call of `token` gives another one.
   * The successor of a refused token is kept for a minute, so that refusals cost the token server one request in that time.
   */
  forget(request: Pick<TokenRequest, 'tenant' | 'key'>, token: string): boolean;
}

interface ExchangeDeps {
  readonly clock: Clock;
  readonly upstream: Pick<Upstream, 'send'>;
}

interface Kept {
  readonly token: string;
  readonly until: number;
}

export function createTokenExchange(deps: ExchangeDeps): TokenExchange {
  const { clock } = deps;
  const tokens = createSharedCache<Kept>({
    ...sharesOf(bytesOf('tokens of upstreams')),
    weigh: ({ token }, key) => entryWith(key, token),
  });
  const refusedAt = new LRUCache<string, number>({ max: credentialLimits.tokens });
  const underway = new Map<string, Promise<Kept>>();
  return {
    forget(request, token) {
      const key = keyOf(request);
      if (tokens.get(request.tenant, key)?.token !== token) return true;
      const now = clock.steadyMs();
      if (now - (refusedAt.get(key) ?? Number.NEGATIVE_INFINITY) < credentialLimits.refusalPauseMs) return false;
      refusedAt.set(key, now);
      tokens.delete(request.tenant, key);
      return true;
    },
    async token(request) {
      const key = keyOf(request);
      const known = tokens.get(request.tenant, key);
      if (known !== undefined && clock.steadyMs() < known.until) return known.token;
      const exchange = underway.get(key) ?? ask(deps, request).finally(() => underway.delete(key));
      underway.set(key, exchange);
      const kept = await exchange;
      tokens.set(request.tenant, key, kept);
      return kept.token;
    },
  };
}

/** As long for many scopes as for none. */
const keyOf = ({ tenant, key }: Pick<TokenRequest, 'tenant' | 'key'>): string => hash('sha256', `${tenant}/${key}`);

/** Several callers may share the call, so none of them ends it. */
async function ask(deps: ExchangeDeps, request: TokenRequest): Promise<Kept> {
  using deadline = startDeadline(deps.clock, credentialLimits.exchangeMs);
  const { tokenUrl, clientId: client_id, scopes, audience } = request;
  const server: oauth.AuthorizationServer = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
  const client: oauth.Client = { client_id };
  const parameters = new URLSearchParams();
  let status: number | undefined;
  if (scopes.length > 0) parameters.set('scope', scopes.join(' '));
  if (audience !== undefined) parameters.set('audience', audience);
  try {
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      oauth.ClientSecretBasic(request.clientSecret),
      parameters,
      {
        // oxlint-disable-next-line typescript/no-deprecated -- operators may register servers inside their network
        [oauth.allowInsecureRequests]: true,
        [oauth.customFetch]: fetchOver(deps, request, {
          signal: deadline.signal,
          onStatus: (answered) => (status = answered),
        }),
      },
    );
    const answer = await oauth.processClientCredentialsResponse(server, client, response);
    return { token: bearerOf(answer), until: deps.clock.steadyMs() + lifeOf(answer.expires_in) * 1_000 };
  } catch (cause) {
    throw credentialFailed(
      `the token server of ${new URL(tokenUrl).host} gave no token: ${reasonOf(cause, status)}`,
      cause,
    );
  }
}

/** A token that no call can carry. The message holds nothing of it. */
class UnusableToken extends Error {
  override readonly name = 'UnusableToken';
}

/** A client does not use a token of a type that it does not know (RFC 6749 §7.1). @throws UnusableToken */
function bearerOf({ access_token: token, token_type: type }: oauth.TokenEndpointResponse): string {
  if (type !== 'bearer') throw new UnusableToken('its token is of another type than Bearer');
  const most = credentialLimits.valueLength;
  if (/^[\x21-\x7e]+$/.test(token) && token.length <= most) return token;
  throw new UnusableToken(`its token must have 1 to ${most} visible ASCII characters`);
}

/** In words of ours: those of the library may quote what was sent, or what the server says. */
function reasonOf(cause: unknown, status: number | undefined): string {
  if (cause instanceof UpstreamError || cause instanceof UnusableToken) return cause.message;
  if (status !== undefined && status !== 200) return `it answered with status ${status}`;
  return 'its answer is none of the client credentials grant';
}

function lifeOf(seconds: number | undefined): number {
  const { marginSeconds, defaultSeconds, longestSeconds } = credentialLimits;
  return Math.max(0, Math.min(seconds ?? defaultSeconds, longestSeconds) - marginSeconds);
}

type Fetch = (
  url: string,
  options: { readonly method: string; readonly headers: Record<string, string>; readonly body: URLSearchParams },
) => Promise<Response>;

interface Exchange {
  readonly signal: AbortSignal;
  readonly onStatus: (status: number) => void;
}

/** The library's requests, over vetted addresses and with our bounds. */
const fetchOver =
  ({ upstream }: ExchangeDeps, { tenant, allowedNetworks }: TokenRequest, { signal, onStatus }: Exchange): Fetch =>
  async (url, { method, headers, body }) => {
    const { origin, pathname, search } = new URL(url);
    const answer = await upstream.send({
      tenant,
      method,
      server: origin,
      path: `${pathname}${search}`,
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      body: body.toString(),
      allowedNetworks,
      responseBytes: credentialLimits.answerBytes,
      signal,
    });
    onStatus(answer.status);
    return new Response(new Uint8Array(answer.body), {
      status: answer.status,
      headers: { 'content-type': 'application/json' },
    });
  };
