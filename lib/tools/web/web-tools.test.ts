import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { aToolCaller } from '../../../test/builders/tool-caller.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { type Clock, systemClock } from '../../clock.ts';
import { isRefusal, type ToolAnswer, type ToolArguments } from '../tool.ts';
import { createToolbox } from '../toolbox.ts';
import { createAnswerRoom, memoryOf } from './answer-room.ts';
import { createToMarkdown } from './markdown.ts';
import { bodyBytes } from './read-response.ts';
import { createWebTools, type SearchSettings } from './web-tools.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Server;
let port: number;
let seen: Seen[] = [];
let reply: (request: Seen, response: ServerResponse) => void;
/** Addresses by name, instead of a name server. */
let names: Record<string, string[]> = {};

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      reply(one, response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());
beforeEach(() => {
  seen = [];
  names = {
    'a.test': ['127.0.0.1'],
    'b.test': ['127.0.0.1'],
    'inner.test': ['10.0.0.1'],
    'cluster.test': ['127.0.0.9'],
  };
});

interface Setup {
  readonly domains?: readonly string[] | undefined;
  readonly networks?: readonly string[];
  readonly guarded?: readonly string[];
  readonly search?: SearchSettings;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

const toMarkdown = createToMarkdown({
  clock: systemClock,
  workerUrl: new URL('./markdown-worker.ts', import.meta.url),
});

async function call(name: string, args: ToolArguments, setup: Setup = {}): Promise<ToolAnswer> {
  const {
    domains = ['a.test', '127.0.0.1'],
    networks = ['127.0.0.0/8'],
    guarded = [],
    search,
    signal = new AbortController().signal,
    clock = systemClock,
  } = setup;
  const tools = createWebTools({
    clock,
    toMarkdown,
    resolve: async (host) => (names[host] ?? []).map((address) => ({ address, family: 4 })),
    permittedNetworks: networks,
    guardedNetworks: guarded,
    ...(search === undefined ? {} : { search }),
  });
  const run = tools[name];
  if (run?.kind !== 'api') throw new Error('runs in the API');
  return run.run(aToolCaller({ security: { domain_allowlist: [...domains] } }), args, signal);
}
const get = (path: string, more: ToolArguments = {}, setup: Setup = {}) =>
  call('web.fetch', { url: `http://a.test:${port}${path}`, ...more }, setup);
const send =
  (status: number, headers: Record<string, string>, body: string | Buffer = '') =>
  (_request: Seen, response: ServerResponse): void => {
    response.writeHead(status, headers).end(body);
  };

describe('web.fetch', () => {
  const html =
    '<html><head><title>T</title><style>x</style></head><body><h1>Hi</h1><script>evil()</script><p>a <b>b</b> <a href="/c">c</a></p></body></html>';

  it('TOOL-WEB-05 turns HTML into Markdown without scripts', async () => {
    reply = send(200, { 'content-type': 'text/html; charset=utf-8' }, html);
    expect(await get('/')).toEqual({ isError: false, content: '# Hi\n\na **b** [c](/c)' });
  });

  it('TOOL-WEB-05 leaves HTML as it is where that is asked for, and anything else always', async () => {
    reply = send(200, { 'content-type': 'text/html' }, html);
    expect(await get('/', { to_markdown: false })).toEqual({ isError: false, content: html });
    reply = send(200, { 'content-type': 'application/json' }, '{"a":"<b>"}');
    expect(await get('/')).toEqual({ isError: false, content: '{"a":"<b>"}' });
  });

  it.each([
    ['gzip', gzipSync('packed')],
    ['br', brotliCompressSync('packed')],
    ['identity', Buffer.from('packed')],
  ])('TOOL-WEB-05 reads a body that is packed as %s', async (coding, body) => {
    reply = send(200, { 'content-type': 'text/plain', 'content-encoding': coding }, body);
    expect(await get('/')).toEqual({ isError: false, content: 'packed' });
  });

  it('TOOL-WEB-05 reads other character sets, and no images', async () => {
    reply = send(200, { 'content-type': 'text/plain; charset=iso-8859-1' }, Buffer.from([0xe9]));
    expect((await get('/')).content).toBe('é');
    reply = send(200, { 'content-type': 'text/plain; charset=nonsense' }, 'plain');
    expect((await get('/')).content).toBe('plain');
    reply = send(200, { 'content-type': 'image/png' }, 'x');
    expect(await get('/')).toMatchObject({ isError: true, content: expect.stringMatching(/^NotText: /) });
  });

  it('TOOL-WEB-08 refuses an unrequested coding', async () => {
    reply = send(200, { 'content-type': 'text/plain', 'content-encoding': 'zstd' }, 'x');
    expect((await get('/')).content).toMatch(/^NetworkError: .*zstd/);
  });

  it.each([
    [10_485_760, false],
    [10_485_761, true],
  ])('AMB-141 of %i bytes when unpacked fails: %s', async (bytes, isError) => {
    reply = send(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(bytes, 'x')));
    const { content, ...rest } = await get('/');
    expect(rest).toEqual({ isError });
    expect(content.startsWith('TooLarge')).toBe(isError);
  });

  it.each([399, 400, 404, 500, 503])('TOOL-WEB-08 answered with %i', async (status) => {
    reply = send(status, { 'content-type': 'text/plain' }, 'text');
    const isError = status >= 400;
    expect(await get('/')).toEqual({ isError, content: isError ? `HttpError: the server answered ${status}` : 'text' });
  });

  it.each([
    'ftp://a.test/',
    'file:///etc/passwd',
    'a.test',
    '//a.test',
    'http://user:pw@a.test/',
    'http:a.test/',
    'http:/a.test/',
    ' http://a.test/',
    'http:\\\\a.test/',
  ])('TOOL-WEB-04 does not fetch %s', async (url) => {
    expect(await call('web.fetch', { url })).toMatchObject({
      isError: true,
      content: expect.stringMatching(/^InvalidUrl: /),
    });
    expect(seen).toEqual([]);
  });

  it.each([
    ['http', 'text'],
    ['HTTP', 'text'],
    // The server here speaks no TLS.
    ['https', 'NetworkError: '],
  ])('TOOL-WEB-04 fetches %s://', async (scheme, want) => {
    reply = send(200, { 'content-type': 'text/plain' }, 'text');
    const { content } = await call('web.fetch', { url: `${scheme}://a.test:${port}/` });
    expect(content.startsWith(want)).toBe(true);
  });

  it('TOOL-WEB-08 a host that is not listed is refused before anything is sent', async () => {
    const caller = aToolCaller({ security: { domain_allowlist: ['a.test'] } });
    const web = createWebTools({ clock: systemClock, resolve: async () => [], toMarkdown });
    const toolbox = createToolbox({ builtin_dispatchers: [] }, web);
    expect(toolbox.admit(caller, 'web.fetch', { url: 'http://b.test/' })).toMatchObject({
      kind: 'policy',
      code: 'DomainNotAllowed',
    });
    expect(toolbox.admit(aToolCaller(), 'web.fetch', { url: 'http://a.test/' })).toMatchObject({
      code: 'DomainNotAllowed',
    });
    expect(toolbox.admit(caller, 'web.fetch', { url: 'http://a.test/' })).toMatchObject({ name: 'web.fetch' });
    expect((await get('/', {}, { domains: ['b.test'] })).content).toMatch(/^DomainNotAllowed: /);
    expect(seen).toEqual([]);
  });

  it.each([
    ['a name of an internal address', 'http://a.test:PORT/', {}],
    ['an internal address', 'http://127.0.0.1:PORT/', {}],
    ['one in another form', 'http://0x7f.1:PORT/', {}],
    ['one as a number', 'http://2130706433:PORT/', {}],
    ['loopback of IPv6', 'http://[::1]:PORT/', {}],
    ['IPv4 within IPv6', 'http://[::ffff:127.0.0.1]:PORT/', {}],
  ])('AMB-139 does not ask %s, even where it is listed', async (_what, url) => {
    const domains = ['a.test', '127.0.0.1', '[::1]', '[::ffff:7f00:1]'];
    const { content } = await call('web.fetch', { url: url.replace('PORT', String(port)) }, { domains, networks: [] });
    expect(content).toMatch(/^DomainNotAllowed: .*no public address/);
    expect(seen).toEqual([]);
  });

  it('AMB-139 asks none but the permitted addresses of a name', async () => {
    names['a.test'] = ['10.0.0.1', '127.0.0.1'];
    reply = send(200, { 'content-type': 'text/plain' }, 'here');
    expect((await get('/')).content).toBe('here');
  });

  const hops = (count: number) => (request: Seen, response: ServerResponse) => {
    const hop = Number(request.url?.slice(1));
    const next = hop < count ? { location: `/${hop + 1}` } : undefined;
    response.writeHead(next === undefined ? 200 : 302, { 'content-type': 'text/plain', ...next }).end('end');
  };

  it.each([
    [4, 'end'],
    [5, 'end'],
    [6, 'TooManyRedirects'],
  ])('TOOL-WEB-06 over %i redirects: %s', async (count, want) => {
    reply = hops(count);
    expect((await get('/0')).content).toContain(want);
  });

  it.each([
    [300, ''],
    [301, 'end'],
    [302, 'end'],
    [303, 'end'],
    [304, ''],
    [305, ''],
    [307, 'end'],
    [308, 'end'],
    [309, ''],
  ])('TOOL-WEB-06 where %i names another address: %j', async (status, want) => {
    reply = ({ url }, response) => {
      if (url === '/') response.writeHead(status, { location: '/next' }).end();
      else response.writeHead(200, { 'content-type': 'text/plain' }).end('end');
    };
    expect(await get('/')).toEqual({ isError: false, content: want });
  });

  it('TOOL-WEB-06 follows none where that is asked for', async () => {
    reply = hops(1);
    expect(await get('/0', { follow_redirects: false })).toEqual({
      isError: false,
      content: 'HTTP 302: redirects to /1, which was not followed',
    });
    expect(seen).toHaveLength(1);
  });

  it.each([
    ['to a host that is not listed', 'http://b.test:PORT/', 'DomainNotAllowed: b.test'],
    ['to an internal address', 'http://inner.test:PORT/', 'DomainNotAllowed: inner.test has no public address'],
    [
      'to an address of the cluster',
      'http://cluster.test:PORT/',
      'DomainNotAllowed: cluster.test has no public address',
    ],
    [
      'to a host that is such an address',
      'http://127.0.0.9:PORT/',
      'DomainNotAllowed: 127.0.0.9 has no public address',
    ],
    ['to a file', 'file:///etc/passwd', 'InvalidUrl'],
  ])('AMB-139 checks a redirect %s', async (_what, to, want) => {
    reply = send(302, { location: to.replace('PORT', String(port)) });
    const domains = ['a.test', 'inner.test', 'cluster.test', '127.0.0.9'];
    const { content } = await get('/', {}, { domains, networks: ['127.0.0.0/24'], guarded: ['127.0.0.8/29'] });
    expect(content).toContain(want);
    expect(seen).toHaveLength(1);
  });

  it.each([
    [{}, 30_000],
    [{ timeout_secs: 29 }, 29_000],
    [{ timeout_secs: 31 }, 31_000],
  ])('TOOL-WEB-07 with %j gives up %i ms after it asked, and no sooner', async (args, ms) => {
    const clock = createManualClock();
    reply = () => undefined;
    const answer = get('/', args, { clock });
    await vi.waitFor(() => expect(seen).toHaveLength(1));
    await clock.advance(ms - 1);
    expect(clock.sleepers).toBe(1);
    await clock.advance(1);
    expect((await answer).content).toMatch(/^Timeout: /);
  });

  it('TOOL-WEB-07 TOOL-WEB-08 gives up in time, and where no server answers', async () => {
    reply = () => undefined;
    expect((await get('/', { timeout_secs: 1 })).content).toMatch(/^Timeout: /);
    expect((await call('web.fetch', { url: 'http://a.test:1/' })).content).toMatch(/^NetworkError: /);
  });
});

