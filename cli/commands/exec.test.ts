import { describe, expect, it } from 'vitest';
import type { ShownEvent } from '../agent-progress.ts';
import { exitCodes } from '../exit-codes.ts';
import { createLaunch } from '../launch.ts';
import type { CommandWorld } from '../command-context.ts';
import { agentCommand } from './agent.ts';
import { execCommand } from './exec.ts';

const agentId = '00000000-0000-4000-8000-000000000001';
const started = { type: 'execution_started', data: { agent: 'reviewer', version: '1.0.0', model: 'default' } };
const tool = { type: 'tool_started', data: { tool: 'fs.read', arguments: { path: '/a' } } };
const completed = (output: string) => ({ type: 'execution_completed', data: { final_output: output } });

interface Scenario {
  readonly events?: readonly ShownEvent[];
  readonly files?: Readonly<Record<string, string>>;
  readonly execution?: object;
  readonly warnings?: readonly { readonly path: string; readonly message: string }[];
}

/** Output and exit code of a command, against an API that streams these events. */
async function ran(argv: readonly string[], { events = [], files = {}, execution = {}, warnings }: Scenario = {}) {
  const [out, notes, asked]: [string[], string[], unknown[]] = [[], [], []];
  const backend = {
    kind: 'http',
    words: { place: 'in tenant acme', flags: '' },
    agents: {
      read: async (name: string) => ({ metadata: { name, uid: agentId } }),
      list: async () => [{ name: 'reviewer', id: agentId, owner: 'acme', object: { metadata: { name: 'reviewer' } } }],
      register: async (agent: { metadata: { name: string } }) => {
        asked.push(agent.metadata.name);
        return { result: 'created', agent, where: 'in tenant acme', warnings };
      },
    },
    agentRuns: () => ({
      readAgentExecution: async () => execution,
      startAgentExecution: async ({ body }: { body: unknown }) => {
        asked.push(body);
        return { execution_id: 'x1' };
      },
      readAgentTranscript: async () => ({
        records: events.map(({ type, data }) => ({ kind: type, ...data })),
        next_cursor: null,
      }),
      async *followAgentConversation() {
        for (const data of events) yield { data };
      },
    }),
  };
  const world = {
    terminal: { out: (line: string) => out.push(line), note: (line: string) => notes.push(line), live: false },
    files: { read: async (path: string) => files[path] ?? '', manifests: async (path: string) => [path] },
    interrupted: new AbortController().signal,
    open: { backend: async () => backend },
  } as unknown as CommandWorld;
  let code: number | undefined;
  const launch = createLaunch(world, (exit) => (code = exit));
  const [area, ...rest] = argv;
  await (area === 'agent' ? agentCommand(launch) : execCommand(launch)).parseAsync(rest, { from: 'user' });
  return { out, notes, asked, code };
}

describe('windlass exec run', () => {
  it('starts the agent of a name or an id, and says what began', async () => {
    for (const name of ['reviewer', agentId]) {
      const { out, asked, code } = await ran(['exec', 'run', name, '--input', 'read this', '--intent', 'be brief']);
      expect(asked).toEqual([{ agent_id: agentId, input: 'read this', intent: 'be brief', version: undefined }]);
      expect([out, code]).toEqual([['execution x1 started'], exitCodes.ok]);
    }
  });

  it('shows what happens on standard error and the final text on standard output', async () => {
    const events = [started, tool, completed('fine')];
    const { out, notes, code } = await ran(['exec', 'run', 'reviewer', '-i', 'x', '--watch'], { events });
    expect([out, code]).toEqual([['fine'], exitCodes.ok]);
    expect(notes).toEqual([
      'execution x1 started',
      'agent reviewer 1.0.0 started on model default',
      '  fs.read {"path":"/a"}',
    ]);
  });

  it('waits without a word about the way there', async () => {
    const events = [started, tool, completed('fine')];
    const { out, notes } = await ran(['exec', 'run', 'reviewer', '-i', 'x', '--wait'], { events });
    expect([out, notes]).toEqual([['fine'], ['execution x1 started']]);
  });

  it.each([
    [completed(''), exitCodes.ok],
    [{ type: 'execution_failed', data: { error: 'Timeout: late' } }, exitCodes.failed],
    [{ type: 'execution_cancelled', data: {} }, exitCodes.cancelled],
    [{ type: 'execution_deleted', data: {} }, exitCodes.not_found],
    [{ type: 'ended', data: { result: { phase: 'unheard' } } }, exitCodes.failed],
  ])('%j ends with %i', async (end, exit) => {
    expect((await ran(['exec', 'watch', 'x1'], { events: [end] })).code).toBe(exit);
  });

  it.each([
    [['exec', 'run', 'reviewer'], /needs an input/],
    [['exec', 'run', 'reviewer', '-i', 'a', '--input-file', 'b'], /exclude each other/],
    [['exec', 'run', 'reviewer', '-i', 'a', '--wait', '--watch'], /exclude each other/],
  ])('%j is refused', async (argv, sentence) => {
    await expect(ran(argv)).rejects.toThrow(sentence);
  });

  it('takes the input of a file', async () => {
    const { asked } = await ran(['exec', 'run', 'reviewer', '--input-file', 'task.txt'], {
      files: { 'task.txt': 'task' },
    });
    expect(asked).toMatchObject([{ input: 'task' }]);
  });
});

