import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../lib/clock.ts';
import { ConfigError, type Environment } from '../lib/config.ts';
import { newId } from '../lib/ids.ts';
import { createKubeClient } from '../lib/kube/index.ts';
import { createLogger } from '../lib/logger.ts';
import { createServerMetrics } from '../lib/process/server-metrics.ts';
import { startTestBus, type TestBus } from '../test/nats/test-bus.ts';
import { type GatewayWorld, startGatewayWorld } from '../test/support/gateway-world.ts';
import { silentLogger } from '../test/support/silent-logger.ts';
import { bypassHeader } from './bypass.ts';
import { isBypass, readGatewayConfig } from './config.ts';
import { createOperatorAuthentication } from './identity/operator.ts';
import { runGateway } from './run-gateway.ts';

const bus = { WINDLASS_NATS_URL: 'nats://127.0.0.1:4222' };
const loopback = { ...bus, SEAL_GATEWAY_AUTH_DISABLED: 'true', WINDLASS_HTTP_HOST: '127.0.0.1' };
const issuer = {
  SEAL_GATEWAY_OPERATOR_JWT_ISSUER: 'https://id.example.com',
  SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE: 'windlass',
};

describe('the setting of the bypass', () => {
  it('GW-ENV-07 is off by default, and on for the text true alone', () => {
    expect(isBypass(readGatewayConfig({ ...bus, ...issuer }))).toBe(false);
    expect(isBypass(readGatewayConfig(loopback))).toBe(true);
    for (const value of ['True', 'TRUE', '1', 'yes', 'on', ' true', 'true ', 'false', 'truetrue'])
      expect(isBypass(readGatewayConfig({ ...bus, ...issuer, SEAL_GATEWAY_AUTH_DISABLED: value }))).toBe(false);
  });

  const refusalOf = (env: Environment): string => {
    try {
      readGatewayConfig(env);
      return 'none';
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
  };

  it.each(['127.0.0.1', '::1', 'localhost'])('GW-ENV-07 lets it listen on %s', (host) => {
    expect(refusalOf({ ...loopback, WINDLASS_HTTP_HOST: host })).toBe('none');
  });

  it.each([undefined, '0.0.0.0', '::', '10.0.0.1', 'localhost.example.com', '127.0.0.1.example.com'])(
    'GW-ENV-07 refuses to listen beyond loopback, on %s, unless it is forced by the text true',
    (host) => {
      const env = { ...loopback, WINDLASS_HTTP_HOST: host };
      expect(refusalOf(env)).toContain('SEAL_GATEWAY_AUTH_DISABLED');
      for (const force of ['True', '1', 'false'])
        expect(refusalOf({ ...env, SEAL_GATEWAY_AUTH_DISABLED_FORCE: force })).toContain('SEAL_GATEWAY_AUTH_DISABLED');
      expect(refusalOf({ ...env, SEAL_GATEWAY_AUTH_DISABLED_FORCE: 'true' })).toBe('none');
    },
  );

  it.each([
    ['true', true],
    ['false', false],
  ])('GW-ENV-07 warns at the start where it is %s: %s', async (value, isWarned) => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const logger = createLogger({ level: 'info', service: 'gateway', destination });
    const ports = { SEAL_GATEWAY_PORT: '0', SEAL_GATEWAY_INTERNAL_PORT: '0' };
    const env = { ...loopback, ...issuer, OIDC_ALLOW_HTTP: 'true', ...ports, SEAL_GATEWAY_AUTH_DISABLED: value };
    // Nothing is behind this address: the process stops before it has found anything.
    const credentials = { server: 'http://127.0.0.1:1', namespace: 'default' } as never;
    const kube = createKubeClient({ credentials, clock: systemClock }, { userAgent: 'test', writeTimeoutMs: 1_000 });
    const stopped = AbortSignal.abort();
    const code = await runGateway({
      config: readGatewayConfig(env),
      logger,
      metrics: createServerMetrics(),
      clock: systemClock,
      kube,
      runtime: { stop: stopped, abandon: stopped, breakOff: stopped, requestStop: () => undefined },
      newId,
      outputs: () => async () => new Uint8Array(),
      openApi: {} as never,
      resolve: async () => [],
      readDocsScript: async () => '',
      readFile: () => '',
      nodeConfig: { mcp_servers: [] },
      onLoaded: () => undefined,
    });
    await kube.close();
    expect(code).toBe(0);
    const warnings = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg?.includes('open to everybody'));
    expect(warnings.map(({ variable }) => variable)).toEqual(isWarned ? ['SEAL_GATEWAY_AUTH_DISABLED'] : []);
  });
});

