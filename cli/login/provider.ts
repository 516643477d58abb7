import * as oauth from 'oauth4webapi';
import { messageOf } from '../../lib/errors.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { CliError } from '../exit-codes.ts';
import { trustHint } from '../trust-hint.ts';
import type { Login } from './login.ts';
import { ProviderAway } from './provider-away.ts';

/** Which provider, as which client. */
export interface ProviderChoice {
  readonly issuer: string;
  readonly clientId: string;
  readonly scope: string;
  /** Sent as `audience` and `resource`, for providers that issue tokens for what is asked for only. */
  readonly audience?: string;
}

/** Steps that the user has to take. */
export interface DevicePrompt {
  /** Where to go; with the code in it where the provider can do that. */
  readonly link: string;
  readonly code: string;
}

/** A code that the user enters on another device. */
export interface DeviceCode {
  readonly prompt: DevicePrompt;
  readonly expiresInMs: number;
  readonly intervalMs: number;
  /** The tokens; a string says why there are none yet. Throws when there will never be any. */
  poll(): Promise<Tokens | 'pending' | 'slow_down' | 'unreachable'>;
}

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Seconds from now. */
  readonly expiresIn?: number;
}

/** An OpenID Connect provider, through the parts that a command line needs. */
export interface OidcProvider {
  startDevice(): Promise<DeviceCode>;
  /** Undefined when the provider does not take the refresh token any more. */
  refresh(refreshToken: string): Promise<Tokens | undefined>;
  /** Best effort: what cannot be revoked ends by itself. */
  revoke(token: string): Promise<void>;
}

interface ProviderDeps {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/** How far the clocks of this machine and the provider may be apart. */
const clockToleranceSeconds = 30;

/** Finds the provider. Throws when it cannot be reached or is not what it should be. */
export async function findProvider(deps: ProviderDeps, choice: ProviderChoice): Promise<OidcProvider> {
  const issuer = issuerOf(choice.issuer);
  const options: Options = {
    [oauth.customFetch]: deps.fetch,
    [oauth.allowInsecureRequests]: issuer.protocol === 'http:',
    signal: deps.signal,
  };
  const server = await discover(issuer, options);
  const client: oauth.Client = { client_id: choice.clientId, [oauth.clockTolerance]: clockToleranceSeconds };
  const call: Call = { server, client, options };
  return {
    startDevice: () => startDevice(call, choice),
    refresh: (refreshToken) => refresh(call, refreshToken),
    revoke: async (token) => {
      if (server.revocation_endpoint === undefined) return;
      await oauth.revocationRequest(server, client, oauth.None(), token, options).catch(() => undefined);
    },
  };
}

/** The stored form of tokens that came at the moment `now`. */
export function loginOf(server: string, choice: ProviderChoice, tokens: Tokens, now: number): Login {
  const { issuer, clientId, scope } = choice;
  const { accessToken, refreshToken, expiresIn } = tokens;
  return {
    server,
    issuer,
    clientId,
    scope,
    accessToken,
    ...(expiresIn === undefined ? {} : { expiresAt: new Date(now + expiresIn * 1_000).toISOString() }),
    refreshToken,
  };
}

interface Options {
  readonly [oauth.customFetch]: typeof fetch;
  readonly [oauth.allowInsecureRequests]: boolean;
  readonly signal: AbortSignal;
}

interface Call {
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly options: Options;
}

/** Anyone on the network can read tokens that travel in clear; only this very machine is an exception. */
function issuerOf(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url))) return url;
  throw new CliError('usage', `'${text}' is not the address of a provider`, 'It begins with https://.');
}

async function discover(issuer: URL, options: Options): Promise<oauth.AuthorizationServer> {
  try {
    const response = await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oidc' });
    return await oauth.processDiscoveryResponse(issuer, response);
  } catch (error) {
    throw unreachable(issuer.href, error);
  }
}

