import { execFile } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueToken, type SealKey } from '../../../lib/envelope/index.ts';
import { startTestBus, type TestBus } from '../../nats/test-bus.ts';
import { type GatewayWorld, startGatewayWorld } from '../../support/gateway-world.ts';
import { spoil, type Spoiled, type Written } from './spoiled.ts';

const refusedToken: Spoiled['want'] = [401, -32_000, null];

/** The example signers, each a program of its own that knows no code of ours, before a gateway over HTTP. */
const run = promisify(execFile);
const projectDir = join(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'windlass-signer-'));
const pair = generateKeyPairSync('ed25519');
const key: SealKey = { ...generateKeyPairSync('ed25519'), issuer: 'windlass', audience: 'windlass-tools' };
const executionId = `run-${randomUUID()}`;
const languages = ['TypeScript', 'Python', 'Go'] as const;
type Language = (typeof languages)[number];

interface Inputs {
  readonly key?: KeyObject;
  readonly token?: string;
  readonly execution?: string;
  readonly tool?: string;
  readonly args?: unknown;
}

let nats: TestBus;
let gateway: GatewayWorld;
let token: string;
let commands: Readonly<Record<Language, readonly string[]>>;

beforeAll(async () => {
  const { stdout } = await run(join(projectDir, 'dev/setup/signers'), { timeout: 300_000 });
  const { python, go } = JSON.parse(stdout) as { readonly python: string; readonly go: string };
  const example = (name: string): string => join(projectDir, 'examples/signers', name);
  commands = { TypeScript: [execPath, example('sign.ts')], Python: [python, example('sign.py')], Go: [go] };
  nats = await startTestBus();
  gateway = await startGatewayWorld({ bus: nats.connect(), key });
  token = await tokenOf();
  const made = await post('/v1/seal/sessions', JSON.stringify(session()));
  if (made.status !== 200) throw new Error(await made.text());
}, 300_000);
afterAll(async () => {
  await gateway.close();
  await nats.stop();
  rmSync(folder, { recursive: true });
});

function tokenOf(claims: object = {}, signer: SealKey = key): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const own = { jti: randomUUID(), scp: 'default', tenant_id: 'acme', iat: now, exp: now + 3_600 };
  return issueToken(signer, { ...own, ...claims });
}

const session = () => ({
  execution_id: executionId,
  agent_id: 'desk',
  security_context: 'default',
  public_key_b64: pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
  security_token: token,
  allowed_tool_patterns: ['orders.*'],
});

/** The envelope that the program of a language writes. */
async function signed(language: Language, inputs: Inputs = {}): Promise<Written> {
  const { execution = executionId, tool = 'orders.get', args = { id: 'MARK' } } = inputs;
  const file = join(folder, `${randomUUID()}.pem`);
  writeFileSync(file, (inputs.key ?? pair.privateKey).export({ type: 'pkcs8', format: 'pem' }));
  const [program = '', ...own] = commands[language];
  const given = inputs.token ?? (await tokenOf());
  const { stdout } = await run(program, [...own, file, given, execution, tool, JSON.stringify(args)]);
  return JSON.parse(stdout) as Written;
}

function post(path: string, body: string | Buffer): Promise<Response> {
  const headers = { authorization: 'Bearer acme', 'content-type': 'application/json' };
  return fetch(`${gateway.url}${path}`, { method: 'POST', headers, body });
}

async function answered(body: string | Buffer): Promise<Spoiled['want']> {
  const response = await post('/v1/invoke', body);
  const { error } = (await response.json()) as {
    readonly error?: { readonly code: number; readonly data: { readonly code: number } | null };
  };
  return [response.status, error?.code ?? 0, error?.data?.code ?? null];
}

/** Texts and numbers that languages write differently where they do not keep to RFC 8785. */
const awkward = {
  id: 'awkward',
  text: 'ö"\\\u0001\b\u2028\u007f</script>&😀',
  z: [1, 0.5, -0, 1e21, 1e-7, 333333333.3333333, { b: null, a: true }],
  '\u{1F600}': 1,
  '\uFB33': 2,
};

