import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { runCli } from '../support/cli.ts';
import { echoTool, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startWay } from '../support/way.ts';

let nats: TestBus;
let gateway: TestGateway;
let env: Record<string, string>;
const folder = mkdtempSync(join(tmpdir(), 'windlass-gateway-cli-'));
const path = (name: string): string => join(folder, name);

beforeAll(async () => {
  nats = await startTestBus();
  gateway = await startTestGateway(nats.connect(), [echoTool('orders.place'), echoTool('stock.read')]);
  gateway.contexts.set('desk', { tools: ['orders.*'] });
  env = { WINDLASS_GATEWAY: gateway.url, WINDLASS_SERVER: gateway.api, WINDLASS_TOKEN: 'acme' };
}, 300_000);
afterAll(async () => {
  await gateway.close();
  await nats.stop();
  rmSync(folder, { recursive: true });
});

const run = (...argv: string[]) => runCli(argv, env);
const session = (id: string, ...more: string[]) =>
  run('gateway', 'session', 'create', id, '--security-context', 'desk', '--out', path(`${id}.json`), ...more);
const call = (id: string, tool: string, ...more: string[]) =>
  run('tools', 'call', tool, '--sign', path(`${id}.json`), ...more);
const contentOf = (id: string): Record<string, string> => JSON.parse(readFileSync(path(`${id}.json`), 'utf8'));

describe('windlass gateway session', () => {
  it('GW-SESS-05 makes a key and a session, and shows no token', async () => {
    const made = await session('run-1');
    expect(made).toMatchObject({ code: 0, out: '' });
    const { security_token: token = '', private_key: key = '' } = contentOf('run-1');
    expect(statSync(path('run-1.json')).mode & 0o777).toBe(0o600);
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(made.notes).not.toContain(token);
    expect(made.notes).not.toContain(key.split('\n')[1]);
    const listed = await run('gateway', 'session', 'list', '-o', 'json');
    expect(JSON.parse(listed.out)).toMatchObject([{ execution_id: 'run-1', security_context: 'desk' }]);
    expect(listed.out).not.toContain(token);
  });

  it('makes no session for a security context that is not there, and names the one that is probably meant', async () => {
    const made = await run(
      'gateway',
      'session',
      'create',
      'run-8',
      '--security-context',
      'dsek',
      '--out',
      path('8.json'),
    );
    expect(made).toMatchObject({ code: 2, notes: expect.stringContaining('dsek; did you mean desk?') });
    expect(existsSync(path('8.json'))).toBe(false);
  });

  it('prints the token where it is asked for', async () => {
    expect((await session('run-2', '--show-token')).out).toBe(contentOf('run-2')['security_token']);
  });

  it('makes no session where the file exists', async () => {
    writeFileSync(path('run-3.json'), 'kept');
    expect(await session('run-3')).toMatchObject({ code: 2, notes: expect.stringContaining('exists') });
    expect(readFileSync(path('run-3.json'), 'utf8')).toBe('kept');
    expect(await session('run-3', '--force')).toMatchObject({ code: 0 });
  });

  it('takes a key of yours, and refuses another one without a word of it', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    writeFileSync(path('ec.pem'), pem);
    const refused = await session('run-4', '--key-file', path('ec.pem'));
    expect(refused).toMatchObject({ code: 2, notes: expect.stringContaining('no private Ed25519 key') });
    expect(refused.notes).not.toContain(pem.split('\n')[1]);
    const own = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    writeFileSync(path('own.pem'), own);
    expect(await session('run-4', '--key-file', path('own.pem'))).toMatchObject({ code: 0 });
    expect(contentOf('run-4')['private_key']).toBe(own);
  });

  it('AMB-116 says of an execution that has a session what to do', async () => {
    await session('run-5');
    const again = await session('run-5', '--force');
    expect(again).toMatchObject({ code: 4, notes: expect.stringContaining('has a session already') });
  });

  it('GW-SESS-10 revokes, after which no call begins', async () => {
    await session('run-6');
    expect(await run('gateway', 'session', 'revoke', 'run-6')).toMatchObject({ code: 0, out: 'session run-6 revoked' });
    const refused = await call('run-6', 'orders.place', '-i', 'item=tea');
    expect(refused).toMatchObject({ code: 7, notes: expect.stringContaining('the session is not active') });
    expect(refused.notes).toContain(`windlass gateway session create EXECUTION --out ${path('run-6.json')} --force`);
    expect(await run('gateway', 'session', 'revoke', 'nobody')).toMatchObject({ code: 3 });
  });

  it('is refused to those who are no operators', async () => {
    const made = await runCli(['gateway', 'session', 'create', 'run-7', '--out', path('run-7.json')], {
      ...env,
      WINDLASS_TOKEN: 'consumer',
    });
    expect(made).toMatchObject({ code: 7, notes: expect.stringContaining('svc:operator') });
  });

  it.each(['0s', '8d', 'soon'])('refuses a session of %s', async (ttl) => {
    expect(await session(`run-${ttl}`, '--ttl', ttl)).toMatchObject({ code: 2 });
  });
});

