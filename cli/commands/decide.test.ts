import { describe, expect, it } from 'vitest';
import { CliError } from '../exit-codes.ts';
import { createLaunch } from '../launch.ts';
import type { CommandWorld } from '../command-context.ts';
import { approvalsCommand } from './approvals.ts';
import { approveCommand, rejectCommand, signalCommand } from './decide.ts';

const noExecution = new CliError('not_found', 'no execution');

interface Given {
  /** Names of executions of workflows, and of agents. */
  readonly workflows?: readonly string[];
  readonly agents?: readonly string[];
}

/** Effects and output of a command at a backend with these executions. */
async function ran(argv: readonly string[], { workflows = [], agents = [] }: Given) {
  const [out, answered]: [string[], unknown[]] = [[], []];
  const question = {
    execution: 'flow-1',
    execution_id: 'w',
    state: 'ask',
    prompt: 'ok?',
    since: '2026-01-01T00:00:00Z',
  };
  const backend = {
    words: { place: 'in tenant acme', flags: '' },
    executions: {
      read: async (name: string) => {
        if (!workflows.includes(name)) throw noExecution;
        return { metadata: { name } };
      },
      answer: async ({ metadata }: { metadata: { name: string } }, answer: object) => {
        answered.push(['workflow', metadata.name, answer]);
        return { state: 'ask', response: 'approved', by: 'ada' };
      },
      questions: async () => [{ ...question, since: '2026-01-01T00:00:05Z' }],
    },
    calls: {
      find: async (name: string) => (agents.includes(name) ? { name, uid: 'a-1' } : undefined),
      answer: async ({ name }: { name: string }, answer: { response: string }) => {
        answered.push(['agent', name, answer]);
        return { response: answer.response, by: 'ada' };
      },
      questions: async () => [{ ...question, execution: 'run-1', state: 'agent keeper' }],
    },
  };
  const world = {
    terminal: { out: (line: string) => out.push(line), note: () => undefined, live: false, columns: () => 120 },
    files: {},
    clock: { now: () => Date.parse('2026-01-01T00:01:00Z') },
    open: { backend: async () => backend },
  } as unknown as CommandWorld;
  const launch = createLaunch(world, () => undefined);
  const [area, ...rest] = argv;
  const make = { approve: approveCommand, reject: rejectCommand, signal: signalCommand, approvals: approvalsCommand };
  await make[area as keyof typeof make](launch).parseAsync(rest, { from: 'user' });
  return { out, answered };
}

describe('windlass approve, reject and signal', () => {
  it('answer the tool call of an agent where no workflow has an execution of that name', async () => {
    const approved = await ran(['approve', 'run-1'], { agents: ['run-1'] });
    expect(approved).toEqual({
      out: ['run-1: the tool call is approved as ada'],
      answered: [['agent', 'run-1', { response: 'approved', feedback: undefined }]],
    });
    const rejected = await ran(['reject', 'run-1', '--reason', 'too broad'], { agents: ['run-1'] });
    expect(rejected.answered).toEqual([['agent', 'run-1', { response: 'rejected', feedback: 'too broad' }]]);
  });

  it('answer the execution of a workflow first', async () => {
    const { answered } = await ran(['approve', 'same'], { workflows: ['same'], agents: ['same'] });
    expect(answered).toMatchObject([['workflow', 'same', { response: 'approved' }]]);
  });

  it('answer no agent where a state is meant, or nothing has that name', async () => {
    await expect(ran(['approve', 'run-1', '--state', 'ask'], { agents: ['run-1'] })).rejects.toBe(noExecution);
    await expect(ran(['approve', 'run-2'], { agents: ['run-1'] })).rejects.toBe(noExecution);
  });

  it('a tool call takes no response of its own', async () => {
    await expect(ran(['signal', 'run-1', '--response', 'maybe'], { agents: ['run-1'] })).rejects.toMatchObject({
      exit: 'usage',
    });
  });
});

it('windlass approvals lists what workflows and agents ask, the longest waiting first', async () => {
  const { out } = await ran(['approvals'], {});
  expect(out.map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual([
    ['EXECUTION', 'STATE'],
    ['run-1', 'agent keeper'],
    ['flow-1', 'ask'],
  ]);
});
