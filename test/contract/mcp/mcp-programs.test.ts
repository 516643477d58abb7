import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLargeAnswers } from '../../../lib/tools/web/answer-room.ts';
import { systemClock } from '../../../lib/clock.ts';
import { createMcpServers, type McpServers, type McpServerTool } from '../../../lib/mcp/index.ts';
import { type McpPod, Secret } from '../../../lib/node-config/index.ts';
import { silentLogger } from '../../support/silent-logger.ts';
import { installPeers, type Program, projectDir, startProgram } from './mcp-peers.ts';

/** Programs over stdio behind the real `runner mcp`, called by the gateway's client: what a pod of the chart runs. */
const dir = mkdtempSync(join(tmpdir(), 'windlass-mcp-programs-'));
const runner = join(dir, 'runner');
const notes = [execPath, join(projectDir, 'examples/mcp-notes/server.mjs')];
/** The same program, which one text ends. */
const mortal = readFileSync(notes[1] ?? '', 'utf8').replace('=> said(', "=> note === 'die' ? process.exit(3) : said(");
const closers: (() => Promise<unknown>)[] = [];
const signal = (): AbortSignal => new AbortController().signal;

beforeAll(async () => {
  const env = { ...process.env, CGO_ENABLED: '0' };
  execFileSync('go', ['build', '-o', runner, '.'], { cwd: join(projectDir, 'runner'), env });
}, 120_000);
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});
afterAll(() => rmSync(dir, { recursive: true }));

interface Bridge extends McpPod {
  readonly program: Program;
}

async function bridge(key: string, command: readonly string[]): Promise<Bridge> {
  const program = await startProgram(['mcp', '--listen', '127.0.0.1:0', '--', ...command], {
    ready: /serves/,
    env: { WINDLASS_MCP_TOKEN: key, HOME: dir },
    file: runner,
  });
  closers.push(() => program.stop());
  const address = /127\.0\.0\.1:\d+/.exec(program.line)?.[0] ?? '';
  return { program, url: `http://${address}/mcp`, api_key: new Secret(key) };
}

async function serve(pods: Readonly<Record<string, McpPod>>): Promise<McpServers> {
  const [first] = Object.values(pods);
  const entry = {
    name: 'notes',
    tenants: Object.keys(pods),
    capabilities: [],
    allow_internal_addresses: ['127.0.0.0/8'],
    pods: new Map(Object.entries(pods)),
  };
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const deps = { clock: systemClock, logger: silentLogger, resolve, room: createLargeAnswers(systemClock) };
  const servers = createMcpServers(deps, [{ ...entry, url: first?.url ?? '', ...first }]);
  const stop = new AbortController();
  const running = servers.run(stop.signal);
  closers.push(async () => {
    stop.abort();
    await running;
    await servers.close();
  });
  return servers;
}

async function find(servers: McpServers, tenant: string, name: string): Promise<McpServerTool> {
  for (let wait = 0; wait < 500; wait += 1) {
    const found = servers.find(tenant, name);
    if (found !== undefined) return found;
    await systemClock.sleep(20);
  }
  throw new Error(`there is no tool ${name}`);
}

const textOf = ({ content }: Awaited<ReturnType<McpServerTool['call']>>): string => content;

describe('MCP servers over stdio behind runner mcp', () => {
  it('gives each tenant a process of its own, and tenants without a pod nothing', async () => {
    const servers = await serve({ acme: await bridge('key-of-acme', notes), beta: await bridge('key-of-beta', notes) });
    const add = await find(servers, 'acme', 'notes.add');
    expect(textOf(await add.call('acme', { text: 'tea' }, signal()))).toBe('1 notes');
    expect(textOf(await add.call('acme', { text: 'milk' }, signal()))).toBe('2 notes');
    expect(textOf(await add.call('beta', { text: 'rum' }, signal()))).toBe('1 notes');
    expect(servers.find('other', 'notes.add')).toBeUndefined();
  });

  it('refuses the key of another pod', async () => {
    const [acme, beta] = [await bridge('key-of-acme', notes), await bridge('key-of-beta', notes)];
    const servers = await serve({ acme, beta: { url: beta.url, api_key: new Secret('key-of-acme') } });
    const add = await find(servers, 'acme', 'notes.add');
    expect(await add.call('beta', { text: 'rum' }, signal())).toMatchObject({ isError: true });
  });

  it('AMB-196 lists and calls the reference server of the protocol, with its structured content', async () => {
    const program = join(await installPeers(), '@modelcontextprotocol/server-everything/dist/index.js');
    const servers = await serve({ acme: await bridge('key', [execPath, program, 'stdio']) });
    const echo = await find(servers, 'acme', 'notes.echo');
    expect(textOf(await echo.call('acme', { message: 'hello' }, signal()))).toBe('Echo: hello');
    const sum = await find(servers, 'acme', 'notes.get-sum');
    expect(textOf(await sum.call('acme', { a: 2, b: 3 }, signal()))).toContain('5');
  });

  it('begins a new process after the program has died, and repeats no call', async () => {
    const servers = await serve({ acme: await bridge('key', [execPath, '--input-type=module', '--eval', mortal]) });
    const add = await find(servers, 'acme', 'notes.add');
    expect(textOf(await add.call('acme', { text: 'tea' }, signal()))).toBe('1 notes');
    const died = await add.call('acme', { text: 'die' }, signal());
    expect(died).toMatchObject({ isError: true });
    expect(JSON.stringify(died)).toContain('its outcome is unknown');
    expect(textOf(await add.call('acme', { text: 'milk' }, signal()))).toBe('1 notes');
  });
});
