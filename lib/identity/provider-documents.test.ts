import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../clock.ts';
import { answerJson, type HttpPeer, startHttpPeer } from '../../test/support/http-peer.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createProviderDocuments, type ProviderDocuments, type ProviderOptions } from './provider-documents.ts';

const discovery = '/.well-known/openid-configuration';
const keys = { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'AA', kid: 'a' }] };

let peer: HttpPeer;
let answers: Record<string, (response: ServerResponse) => void>;
let opened: ProviderDocuments[];

beforeEach(async () => {
  opened = [];
  answers = {
    [discovery]: (response) => answerJson(response, 200, { issuer: peer.url, jwks_uri: `${peer.url}/keys` }),
    '/keys': (response) => answerJson(response, 200, keys),
  };
  peer = await startHttpPeer(({ path }, response) => (answers[path] ?? notFound)(response));
});
afterEach(async () => {
  await Promise.all(opened.map((documents) => documents.close()));
  await peer.close();
});

const notFound = (response: ServerResponse): void => answerJson(response, 404, {});
const paths = (): string[] => peer.requests.map(({ path }) => path);

function open(options: Partial<ProviderOptions> = {}, clock: Clock = systemClock): ProviderDocuments {
  const documents = createProviderDocuments(clock, { issuer: peer.url, allowHttp: true, ...options });
  opened.push(documents);
  return documents;
}

describe('keys of a provider', () => {
  it('are where its discovery document says, which is read once', async () => {
    const documents = open();
    expect(await documents.keys()).toEqual(keys);
    expect(await documents.keys()).toEqual(keys);
    expect(paths()).toEqual([discovery, '/keys', '/keys']);
  });

  it('are at a configured address without discovery', async () => {
    expect(await open({ jwksUrl: `${peer.url}/keys` }).keys()).toEqual(keys);
    expect(paths()).toEqual(['/keys']);
  });

  it.each(['', '/'])('are found for an issuer with a path, ending in %j', async (end) => {
    const issuer = `${peer.url}/realms/acme${end}`;
    answers[`/realms/acme${discovery}`] = (response) =>
      answerJson(response, 200, { issuer, jwks_uri: `${peer.url}/keys` });
    expect(await open({ issuer }).keys()).toEqual(keys);
  });

  it('that have moved are found again', async () => {
    const documents = open();
    await documents.keys();
    answers['/keys'] = notFound;
    answers['/new'] = (response) => answerJson(response, 200, keys);
    answers[discovery] = (response) => answerJson(response, 200, { issuer: peer.url, jwks_uri: `${peer.url}/new` });
    await expect(documents.keys()).rejects.toMatchObject({ code: 'unavailable' });
    expect(await documents.keys()).toEqual(keys);
  });

  it('come over TLS from a provider whose certificate is trusted, and from no other', async () => {
    const secure = await startHttpPeer((_, response) => answerJson(response, 200, keys), { tls: true });
    const options = { issuer: secure.url, jwksUrl: `${secure.url}/keys`, allowHttp: false };
    try {
      expect(await open({ ...options, ca: secure.ca }).keys()).toEqual(keys);
      await expect(open(options).keys()).rejects.toMatchObject({ code: 'unavailable' });
    } finally {
      await secure.close();
    }
  });

  it.each([
    ['another issuer', { issuer: 'https://other.example.com', jwks_uri: '/keys' }],
    ['the issuer with one slash more', () => ({ issuer: `${peer.url}/`, jwks_uri: `${peer.url}/keys` })],
    ['no address of keys', () => ({ issuer: peer.url })],
    ['an address of keys that is no text', () => ({ issuer: peer.url, jwks_uri: 7 })],
    ['an address of keys without TLS', () => ({ issuer: peer.url, jwks_uri: 'http://keys.example.com/' })],
    ['a list', []],
    ['null', null],
  ])('GW-OP-07 are not taken from a discovery document with %s', async (_, document) => {
    const body = typeof document === 'function' ? document : () => document;
    answers[discovery] = (response) => answerJson(response, 200, body());
    await expect(open().keys()).rejects.toMatchObject({ name: 'AppError' });
    expect(paths()).toEqual([discovery]);
  });

  it('that cannot be used are reported with the address, or the issuer that the provider has', async () => {
    answers[discovery] = notFound;
    await expect(open().keys()).rejects.toThrow(`${peer.url}${discovery} answered with status 404`);
    answers[discovery] = (response) => answerJson(response, 200, { issuer: `${peer.url}/` });
    await expect(open().keys()).rejects.toThrow(`the discovery document is of the issuer "${peer.url}/"`);
    answers[discovery] = (response) => answerJson(response, 200, {});
    await expect(open().keys()).rejects.toThrow('the discovery document is of the issuer (none)');
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['status 500', (response) => answerJson(response, 500, keys)],
    ['status 204', (response) => response.writeHead(204).end()],
    ['a redirect', (response) => response.writeHead(302, { location: `${peer.url}/elsewhere` }).end()],
    ['HTML', (response) => response.end('<html></html>')],
    ['half a document', (response) => response.end('{"keys":[')],
    ['nothing', (response) => response.end()],
    ['no set', (response) => answerJson(response, 200, {})],
    ['keys that are no list', (response) => answerJson(response, 200, { keys: 'a' })],
    ['keys that are no objects', (response) => answerJson(response, 200, { keys: ['a'] })],
    ['a broken connection', (response) => void response.destroy()],
    ['a connection broken half-way', (response) => void response.write('{"keys"', () => response.destroy())],
  ])('are unavailable when the answer is %s', async (_, answer) => {
    answers['/keys'] = answer;
    await expect(open().keys()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('of 256 KiB and %i bytes more are accepted: %s', async (more, want) => {
    const frame = JSON.stringify({ keys: [], pad: '' }).length;
    answers['/keys'] = (response) =>
      answerJson(response, 200, { keys: [], pad: 'x'.repeat(256 * 1024 + more - frame) });
    const verdict = open().keys();
    expect(await verdict.then(() => true).catch(() => false)).toBe(want);
  });

  it('that never end are given up after 256 KiB', async () => {
    answers['/keys'] = (response) => {
      const more = (): void => void (response.destroyed || response.write('x'.repeat(65_536), more));
      more();
    };
    await expect(open().keys()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['says nothing', () => undefined],
    ['sends headers only', (response) => response.writeHead(200).flushHeaders()],
    ['sends a byte at a time', (response) => void drip(response)],
  ])('of a provider that %s are given up in time', async (_, answer) => {
    const clock = createManualClock();
    const asked = new Promise<void>((resolve) => {
      answers['/keys'] = (response) => {
        answer(response);
        resolve();
      };
    });
    let isOver = false;
    const verdict = open({ timeoutMs: 200 }, clock)
      .keys()
      .finally(() => (isOver = true));
    const refused = verdict.catch((error: unknown) => error);
    await asked;
    await clock.advance(199);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await refused).toMatchObject({ code: 'unavailable' });
  });

  it('of a provider that does not listen are unavailable', async () => {
    const documents = open();
    await peer.close();
    await expect(documents.keys()).rejects.toMatchObject({ code: 'unavailable' });
  });
});

async function drip(response: ServerResponse): Promise<void> {
  while (!response.destroyed) {
    response.write(' ');
    await systemClock.sleep(20);
  }
}
