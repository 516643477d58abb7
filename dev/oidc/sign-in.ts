import { createHash, randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';
import { visit } from './browser.ts';
import { callback, publicClient, serviceSecret } from './clients.ts';
import { formatPerson, type Person } from './person.ts';

/** A provider as its clients reach it. */
interface ProviderAddress {
  readonly issuer: string;
  /** Certificates to trust, PEM. */
  readonly ca?: string;
}

/** A person's access token, by the authorization code flow with PKCE. */
export async function userToken(provider: ProviderAddress, person: Person): Promise<string> {
  const verifier = randomBytes(32).toString('base64url');
  const { authorization_endpoint, token_endpoint } = await discover(provider);
  const start = new URL(authorization_endpoint);
  start.search = new URLSearchParams({
    client_id: publicClient,
    redirect_uri: callback,
    response_type: 'code',
    scope: 'openid',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    login_hint: formatPerson(person),
  }).toString();
  const { url } = await visit(start.href, { ca: provider.ca, until: callback });
  const code = url.searchParams.get('code');
  if (code === null) throw new Error(`no code: ${url.search}`);
  return tokenFrom(provider, token_endpoint, {
    grant_type: 'authorization_code',
    client_id: publicClient,
    redirect_uri: callback,
    code,
    code_verifier: verifier,
  });
}

/** A service account's access token, by client credentials. */
export async function serviceAccountToken(provider: ProviderAddress, account: Person): Promise<string> {
  const { token_endpoint } = await discover(provider);
  return tokenFrom(provider, token_endpoint, {
    grant_type: 'client_credentials',
    client_id: formatPerson(account),
    client_secret: serviceSecret,
  });
}

/** The steps of a user with a device code: opens the link, confirms, and names themselves. */
export async function approveDevice(link: string, person: Person, ca?: string): Promise<void> {
  const { name, tenant = '', roles = [] } = person;
  const { page } = await visit(link, { ca, fields: { user: name, tenant, roles: roles.join(',') } });
  if (!page.includes('<title>Signed in</title>')) throw new Error('the device was not approved');
}

interface Endpoints {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
}

async function discover({ issuer, ca }: ProviderAddress): Promise<Endpoints> {
  return (await call(`${issuer}/.well-known/openid-configuration`, { ca })) as Endpoints;
}

async function tokenFrom({ ca }: ProviderAddress, url: string, form: Record<string, string>): Promise<string> {
  const { access_token } = (await call(url, { ca, form })) as { access_token: string };
  return access_token;
}

async function call(url: string, { ca, form }: { ca?: string; form?: Record<string, string> }): Promise<unknown> {
  const agent = new Agent({ connect: { ca } });
  try {
    const { statusCode, body } = await request(url, {
      dispatcher: agent,
      method: form === undefined ? 'GET' : 'POST',
      body: form === undefined ? undefined : new URLSearchParams(form).toString(),
      headers: form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' },
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}: ${text}`);
    return JSON.parse(text) as unknown;
  } finally {
    await agent.close();
  }
}