describe('windlass tools', () => {
  beforeAll(async () => void (await session('caller', '--tool', 'orders.*')));

  it('lists registered tools, and those that a context permits', async () => {
    expect((await run('tools', 'list', '-o', 'name')).out).toBe('orders.place\nstock.read');
    expect((await run('tools', 'list', '--security-context', 'desk', '-o', 'name')).out).toBe('orders.place');
    expect(await run('tools', 'list', '--security-context', 'other')).toMatchObject({ code: 3 });
  });

  it('GW-INV-01 calls a tool by a signed envelope', async () => {
    const answered = await call('caller', 'orders.place', '-i', 'item=tea', '-i', 'quantity=2');
    expect(answered).toMatchObject({ code: 0, out: '{"item":"tea","quantity":2}' });
    const whole = await run(
      'gateway',
      'call',
      'orders.place',
      '--sign',
      path('caller.json'),
      '-i',
      'item=x',
      '-o',
      'json',
    );
    expect(JSON.parse(whole.out)).toMatchObject({ result: { structuredContent: { execution_id: 'caller' } } });
  });

  it('AMB-130 ends with 1 where the tool itself failed', async () => {
    const failed = await call('caller', 'orders.place', '-i', 'item=tea', '-i', 'fail=true');
    expect(failed).toMatchObject({ code: 1, out: '', notes: expect.stringContaining('the tool failed') });
  });

  it.each([
    ['a tool outside of the session', 'stock.read', ['-i', 'item=tea'], 7, 'does not permit the tool stock.read'],
    ['a tool that is not there', 'orders.none', [], 3, 'List what there is: windlass tools list'],
    ['an argument that is missing', 'orders.place', [], 2, "required field 'item' is missing"],
  ])('says why the gateway refuses %s', async (...[, tool, more, code, words]) => {
    expect(await call('caller', tool, ...more)).toMatchObject({ code, out: '', notes: expect.stringContaining(words) });
  });

  it('needs a session file, and prints an envelope without sending it', async () => {
    expect(await run('tools', 'call', 'orders.place')).toMatchObject({ code: 2 });
    writeFileSync(path('other.json'), '{"secret":"hunter2"}');
    const refused = await call('other', 'orders.place');
    expect(refused).toMatchObject({ code: 2, notes: expect.not.stringContaining('hunter2') });
    const dry = await call('caller', 'orders.place', '-i', 'item=tea', '--dry-run');
    expect(JSON.parse(dry.out)).toMatchObject({ protocol: 'seal/v1', metadata: { execution_id: 'caller' } });
  });
});

describe('a server that is away', () => {
  it.each([
    ['the gateway', 'WINDLASS_GATEWAY', ['gateway', 'spec', 'list']],
    ['the API', 'WINDLASS_SERVER', ['workflow', 'list']],
  ])('%s: says once and at once that it tries again', async (_name, variable, argv) => {
    const lines: string[] = [];
    const away = { ...env, [variable]: 'http://127.0.0.1:1' };
    const { code, notes } = await runCli(argv, away, { onLine: (line) => lines.push(line) });
    const warning = 'warning: http://127.0.0.1:1 cannot be reached; trying again';
    expect([code, notes.split('\n').filter((line) => line.includes('trying again'))]).toEqual([7, [warning]]);
    expect(notes.indexOf(warning)).toBe(0);
  });
});

