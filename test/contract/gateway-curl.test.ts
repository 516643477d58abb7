import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { echoTool, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { read } from './support/pages.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'windlass-curl-'));
let nats: TestBus;
let gateway: TestGateway;

beforeAll(async () => {
  nats = await startTestBus();
  gateway = await startTestGateway(await nats.connected(), [echoTool('goods.read')]);
  gateway.contexts.set('goods', { tools: ['goods.*'] });
});
afterAll(async () => {
  await gateway.close();
  await nats.stop();
  rmSync(folder, { recursive: true });
});

/** The blocks of commands under a heading of docs/gateway.md. */
function blocksOf(heading: string): string[] {
  const section =
    read('docs/gateway.md')
      .split(/^## /m)
      .find((part) => part.startsWith(heading)) ?? '';
  return [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);
}

/** Runs it as a reader would paste it. The first line of the block that registers names the headers that all commands send. */
async function paste(block: string) {
  const [headers = ''] = blocksOf('With curl alone')[1]?.split('\n') ?? [];
  const env = { ...process.env, WINDLASS_TOKEN: 'acme', WINDLASS_SERVER: gateway.api, WINDLASS_GATEWAY: gateway.url };
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', `${headers}\n${block}`], { cwd: folder, env });
  return stdout;
}

describe('the walk of docs/gateway.md with curl alone', () => {
  it('GW-OP-12 GW-INV-01 GW-OP-15 gets a token, makes a session, signs a call, reads the audit and revokes', async () => {
    const [, , block = ''] = blocksOf('With curl alone');
    const answers = await paste(block);
    expect(answers).toContain('"execution_id":"run-3"');
    expect(answers).toMatch(/"isError":false/);
    expect(answers).toContain('{\\"item\\":\\"tea\\"}');
    expect(answers).toContain('"type":"ToolInvocationStarted"');
    expect(answers).toContain('"state":"revoked"');
    const again = block.split('\n').filter((line) => !/DELETE|audit-events/.test(line));
    await expect(paste(again.join('\n'))).rejects.toMatchObject({ stdout: expect.stringContaining('conflict') });
  });

  it('verifies the audit, and names what is broken', async () => {
    const [fetchAll = '', verify = ''] = blocksOf('Audit');
    const verified = /^(\d+) events, ([1-9]\d*) checkpoints of the key [\da-f]{32}\n$/;
    const last = (file: string, ends: string) => paste(`jq -s '${ends} | max' ${file}`);
    const isVouched = async (): Promise<boolean> => {
      await paste(fetchAll);
      return (
        (await last('checkpoints.json', '[.[].items[].sequence]')) === (await last('events.jsonl', '[.[].sequence]'))
      );
    };
    await expect.poll(isVouched, { timeout: 60_000, interval: 1_000 }).toBe(true);
    expect(await paste(verify)).toMatch(verified);
    expect(readFileSync(join(folder, 'audit.pem'), 'utf8')).toBe(gateway.auditPublicKey);
    const file = join(folder, 'events.jsonl');
    const events = readFileSync(file, 'utf8');
    const lines = events.split('\n').slice(0, -1);
    const found = async (spoilt: readonly string[]): Promise<string> => {
      writeFileSync(file, spoilt.map((line) => `${line}\n`).join(''));
      return paste(verify);
    };
    expect(lines.length).toBeGreaterThan(3);
    expect(await found(lines.toSpliced(1, 1, (lines[1] ?? '').replace('"run-3"', '"run-4"')))).toMatch(
      /^changed: l\d 2$/m,
    );
    expect(await found(lines.toSpliced(1, 1))).toMatch(/^missing: before l\d 3$/m);
    expect(await found(lines.slice(0, -1))).toMatch(/^cut: l\d \d+$/m);
    expect(await found(lines)).toMatch(verified);
    const checkpoints = join(folder, 'checkpoints.json');
    writeFileSync(checkpoints, readFileSync(checkpoints, 'utf8').replace('"sequence":', '"sequence":1'));
    expect(await paste(verify)).toMatch(/^forged: l\d 1\d+$/m);
  }, 120_000);

  it('registers with bodies that are JSON of the form of the operations', async () => {
    const [, block = ''] = blocksOf('With curl alone');
    const files = block.split('\n').filter((line) => /^jq .*>\w+\.json$/.test(line));
    await paste(files.join('\n'));
    const { stdout } = await run('jq', ['-r', '.document | fromjson | .servers[0].url', join(folder, 'spec.json')]);
    expect(stdout.trim()).toBe('http://order-desk.order-desk.svc:8080');
    const tool = await run('jq', ['-r', '.steps[0].body_template', join(folder, 'tool.json')]);
    expect(tool.stdout.trim()).toBe('{"item": "{{input.item}}"}');
  });
});