describe('web.search', () => {
  const key = { reveal: () => 'the-key' };
  const args = { query: 'a b' };
  const endpoint = (): string => `http://127.0.0.1:${port}`;
  const give = (value: unknown) => send(200, { 'content-type': 'application/json' }, JSON.stringify(value));
  const result = (n: number) => ({ title: `T${n}`, url: `http://r/${n}`, description: `S${n}`, content: `S${n}` });

  it.each<[string, SearchSettings | undefined]>([
    ['an entry', undefined],
    ['a key', { provider: 'brave' }],
    ['an endpoint of SearXNG', { provider: 'searxng' }],
  ])('TOOL-WEB-02 without %s says how to configure it', async (_what, search) => {
    expect(await call('web.search', args, search === undefined ? {} : { search })).toEqual({
      isError: true,
      content: 'web.search is not configured: add api_key to the web.search entry in spec.builtin_dispatchers',
    });
  });

  it('TOOL-WEB-01 asks Brave', async () => {
    reply = give({ web: { results: [result(1), { title: 7 }] } });
    const { content } = await call('web.search', args, {
      search: { provider: 'brave', api_key: key, endpoint: endpoint() },
    });
    expect(content).toBe('1. T1\n   http://r/1\n   S1\n2. \n   \n   ');
    expect(seen[0]).toMatchObject({
      method: 'GET',
      url: '/res/v1/web/search?q=a+b&count=10',
      headers: { 'x-subscription-token': 'the-key' },
    });
  });

  it('TOOL-WEB-01 asks Tavily', async () => {
    reply = give({ results: [result(1)] });
    const search = { provider: 'tavily', api_key: key, endpoint: `${endpoint()}/` } as const;
    expect((await call('web.search', { ...args, max_results: 3 }, { search })).content).toContain('T1');
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/search', headers: { authorization: 'Bearer the-key' } });
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ query: 'a b', max_results: 3 });
  });

  it('TOOL-WEB-01 asks SearXNG, at an internal address as well, and gives ten results at most', async () => {
    reply = give({ results: Array.from({ length: 30 }, (_, n) => result(n + 1)) });
    const search = { provider: 'searxng', endpoint: `${endpoint()}/searx` } as const;
    const { content } = await call('web.search', args, { search, networks: [] });
    expect(content.match(/^\d+\./gm)).toHaveLength(10);
    expect(seen[0]).toMatchObject({ url: '/searx/search?q=a+b&format=json' });
    expect((await call('web.search', { ...args, max_results: 11 }, { search })).content).toContain('11. T11');
  });

  it('TOOL-WEB-03 refuses a provider that is not listed', async () => {
    const search = { provider: 'brave', api_key: key, endpoint: endpoint() } as const;
    expect((await call('web.search', args, { search, domains: ['a.test'] })).content).toMatch(
      /^DomainNotAllowed: 127.0.0.1/,
    );
    expect(seen).toEqual([]);
  });

  it.each<[string, string[] | undefined, SearchSettings, string]>([
    ['the provider is not listed', ['a.test'], { provider: 'brave', api_key: key }, 'DomainNotAllowed'],
    ['nothing is listed', undefined, { provider: 'tavily', api_key: key }, 'DomainNotAllowed'],
    ['the provider is listed', ['*.brave.com'], { api_key: key }, 'admitted'],
    ['searching is not configured', ['a.test'], { provider: 'brave' }, 'admitted'],
  ])('TOOL-WEB-03 AMB-131 is refused before anything runs where %s', (_what, domains, search, want) => {
    const web = createWebTools({ clock: systemClock, resolve: async () => [], toMarkdown, search });
    const security = domains === undefined ? {} : { domain_allowlist: domains };
    const admitted = createToolbox({ builtin_dispatchers: [] }, web).admit(
      aToolCaller({ security }),
      'web.search',
      args,
    );
    expect(isRefusal(admitted) ? admitted.code : 'admitted').toBe(want);
  });

  it('TOOL-WEB-01 gives as many results as were asked for', async () => {
    reply = give({ web: { results: Array.from({ length: 20 }, (_, n) => result(n + 1)) } });
    const search = { provider: 'brave', api_key: key, endpoint: endpoint() } as const;
    const { content } = await call('web.search', { ...args, max_results: 20 }, { search });
    expect(content.match(/^\d+\./gm)).toHaveLength(20);
    expect(seen[0]?.url).toContain('count=20');
  });

  it('TOOL-WEB-03 tells of an error of the provider, and never the key', async () => {
    const search = { provider: 'brave', api_key: key, endpoint: endpoint() } as const;
    reply = send(429, {}, 'the-key');
    expect(await call('web.search', args, { search })).toEqual({
      isError: true,
      content: 'HttpError: the search provider answered 429',
    });
    reply = send(200, { 'content-type': 'text/plain' }, 'the-key');
    expect((await call('web.search', args, { search })).content).toMatch(/^NetworkError: .*no JSON$/);
    reply = give({});
    expect(await call('web.search', args, { search })).toEqual({ isError: false, content: 'No results.' });
    const gone = { ...search, endpoint: 'http://127.0.0.1:1' };
    expect((await call('web.search', args, { search: gone })).content).toMatch(/^NetworkError: /);
  });
});