describe.each(languages)('the example signer in %s', (language) => {
  it('AMB-012 writes a call that the gateway runs once', async () => {
    const body = JSON.stringify(await signed(language, { args: { id: `first of ${language}` } }));
    expect(await answered(body)).toEqual([200, 0, null]);
    expect(await answered(body)).toEqual([401, -32_000, null]);
  });

  it('AMB-012 writes two calls of one token, tool and arguments that are both run', async () => {
    const inputs = { token: await tokenOf(), args: { id: 'again' } };
    const calls = [await signed(language, inputs), await signed(language, inputs)];
    expect(calls[1]?.payload).not.toEqual(calls[0]?.payload);
    for (const call of calls) expect(await answered(JSON.stringify(call))).toEqual([200, 0, null]);
  });

  it('ends with 2 and its usage where arguments are missing', async () => {
    const [program = '', ...own] = commands[language];
    const wrong = run(program, [...own, join(folder, 'key.pem'), token, executionId]);
    await expect(wrong).rejects.toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^usage: .*\n$/) });
  });

  it('AMB-012 signs texts and numbers that are easily written in two ways', async () => {
    expect(await answered(JSON.stringify(await signed(language, { args: awkward })))).toEqual([200, 0, null]);
  });

  it('GW-INV-23 GW-INV-27 writes an envelope each of whose 60 spoiled variants is refused with its code', async () => {
    const variants = spoil(await signed(language));
    expect(variants.length).toBeGreaterThanOrEqual(60);
    const before = gateway.upstreamPaths().length;
    const got = await Promise.all(variants.map(async ({ title, body }) => [title, await answered(body)]));
    expect(got).toEqual(variants.map(({ title, want }) => [title, want]));
    expect(gateway.upstreamPaths()).toHaveLength(before);
  });

  it.each<[string, () => Promise<Inputs> | Inputs, Spoiled['want']]>([
    ['another key', () => ({ key: generateKeyPairSync('ed25519').privateKey }), [401, -32_000, 1_004]],
    ['a token of another context', async () => ({ token: await tokenOf({ scp: 'other' }) }), refusedToken],
    ['a token that has ended', async () => ({ token: await tokenOf({ exp: 1_000_000_000 }) }), refusedToken],
    ['a token for others', async () => ({ token: await tokenOf({}, { ...key, audience: 'x' }) }), refusedToken],
    ['a token that is no JWT', () => ({ token: 'token' }), refusedToken],
    ['a token of another tenant', async () => ({ token: await tokenOf({ tenant_id: 'rival' }) }), refusedToken],
    ['an execution without a session', () => ({ execution: 'nobody' }), [403, -32_000, null]],
    ['a tool that no pattern permits', () => ({ tool: 'web.fetch' }), [403, -32_000, null]],
    ['a tool that is not there', () => ({ tool: 'orders.nothing' }), [403, -32_000, null]],
    ['no argument that is required', () => ({ args: {} }), [422, -32_602, null]],
    ['a required argument that is null', () => ({ args: { id: null } }), [422, -32_602, null]],
    ['an argument of another type', () => ({ args: { id: 7 } }), [422, -32_602, null]],
  ])('GW-INV-22 GW-INV-24 GW-INV-25 signs a call that is refused: %s', async (_title, inputs, want) => {
    expect(await answered(JSON.stringify(await signed(language, await inputs())))).toEqual(want);
  });
});

it('GW-INV-16 GW-INV-20 a call that Python signed under a clock five minutes off is outside the window', async () => {
  const [python = '', program = ''] = commands.Python;
  const file = join(folder, 'late.pem');
  writeFileSync(file, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  for (const off of [-300, 300]) {
    const code = `import runpy, time; now = time.time() + ${off}; time.time = lambda: now; runpy.run_path(${JSON.stringify(program)}, run_name="__main__")`;
    const { stdout } = await run(python, ['-c', code, file, token, executionId, 'orders.get', '{"id":"x"}']);
    expect(await answered(stdout)).toEqual([401, -32_000, 1_003]);
  }
});
