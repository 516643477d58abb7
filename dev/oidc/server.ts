import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { JWK } from 'jose';
import Provider from 'oidc-provider';
import { configure, type ProviderSettings } from './configure.ts';
import { createMemory } from './memory-adapter.ts';
import { answerSignIn } from './sign-in-page.ts';
import { makeSigningKeys, type TokenAlgorithm } from './signing-keys.ts';

interface OidcServerOptions {
  /** @default 127.0.0.1 */
  readonly host?: string;
  /** @default any that is free */
  readonly port?: number;
  /** The `iss` of tokens. @default the address it listens on */
  readonly issuer?: string;
  /** Serves over TLS. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Private keys, one for each algorithm. @default new ones, which take a processor a fifth of a second */
  readonly keys?: readonly JWK[];
  /** @default RS256 */
  readonly algorithm?: TokenAlgorithm;
  /** @default windlass */
  readonly audience?: string;
  /** @default 3600 */
  readonly tokenSeconds?: number;
  /** Receives internal errors of the provider, which its clients do not see. */
  readonly onError?: (error: Error) => void;
}

/** A provider that runs. */
export interface OidcServer {
  readonly issuer: string;
  readonly port: number;
  /** Private keys, the newest first; what tests of forged tokens sign with. */
  readonly keys: readonly JWK[];
  /** Signs with new keys from now on, and publishes the old ones as well unless they are to be dropped. */
  rotate(options?: { readonly keepOld?: boolean; readonly algorithm?: TokenAlgorithm }): Promise<void>;
  close(): Promise<void>;
}

type Changing = Pick<ProviderSettings, 'keys' | 'algorithm'>;

export async function startOidc(options: OidcServerOptions = {}): Promise<OidcServer> {
  const { host = '127.0.0.1', audience = 'windlass', tokenSeconds = 3_600, tls } = options;
  let listener: RequestListener = (_, response) => void response.writeHead(503).end();
  const forward: RequestListener = (request, response) => listener(request, response);
  const server = tls === undefined ? createServer(forward) : createSecureServer({ ...tls }, forward);
  const port = await listen(server, host, options.port ?? 0);
  const issuer = options.issuer ?? `${tls === undefined ? 'http' : 'https'}://${host}:${port}`;
  const fixed = { audience, tokenSeconds, memory: createMemory() };
  let current: Changing = { keys: options.keys ?? (await makeSigningKeys()), algorithm: options.algorithm ?? 'RS256' };

  function serve(change: Changing): void {
    current = change;
    const provider = new Provider(issuer, configure({ ...fixed, ...change }));
    provider.on('server_error', (_, error) => options.onError?.(error));
    listener = createListener(provider);
  }

  serve(current);
  return {
    issuer,
    port,
    get keys() {
      return current.keys;
    },
    async rotate({ keepOld = true, algorithm = current.algorithm } = {}) {
      serve({ keys: [...(await makeSigningKeys()), ...(keepOld ? current.keys : [])], algorithm });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function createListener(provider: Provider): RequestListener {
  const answer = provider.callback();
  return (request, response) => {
    if (!(request.url ?? '').startsWith('/interaction/')) return void answer(request, response);
    answerSignIn(provider, request, response).catch(() => refuse(response));
  };
}

/** The link is used up, or the browser did not send the cookie that belongs to it. */
function refuse(response: ServerResponse): void {
  if (!response.headersSent) response.writeHead(400, { 'content-type': 'text/plain' });
  response.end('this sign-in is over; begin again\n');
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