it('windlass exec logs shows what the agent has done so far', async () => {
  const { out } = await ran(['exec', 'logs', 'x1'], {
    events: [started, tool, completed('fine')],
  });
  expect(out).toEqual(['agent reviewer 1.0.0 started on model default', '  fs.read {"path":"/a"}', 'completed: fine']);
});

describe('windlass agent', () => {
  const good =
    'apiVersion: windlass.dev/v1\nkind: Agent\nmetadata: {name: a, version: 1.0.0}\nspec: {runtime: {}, task: {instruction: x}}\n';
  const bad = good.replace('1.0.0', 'one');

  it('registers the agents of files, and none where one has a mistake', async () => {
    const both = await ran(['agent', 'register', 'a.yaml'], {
      files: { 'a.yaml': `${good}---\n${good.replace('name: a', 'name: b')}` },
    });
    expect([both.asked, both.code]).toEqual([['a', 'b'], exitCodes.ok]);
    const one = await ran(['agent', 'register', 'a.yaml'], { files: { 'a.yaml': `${good}---\n${bad}` } });
    expect([one.asked, one.code]).toEqual([[], exitCodes.failed]);
    expect(one.notes[0]).toMatch(/^a\.yaml:\d+:\d+ metadata\.version: /);
  });

  it('prints what the API warns of and the file does not show', async () => {
    const path = 'spec.runtime.model';
    const { notes, code } = await ran(['agent', 'register', 'a.yaml'], {
      files: { 'a.yaml': good },
      warnings: [
        { path, message: 'the model alias gpt-9 is not defined' },
        { path: 'spec.env', message: 'does nothing (line 1, column 80)' },
      ],
    });
    expect([notes, code]).toEqual([[`agent a: warning: ${path}: the model alias gpt-9 is not defined`], exitCodes.ok]);
  });

  it('validates files without sending anything', async () => {
    const { out, code } = await ran(['agent', 'validate', 'a.yaml'], { files: { 'a.yaml': good } });
    expect([out, code]).toEqual([
      ['a.yaml: agent a 1.0.0 is valid (manifest form; kubectl takes the custom resource form alone)'],
      exitCodes.ok,
    ]);
    expect((await ran(['agent', 'validate', 'a.yaml'], { files: { 'a.yaml': bad } })).code).toBe(exitCodes.failed);
  });

  it('lists names, ids and owners', async () => {
    const { out } = await ran(['agent', 'list']);
    expect(out[0]).toMatch(/^NAME +ID +OWNER$/);
    expect(out[1]).toBe(`reviewer   ${agentId}   acme`);
  });
});

describe('windlass exec get', () => {
  it.each([
    [{ model: 'big-1', output_tokens: 1 }, ['cost unknown: the node configuration has no price of big-1']],
    [{ model: 'big-1', output_tokens: 1, cost_usd: 0 }, []],
    [{ model: 'big-1', output_tokens: 0 }, []],
    [{ output_tokens: 1 }, []],
  ])('says of %j why it has no cost: %j', async (execution, want) => {
    const { notes, out } = await ran(['exec', 'get', 'x1'], { execution });
    expect(notes).toEqual(want);
    expect(out.join('\n')).toContain('output_tokens: ');
  });
});