describe('windlass gateway audit', () => {
  it('lists events by type and time', async () => {
    const { out } = await run('gateway', 'audit', 'list', '--type', 'SessionCreated', '--since', '1h', '-o', 'json');
    const events: { type: string }[] = JSON.parse(out);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['SessionCreated']));
    expect(events.length).toBeGreaterThan(3);
    expect((await run('gateway', 'audit', 'list', '--limit', '2')).out.split('\n')).toHaveLength(3);
    expect(await run('gateway', 'audit', 'list', '--to', '2020-01-01T00:00:00Z')).toMatchObject({ code: 0, out: '' });
    expect(await run('gateway', 'audit', 'list', '--type', 'Other')).toMatchObject({ code: 2 });
  });

  it('follows events until it is interrupted', async () => {
    const stop = new AbortController();
    const lines: string[] = [];
    const following = runCli(['gateway', 'audit', '--follow', '-o', 'json', '--type', 'SessionRevoked'], env, {
      interrupted: stop.signal,
      onLine(line) {
        lines.push(line);
        if (line.includes('"late-1"')) stop.abort();
      },
    });
    await session('late-1');
    await run('gateway', 'session', 'revoke', 'late-1');
    expect(await following).toMatchObject({ code: 130 });
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'SessionRevoked', data: { execution_id: 'late-1' } });
  }, 60_000);

  it('follows on when the gateway was away for longer than one read is repeated, and says so', async () => {
    const way = await startWay();
    way.leadTo(Number(new URL(gateway.url).port));
    const stop = new AbortController();
    let isReading = false;
    const following = runCli(
      ['gateway', 'audit', '--follow', '-o', 'json', '--type', 'SessionRevoked'],
      { ...env, WINDLASS_GATEWAY: way.url },
      {
        interrupted: stop.signal,
        onLine(line) {
          isReading = true;
          if (line.includes('"away-2"')) stop.abort();
        },
      },
    );
    for (const id of ['away-1', 'away-2']) {
      await session(id);
      await run('gateway', 'session', 'revoke', id);
      await expect.poll(() => isReading, { timeout: 20_000 }).toBe(true);
      if (id === 'away-2') break;
      way.cut();
      // One read is four attempts.
      await expect.poll(() => way.refused, { timeout: 30_000 }).toBeGreaterThanOrEqual(5);
      way.mend();
    }
    expect(await following).toMatchObject({ code: 130, notes: expect.stringContaining('the audit cannot be read') });
    await way.close();
  }, 90_000);

  it('ends at once where the gateway was never there', async () => {
    const nowhere = { ...env, WINDLASS_GATEWAY: 'http://127.0.0.1:1' };
    expect((await runCli(['gateway', 'audit', '--follow'], nowhere)).code).not.toBe(130);
  });

  it('GW-EVT proves a whole chain with the server and without it, and names what is broken', async () => {
    writeFileSync(path('audit.pem'), gateway.auditPublicKey);
    const verified = await run('gateway', 'audit', 'verify', '--save', path('audit.jsonl'));
    expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('none is missing or changed') });
    expect(statSync(path('audit.jsonl')).mode & 0o777).toBe(0o600);
    const offline = (file: string) =>
      runCli(['gateway', 'audit', 'verify', '--file', path(file), '--public-key', path('audit.pem')], {});
    expect(await offline('audit.jsonl')).toMatchObject({ code: 0 });
    const lines = readFileSync(path('audit.jsonl'), 'utf8').split('\n');
    writeFileSync(path('cut.jsonl'), lines.toSpliced(3, 1).join('\n'));
    expect(await offline('cut.jsonl')).toMatchObject({
      code: 1,
      notes: expect.stringMatching(/^missing: tenant acme/),
    });
    writeFileSync(path('changed.jsonl'), lines.join('\n').replace('"run-1"', '"run-0"'));
    expect(await offline('changed.jsonl')).toMatchObject({ code: 1, notes: expect.stringMatching(/^changed: /) });
    writeFileSync(path('none.jsonl'), 'x');
    expect(await offline('none.jsonl')).toMatchObject({ code: 2 });
  });

  it('takes no checkpoint of another key', async () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    writeFileSync(path('foreign.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
    await expect
      .poll(() => run('gateway', 'audit', 'verify', '--public-key', path('foreign.pem')), { timeout: 30_000 })
      .toMatchObject({ code: 1, notes: expect.stringContaining('key_unknown') });
    writeFileSync(path('both.pem'), `${readFileSync(path('foreign.pem'), 'utf8')}${gateway.auditPublicKey}`);
    for (const keys of [['both.pem'], ['foreign.pem', 'audit.pem'], ['audit.pem', 'foreign.pem']]) {
      const given = keys.flatMap((file) => ['--public-key', path(file)]);
      expect(await run('gateway', 'audit', 'verify', ...given)).toMatchObject({ code: 0 });
    }
    writeFileSync(
      path('spoilt.pem'),
      `${gateway.auditPublicKey}-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----\n`,
    );
    expect(await run('gateway', 'audit', 'verify', '--public-key', path('spoilt.pem'))).toMatchObject({ code: 2 });
  }, 60_000);
});

describe('files of registrations', () => {
  it.each([
    ['kind: Workflow\n', 'kind is Workflow, and must be'],
    ['kind: ToolWorkflo\n', 'did you mean ToolWorkflow?'],
    ['name: orders\n', 'has no kind'],
    ['', 'nothing of the tool gateway'],
    ['kind: ApiSpec\nkind: ApiSpec\n', 'is a duplicate'],
    ['- a\n', 'must be a map'],
  ])('%j is refused before anything is sent', async (text, words) => {
    writeFileSync(path('bad.yaml'), text);
    const refused = await run('gateway', 'register', path('bad.yaml'));
    expect(refused).toMatchObject({ code: 1, notes: expect.stringContaining(words) });
    expect(refused.notes).toMatch(/bad\.yaml:\d+:\d+ /);
  });

  it('needs the address of the gateway, and takes no option of Kubernetes', async () => {
    expect(await runCli(['gateway', 'spec', 'list'], {})).toMatchObject({ code: 2 });
    expect(await run('gateway', 'spec', 'list', '-n', 'team-a')).toMatchObject({ code: 2 });
  });
});
