import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AppError } from '../../lib/errors.ts';
import { durationOf, mintCommandToken } from '../../lib/edge/index.ts';
import { EdgeResult, InvokeTool } from '../../proto/generated/windlass/node/v1/node.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import type { LocalConfig } from '../config/schema.ts';
import { openJournal } from '../journal/journal.ts';
import type { HostTools } from '../tools/host-tools.ts';
import { createExecutor } from './executor.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'edge-executor-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A tool that runs until it is broken off. */
const endless: HostTools = {
  names: ['cmd.run'],
  problem: () => undefined,
  run: (_call, { signal }) =>
    new Promise((resolve) => {
      const end = (): void => resolve({ content: '', isError: false, exitCode: 0 });
      signal.addEventListener('abort', end, { once: true });
    }),
};

async function commandOf(asked: number, message: number | undefined, now: number): Promise<InvokeTool> {
  const command = { commandId: randomUUID(), tool: 'cmd.run', args: {}, context: 'default' };
  const host = { author: 'ops', tid: 'acme', node: 'n' };
  const lifeMs = asked * 1_000 + 60_000;
  const token = await mintCommandToken(privateKey, { ...command, ...host, deadlineSeconds: asked, now, lifeMs });
  return InvokeTool.create({
    commandId: command.commandId,
    securityContextName: 'default',
    sealEnvelope: { userSecurityToken: token, tenantId: 'acme' },
    toolName: 'cmd.run',
    args: {},
    deadline: message === undefined ? undefined : durationOf(message * 1_000),
  });
}

async function startExecutor(config: LocalConfig) {
  const clock = createManualClock(Date.parse('2026-11-02T09:00:00Z'));
  const journal = await openJournal(join(folder, 'commands'), { clock, owner: { uid: process.geteuid?.() ?? 0 } });
  const ended: string[] = [];
  const unkept: string[] = [];
  const executor = createExecutor({
    clock,
    logger: silentLogger,
    journal,
    tools: endless,
    config: () => ({ security_contexts: { default: {} }, ...config }),
    proof: { commandKey: publicKey, tenant: 'acme', nodeId: 'n' },
    outbox: { result: (id) => ended.push(id), output: () => {}, started: () => {}, unkept: (id) => unkept.push(id) },
  });
  const outcome = async (id: string) => EdgeResult.decode((await journal.result(id)) ?? new Uint8Array()).outcome;
  return { clock, journal, executor, ended, unkept, outcome };
}

describe('the time of a command', () => {
  it.each([
    { what: 'the deadline that was asked for', asked: 3_600, message: 3_600, config: {}, want: 3_600 },
    { what: 'the longest deadline', asked: 86_400, message: 86_400, config: {}, want: 86_400 },
    { what: 'the shorter one of the message', asked: 3_600, message: 1_800, config: {}, want: 1_800 },
    { what: 'the token, where the message names none', asked: 900, message: undefined, config: {}, want: 900 },
    { what: 'the token, where the message asks for more', asked: 900, message: 901, config: {}, want: 900 },
    { what: "the owner's limit", asked: 3_600, message: 3_600, config: { command_timeout_secs: 120 }, want: 120 },
    { what: "what is below the owner's limit", asked: 60, message: 60, config: { command_timeout_secs: 61 }, want: 60 },
  ])('EDGE-RES-24 is $what', async ({ asked, message, config, want }) => {
    const { clock, executor, ended, outcome } = await startExecutor(config);
    const command = await commandOf(asked, message, clock.now());
    await executor.invoke(command);
    expect(executor.underWay).toBe(1);
    await clock.advance(want * 1_000 - 1);
    expect(ended).toEqual([]);
    expect(executor.underWay).toBe(1);
    await clock.advance(1);
    await vi.waitFor(() => expect(ended).toEqual([command.commandId]));
    // A limit of the owner is visible in the result.
    const deadline = durationOf(want * 1_000);
    expect(await outcome(command.commandId)).toMatchObject({ $case: 'timedOut', value: { deadline } });
    await executor.stop(0, 'over');
  });
});

describe('a command that the journal could not take', () => {
  it('EDGE-FLOW-11 is refused again where it comes again, also when the journal has room: its run counts it as failed', async () => {
    const { clock, journal, executor, unkept } = await startExecutor({});
    const command = await commandOf(60, 60, clock.now());
    vi.spyOn(journal, 'begin').mockRejectedValueOnce(new AppError('limit_exceeded', 'full', { reason: 'JournalFull' }));
    await executor.invoke(command);
    expect(unkept).toEqual([command.commandId]);
    await executor.invoke(command);
    expect(unkept).toEqual([command.commandId, command.commandId]);
    expect(executor.underWay).toBe(0);
    await executor.invoke(await commandOf(60, 60, clock.now()));
    expect(executor.underWay).toBe(1);
    await executor.stop(0, 'over');
  });
});