describe('the bypass', () => {
  let nats: TestBus;
  let world: GatewayWorld;
  beforeAll(async () => {
    nats = await startTestBus();
  });
  afterAll(() => nats.stop());
  beforeEach(async () => {
    const deps = { clock: systemClock, logger: silentLogger, readFile: () => '' };
    const operators = createOperatorAuthentication(deps, readGatewayConfig(loopback));
    const key = { ...generateKeyPairSync('ed25519'), issuer: 'windlass', audience: 'windlass-tools' };
    const authenticate = ({ authorization }: { readonly authorization?: string | undefined }) =>
      operators.authenticate({ authorization });
    world = await startGatewayWorld({ bus: nats.connect(), key, isBypass: true, authenticate });
  });
  afterEach(() => world.close());

  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${world.url}${path}`, { headers });
  const invoke = async (body: unknown, path = '/v1/invoke') => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${world.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { response, body: (await response.json()) as { result?: { isError: boolean } } };
  };
  const envelope = (name: string, more: object = {}) => ({
    protocol: 'seal/v1',
    timestamp: Math.floor(Date.now() / 1_000),
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { id: 'a' } } },
    metadata: { execution_id: `e-${randomUUID()}` },
    ...more,
  });

  it.each<[string, Record<string, string>]>([
    ['no Authorization', {}],
    ['a made-up token', { authorization: 'Bearer nonsense' }],
    ['another scheme', { authorization: 'Basic eDp5' }],
    ['an empty one', { authorization: '' }],
  ])('GW-TEN-01 lets %s into the control plane, and says so in the header of the answer', async (_title, headers) => {
    const response = await get('/v1/tools', headers);
    expect([response.status, response.headers.get(bypassHeader)]).toEqual([200, 'disabled']);
  });

  it('GW-TEN-01 GW-TEN-02 says so in every answer, be it a refusal', async () => {
    const answers = [
      await get('/v1/nothing'),
      await get('/v1/seal/sessions/nobody'),
      (await invoke({ nonsense: true })).response,
      (await invoke(envelope('orders.nothing'))).response,
      (await invoke(envelope('orders.shared'))).response,
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, expect.any(Number), 400, 403, 200]);
    expect(answers.map(({ headers }) => headers.get(bypassHeader))).toEqual(answers.map(() => 'disabled'));
  });

  it.each([
    ['what is no HTTP', 'nonsense\r\n\r\n', 400],
    ['headers that are too large', `GET / HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('GW-TEN-01 says so in the answer to %s, which no handler sees', async (_what, sent, status) => {
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
    socket.write(sent);
    const answer = await text(socket);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain(`\r\n${bypassHeader}: disabled\r\n`);
  });

  it.each<[string, object]>([
    ['neither token nor signature', {}],
    ['a forged token and signature', { security_token: 'a.b.c', signature: 'AAAA' }],
    ['a token and a signature of other types', { security_token: 7, signature: null }],
    ['an old timestamp', { timestamp: 1_700_000_000 }],
  ])('GW-TEN-02 takes an envelope with %s, over both paths', async (_title, more) => {
    for (const path of ['/v1/invoke', '/v1/seal/invoke']) {
      const { response, body } = await invoke(envelope('orders.shared', more), path);
      expect([response.status, body.result?.isError]).toEqual([200, false]);
    }
    expect(world.upstreamPaths()).toEqual(['/orders', '/orders']);
  });

  it.each(['/v1/invoke', '/v1/seal/invoke'])('calls no tool for a page of the web: %s', async (path) => {
    // A page sends such a body to any server without asking it first.
    const headers = { 'content-type': 'text/plain', origin: 'https://evil.example' };
    const body = JSON.stringify(envelope('orders.shared'));
    const response = await fetch(`${world.url}${path}`, { method: 'POST', headers, body });
    expect([response.status, world.upstreamPaths()]).toEqual([403, []]);
  });

  it('GW-TEN-03 has no tenant: it sees shared tools alone, invents no slug, and its events belong to none', async () => {
    const { items } = (await (await get('/v1/tools')).json()) as { items: { name: string }[] };
    expect(items.map(({ name }) => name)).toEqual(['orders.shared']);
    expect((await invoke(envelope('orders.get'))).response.status).toBe(403);
    await invoke(envelope('orders.shared'));
    expect(world.events.length).toBeGreaterThan(0);
    expect(world.events.filter(({ tenant }) => tenant !== undefined)).toEqual([]);
  });

  it('GW-TEN-03 is a consumer', async () => {
    const deps = { clock: systemClock, logger: silentLogger, readFile: () => '' };
    const operators = createOperatorAuthentication(deps, readGatewayConfig(loopback));
    expect(await operators.authenticate({})).toMatchObject({ kind: 'consumer', tenant: undefined });
  });
});
