import { describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { after, anExecution } from '../../test/builders/execution-builder.ts';
import { explainError } from '../explain-error.ts';
import { createLaunch } from '../launch.ts';
import type { CommandWorld } from '../command-context.ts';
import { rerunCommand, retryCommand } from './again.ts';

const input_schema = { type: 'object', properties: { dry_run: { type: 'boolean' } } };
const origin = anExecution('review-1')
  .with({ input: { dry_run: true, branch: 'main' } })
  .past({ state: 'make' })
  .past({ state: 'ship', status: 'failed', entered_at: after(60) })
  .past({ state: 'tidy', entered_at: after(90) })
  .ended('completed', 120)
  .build();

interface Ran {
  readonly asked: readonly unknown[];
  readonly refused: readonly string[];
}

/** The requests that the backend gets, and standard error. */
async function ran(argv: readonly string[], execution: WorkflowExecution = origin): Promise<Ran> {
  const [command = '', ...rest] = argv;
  const asked: unknown[] = [];
  const backend = {
    words: { place: 'in namespace team', flags: ' -n team' },
    workflows: { read: async () => ({ spec: { input_schema } }) },
    executions: {
      read: async () => execution,
      again: async (_: unknown, request: unknown) => {
        asked.push(request);
        return { metadata: { name: 'review-2' } };
      },
    },
  };
  const world = {
    terminal: { out: () => undefined, note: () => undefined, live: false },
    files: { read: async () => 'branch: fix\n' },
    open: { backend: async () => backend },
  } as unknown as CommandWorld;
  const launch = createLaunch(world, () => undefined);
  const make = { rerun: rerunCommand, retry: retryCommand }[command];
  try {
    await make?.(launch).parseAsync(rest, { from: 'user' });
    return { asked, refused: [] };
  } catch (error) {
    return { asked, refused: explainError(error).lines };
  }
}

describe('windlass rerun', () => {
  it.each<[string, string[], unknown]>([
    ['without an input keeps the old one', [], undefined],
    ['lays pairs over the old input', ['-i', 'dry_run=false'], { dry_run: false, branch: 'main' }],
    ['takes one JSON value as the whole input', ['--input', '{"branch":"x"}'], { branch: 'x' }],
    ['takes a file as the whole input', ['--input-file', 'f.yaml'], { branch: 'fix' }],
  ])('%s', async (_title, options, input) => {
    expect(await ran(['rerun', 'review-1', ...options])).toEqual({ asked: [{ name: undefined, input }], refused: [] });
  });

  it('refuses an input that the version does not take, and asks for nothing', async () => {
    const { asked, refused } = await ran(['rerun', 'review-1', '-i', 'dry_run=maybe']);
    expect([asked, refused[0]]).toEqual([[], expect.stringContaining('does not fit the input_schema')]);
    expect(refused[1]).toContain('input.dry_run');
  });
});

describe('windlass retry', () => {
  it('asks for the state', async () => {
    expect((await ran(['retry', 'review-1', '--from', 'ship'])).asked).toEqual([{ from: 'ship', name: undefined }]);
  });

  it('without a state lists those that were entered, with the command for the one that failed', async () => {
    expect(await ran(['retry', 'review-1'])).toEqual({
      asked: [],
      refused: [
        'error: --from is missing: the state to begin in',
        '  STATE   STATUS    SINCE',
        '  make    success   2026-01-02T03:04:05.000Z',
        '  ship    failed    2026-01-02T03:05:05.000Z',
        '  tidy    success   2026-01-02T03:05:35.000Z',
        'Run it from ship: windlass retry review-1 --from ship -n team',
      ],
    });
  });

  it('without a state shows the last visit of each, and the one that was interrupted', async () => {
    const cancelled = anExecution('review-1')
      .past({ state: 'ask', status: 'failed' })
      .past({ state: 'make', entered_at: after(10) })
      .past({ state: 'ask', visit: 2, entered_at: after(20) })
      .status({ interrupted: { state: 'make', kind: 'ContainerRun', visit: 2, entered_at: after(30) } })
      .ended('cancelled', 40)
      .build();
    expect((await ran(['retry', 'review-1'], cancelled)).refused.slice(2)).toEqual([
      '  ask     success       2026-01-02T03:04:25.000Z',
      '  make    interrupted   2026-01-02T03:04:35.000Z',
      'Run it from make: windlass retry review-1 --from make -n team',
    ]);
  });

  it.each<[string, WorkflowExecution, RegExp]>([
    ['has not begun', anExecution('review-1').build(), /has not begun/],
    ['runs', anExecution('review-1').now({ state: 'make', kind: 'ContainerRun' }).build(), /has not ended/],
    ['entered no state', anExecution('review-1').ended('failed', 1).build(), /entered no state/],
  ])('without a state says that the execution %s', async (_title, execution, want) => {
    expect((await ran(['retry', 'review-1'], execution)).refused[0]).toMatch(want);
  });

  it.each(['--input', '--input-file'])('refuses %s and says why', async (option) => {
    const { asked, refused } = await ran(['retry', 'review-1', '--from', 'ship', option, 'dry_run=false']);
    expect([asked, refused]).toEqual([
      [],
      [
        'error: a retry has the input of the old execution: the results that it takes over were made from it',
        expect.stringContaining('windlass rerun EXECUTION --input KEY=VALUE'),
      ],
    ]);
  });
});
