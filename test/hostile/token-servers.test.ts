import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { createTokenExchange } from '../../lib/credentials/index.ts';
import { collectGarbage } from '../../lib/process/collect-garbage.ts';
import { createUpstream, type Upstream } from '../../lib/upstream/index.ts';

/** Token servers that do what they like. A tenant names its own, and several may share one. */
const json = { 'content-type': 'application/json' };
type Act = (response: ServerResponse) => void;

const answers =
  (body: unknown, status = 200): Act =>
  (response) =>
    void response.writeHead(status, json).end(typeof body === 'string' ? body : JSON.stringify(body));
const token = (fields: object): Act => answers({ access_token: 'token-of-acme', token_type: 'Bearer', ...fields });

function drip(response: ServerResponse, piece: string): void {
  response.writeHead(200, json);
  void (async () => {
    while (!response.destroyed) {
      response.write(piece);
      await systemClock.sleep(1);
    }
  })();
}

const notGranted = /^the token server of [\d.:]+ gave no token: its answer is none of the client credentials grant$/;
const unusable = /gave no token: its token must have 1 to 8192 visible ASCII characters$/;
const late = /no whole response came in time$/;
const large = /the response is larger than the gateway takes when it is unpacked$/;

const refused: Readonly<Record<string, readonly [act: Act, reason: RegExp]>> = {
  'never answers': [() => undefined, late],
  'sends headers alone': [(response) => response.writeHead(200, json).flushHeaders(), late],
  'sends blanks for ever': [(response) => drip(response, ' '), late],
  'sends an endless text': [(response) => drip(response, 'x'.repeat(30_000)), large],
  'sends interim answers for ever': [(response) => void interim(response), late],
  'sends a page': [(response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'), notGranted],
  'sends nothing': [answers(''), notGranted],
  'sends a list of 20,000 levels': [answers('['.repeat(20_000) + ']'.repeat(20_000)), notGranted],
  redirects: [
    (response) => response.writeHead(302, { location: 'http://169.254.169.254/token' }).end(),
    /it answered with status 302$/,
  ],
  'answers with 204 and a body': [(response) => response.writeHead(204).end('{}'), /it answered with status 204$/],
  'answers with 304': [(response) => response.writeHead(304).end(), /it answered with status 304$/],
  'answers with 999': [(response) => response.writeHead(999, json).end('{}'), /it answered with status 999$/],
  'quotes the secret in its error': [answers({ error: 'hush-hush' }, 400), /it answered with status 400$/],
  'gives a token with line breaks': [token({ access_token: 'a\r\nx-admin: 1' }), unusable],
  'gives a token with letters of no header': [token({ access_token: 'tökén' }), unusable],
  'gives an empty token': [token({ access_token: '' }), notGranted],
  'gives a huge token': [token({ access_token: 'x'.repeat(60_000) }), unusable],
  'gives a number as a token': [token({ access_token: 7 }), notGranted],
  'gives a token of another type': [token({ token_type: 'mac' }), notGranted],
  'gives a token for a proof of possession': [
    token({ token_type: 'DPoP' }),
    /its token is of another type than Bearer$/,
  ],
  'gives a token with a false identity': [token({ id_token: 'a.b.c' }), notGranted],
  'gives a token that ended before': [token({ expires_in: -1 }), notGranted],
  'gives a token of an endless life': [
    answers('{"access_token":"token-of-acme","token_type":"bearer","expires_in":1e999}'),
    notGranted,
  ],
  'gives a token with a word as its life': [token({ expires_in: 'soon' }), notGranted],
  'gives a token with a list as its life': [token({ expires_in: [] }), notGranted],
};

/** With how many requests two calls one after the other get their token. */
const taken: Readonly<Record<string, readonly [act: Act, requests: number]>> = {
  'of a life as a text': [token({ expires_in: '3600' }), 1],
  'of the longest life that a number has': [token({ expires_in: 1.7e308 }), 1],
  'without a life': [token({}), 1],
  'without any life': [token({ expires_in: 0 }), 2],
};

async function interim(response: ServerResponse): Promise<void> {
  while (!response.destroyed) {
    response.socket?.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n');
    await systemClock.sleep(1);
  }
}

let server: Server;
let upstream: Upstream;
const asked: string[] = [];
/** Ten seconds for an answer are fewer here. */
const faster = (times: number): Clock => ({
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
});
const fast = faster(20);

beforeAll(async () => {
  upstream = createUpstream({ clock: systemClock, resolve: async () => [] });
  const acts = { ...refused, ...taken, honest: [token({ expires_in: 3_600 })] as const };
  server = createServer((request, response) => {
    const name = decodeURIComponent(request.url?.slice(1) ?? '');
    asked.push(name);
    request.resume().on('end', () => acts[name as keyof typeof acts]?.[0](response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  await upstream.close();
  server.closeAllConnections();
  server.close();
});

const requestOf = (name: string, tenant = 'acme') => ({
  tenant,
  key: name,
  tokenUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${encodeURIComponent(name)}`,
  clientId: 'c',
  clientSecret: 'hush-hush',
  scopes: [],
  audience: undefined,
  allowedNetworks: ['127.0.0.0/8'],
});

const heap = (): number => {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

describe('a token server', () => {
  it.each(Object.entries(refused))('GW-WF-11 that %s gives no token, in time', async (name, [, reason]) => {
    const tokens = createTokenExchange({ clock: fast, upstream });
    const before = asked.length;
    const error = await tokens.token(requestOf(name)).then(
      (given) => new Error(`gave ${given}`),
      (failure: unknown) => failure as Error,
    );
    expect(error.message).toMatch(reason);
    expect(error).toMatchObject({ code: 'terminal', reason: 'CredentialFailed' });
    expect(error.message).not.toContain('hush');
    expect(asked.length - before).toBe(1);
  });

  it.each(Object.entries(taken))('GW-WF-11 gives a token %s', async (name, [, requests]) => {
    const tokens = createTokenExchange({ clock: fast, upstream });
    const before = asked.length;
    expect(await tokens.token(requestOf(name))).toBe('token-of-acme');
    expect(await tokens.token(requestOf(name))).toBe('token-of-acme');
    expect(asked.length - before).toBe(requests);
  });

  it('GW-TEN-08 that many tenants share keeps none of them from its token while it hangs for 200 calls of another', async () => {
    const tokens = createTokenExchange({ clock: faster(2), upstream });
    const names = ['never answers', 'sends headers alone', 'sends blanks for ever', 'sends interim answers for ever'];
    const before = heap();
    const first = asked.length;
    let underWay = 200;
    const hostile = Array.from({ length: underWay }, (_, index) =>
      tokens
        .token({ ...requestOf(names[index % names.length] ?? ''), key: `${index % 100}` })
        .catch((error: unknown) => (error as Error).message)
        .finally(() => (underWay -= 1)),
    );
    // Connections of one tenant to one server are bounded, and equal calls share a request.
    await expect.poll(() => asked.length - first, { timeout: 10_000 }).toBe(20);
    for (const tenant of ['globex', 'initech', 'umbrella']) {
      expect(await tokens.token(requestOf('honest', tenant))).toBe('token-of-acme');
    }
    expect(underWay).toBe(200);
    expect(heap() - before).toBeLessThan(20 * 1_024 * 1_024);
    expect(new Set(await Promise.all(hostile))).toEqual(new Set([expect.stringMatching(late)]));
    expect(await tokens.token(requestOf('honest'))).toBe('token-of-acme');
  }, 30_000);
});