/** Errors that the administrator of the provider can fix. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error) return cause.message;
  if (cause instanceof Response && !cause.ok) return `it answers with status ${cause.status}`;
  const isOtherIssuer =
    error instanceof oauth.OperationProcessingError && error.code === oauth.JSON_ATTRIBUTE_COMPARISON;
  if (!isOtherIssuer) return messageOf(error);
  const { issuer } = (error.cause as { readonly body: oauth.AuthorizationServer }).body;
  return `it calls itself ${new URL(issuer).href}`;
}

function unreachable(issuer: string, error: unknown): CliError {
  const why = reasonOf(error);
  const Kind = isPassing(error) ? ProviderAway : CliError;
  return new Kind('cluster', `the provider ${issuer} cannot be used: ${firstPart(why)}`, hintOf(why));
}

/** Whether no answer came, or one of a provider that is not there yet. A certificate is not trusted later either. */
function isPassing(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Response) return cause.status >= 500 || cause.status === 429;
  return error instanceof TypeError && !/certificate/i.test(reasonOf(error));
}

/** Node's own advice behind a semicolon is for programs. */
function firstPart(why: string): string {
  return why.split(';', 1)[0] ?? why;
}

function hintOf(why: string): string {
  return /certificate/i.test(why) ? trustHint : 'Is it up, and is this its address?';
}

async function startDevice(call: Call, { issuer, scope, audience }: ProviderChoice): Promise<DeviceCode> {
  const { server, client, options } = call;
  if (server.device_authorization_endpoint === undefined) {
    throw new CliError(
      'usage',
      `the provider ${issuer} offers no login from a command line (device authorization)`,
      'Get a token from it in another way, and set WINDLASS_TOKEN or --token-file.',
    );
  }
  const parameters = { scope, ...(audience === undefined ? {} : { audience, resource: audience }) };
  try {
    const response = await oauth.deviceAuthorizationRequest(server, client, oauth.None(), parameters, options);
    const device = await oauth.processDeviceAuthorizationResponse(server, client, response);
    return {
      prompt: { link: device.verification_uri_complete ?? device.verification_uri, code: device.user_code },
      expiresInMs: device.expires_in * 1_000,
      intervalMs: (device.interval ?? 5) * 1_000,
      poll: () => poll(call, device.device_code),
    };
  } catch (error) {
    throw refused(issuer, error);
  }
}

async function poll({ server, client, options }: Call, deviceCode: string): ReturnType<DeviceCode['poll']> {
  try {
    const response = await oauth.deviceCodeGrantRequest(server, client, oauth.None(), deviceCode, options);
    return tokensOf(await oauth.processDeviceCodeResponse(server, client, response));
  } catch (error) {
    return whyNotYet(server.issuer, error);
  }
}

/** RFC 8628 §3.5. A single poll without an answer is no reason to give up. */
function whyNotYet(issuer: string, error: unknown): 'pending' | 'slow_down' | 'unreachable' {
  if (!(error instanceof oauth.ResponseBodyError)) return 'unreachable';
  if (error.error === 'authorization_pending') return 'pending';
  if (error.error === 'slow_down') return 'slow_down';
  if (error.error === 'access_denied') {
    throw new CliError('cancelled', 'the login was refused', 'A user has refused it at the provider.');
  }
  if (error.error === 'expired_token') throw expired();
  throw refused(issuer, error);
}

/** No user has entered the code in time. */
export function expired(): CliError {
  return new CliError('timeout', 'the code has expired', 'Begin again: windlass login');
}

async function refresh({ server, client, options }: Call, refreshToken: string): Promise<Tokens | undefined> {
  try {
    const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, options);
    const tokens = tokensOf(await oauth.processRefreshTokenResponse(server, client, response));
    // A provider that gives no new one still accepts the old one.
    return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant') return undefined;
    if (error instanceof oauth.ResponseBodyError && error.status < 500) throw refused(server.issuer, error);
    throw unreachable(server.issuer, error);
  }
}

function refused(issuer: string, error: unknown): CliError {
  if (!(error instanceof oauth.ResponseBodyError)) return unreachable(issuer, error);
  const why = [error.error, error.error_description].filter(Boolean).join(': ');
  const hint = 'Check --client-id, --scope and --audience with the administrator of the provider.';
  return new CliError('cluster', `the provider ${issuer} refuses the login: ${why}`, hint);
}

function tokensOf({ access_token, refresh_token, expires_in }: oauth.TokenEndpointResponse): Tokens {
  return { accessToken: access_token, refreshToken: refresh_token, expiresIn: expires_in };
}