describe('Markdown of hostile pages', () => {
  it.each([
    ['is nested a hundred thousand times', '<div>'.repeat(100_000)],
    ['has a hundred thousand open quotes', '<blockquote>x'.repeat(100_000)],
  ])('AMB-141 of a page that %s is refused or made, and never ends the process', async (_what, html) => {
    const convert = createToMarkdown({
      clock: systemClock,
      workerUrl: new URL('./markdown-worker.ts', import.meta.url),
      timeoutMs: 3_000,
    });
    const ended = await convert(html, 'acme').then(
      () => 'made',
      (error: { code: string }) => error.code,
    );
    expect(['made', 'limit_exceeded']).toContain(ended);
  });
});

describe('large pages', () => {
  const mebibyte = 1_024 * 1_024;
  const plain = { 'content-type': 'text/plain' };

  it('that are read at once have a bound in memory with shares, and small pages need none', async () => {
    const slow: ServerResponse[] = [];
    reply = ({ url }, response) => {
      response.writeHead(200, plain);
      if (url === '/small') return void response.end('small');
      if (url !== '/slow') return void response.end('x'.repeat(3 * mebibyte));
      response.write('x'.repeat(2 * mebibyte));
      slow.push(response);
    };
    const tools = createWebTools({
      clock: systemClock,
      toMarkdown,
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      permittedNetworks: ['127.0.0.0/8'],
      // Room for four pages, of which three are one tenant's share while another one asks.
      room: createAnswerRoom({ clock: systemClock, size: 5 * memoryOf(bodyBytes) }),
    });
    const run = tools['web.fetch'];
    const fetch = async (tenant: string, path: string): Promise<number> => {
      if (run?.kind !== 'api') throw new Error('runs in the API');
      const caller = aToolCaller({ tenant, security: { domain_allowlist: ['a.test'] } });
      const { content } = await run.run(caller, { url: `http://a.test:${port}${path}` }, new AbortController().signal);
      return content.length;
    };
    const begun = [1, 2, 3].map(() => fetch('acme', '/slow'));
    await vi.waitFor(() => expect(slow).toHaveLength(3), { timeout: 10_000 });
    // Each of the three has more than a mebibyte, and the room for all of it.
    await systemClock.sleep(300);
    let fourth = 0;
    const waits = fetch('acme', '/large').then((length) => (fourth = length));
    expect(await fetch('globex', '/large')).toBe(3 * mebibyte);
    expect(await fetch('acme', '/small')).toBe('small'.length);
    await systemClock.sleep(1_000);
    expect(fourth).toBe(0);
    for (const response of slow) response.end();
    expect(await Promise.all(begun)).toEqual([2 * mebibyte, 2 * mebibyte, 2 * mebibyte]);
    expect(await waits).toBe(3 * mebibyte);
  });
});
