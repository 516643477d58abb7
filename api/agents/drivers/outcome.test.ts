import { describe, expect, it } from 'vitest';
import type { AgentExecution, AgentResult } from '../../../crds/schema/agent-execution.ts';
import { systemClock } from '../../../lib/clock.ts';
import { KubeError } from '../../../lib/kube/index.ts';
import { executionOf } from '../../../test/agents/replica.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { writeOutcome } from './outcome.ts';

const result: AgentResult = {
  phase: 'completed',
  output: 'short',
  iterations: 1,
  model: 'm',
  at: '2026-01-01T00:00:00.000Z',
};
const ref = { verb: 'patch', resource: 'agentexecutions' };

/** An API server that refuses outcomes with an error for as long as `refusal` gives one. */
function open(
  refusal: (result: AgentResult, phase: unknown) => KubeError | undefined,
  now: Partial<AgentExecution> | 'gone' = {},
) {
  const sent: AgentResult[] = [];
  const lines: unknown[] = [];
  const execution: AgentExecution = executionOf('e');
  const write = (input: string, output: string) =>
    writeOutcome(
      {
        clock: { ...systemClock, sleep: async () => undefined },
        logger: { ...silentLogger, error: (fields: unknown) => void lines.push(fields) },
        kube: {
          get: async () => {
            if (now === 'gone') throw new KubeError(404, { reason: 'NotFound' }, { ...ref, verb: 'get' });
            return { ...execution, ...now } as never;
          },
          jsonPatch: async (_resource, _ref, operations) => {
            const given = operations.find(({ path }) => path === '/spec/result')?.value as AgentResult;
            sent.push(given);
            const error = refusal(given, operations.find(({ path }) => path === '/status/phase')?.value);
            if (error !== undefined) throw error;
            return {} as never;
          },
        },
      },
      { ...execution, spec: { ...execution.spec, input } },
      { ...result, output },
    );
  return { write, sent, lines, execution };
}

const unstorable = new KubeError(500, { message: 'etcdserver: request is too large' }, ref);
const tooLong = { reason: 'FieldValueInvalid', field: 'spec.result.model', message: 'Too long' };
const invalid = new KubeError(
  422,
  { reason: 'Invalid', message: 'spec.result.model: Too long', details: { causes: [tooLong] } },
  ref,
);
/** The text is that of the API server. */
const failedTest = () =>
  new KubeError(
    422,
    { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' },
    ref,
  );

describe('the outcome of an agent', () => {
  it('is stored on the phase that the writer knows, and on the one that the execution has by now', async () => {
    const phases: unknown[] = [];
    const waiting = { status: { ...executionOf('e').status, phase: 'waiting' as const } };
    const { write, sent } = open((_result, phase) => {
      phases.push(phase);
      return phase === 'waiting' ? undefined : failedTest();
    }, waiting);
    await write('in', 'out');
    expect(phases).toEqual(['running', 'waiting']);
    expect(sent.map(({ phase }) => phase)).toEqual(['completed', 'completed']);
  });

  it.each([1, 18, 19])(
    'is stored where the phase is back whenever it is looked up, %i times in a row',
    async (flips) => {
      let left = flips;
      const { write, sent, lines } = open(() => (left-- > 0 ? failedTest() : undefined));
      await write('in', 'out');
      expect(sent.map(({ phase, output }) => [phase, output])).toEqual(Array(flips + 1).fill(['completed', 'out']));
      expect(lines).toEqual([]);
    },
  );

  it('that Kubernetes stores in six characters each is a failure with the sizes, and is sent once', async () => {
    const { write, sent } = open(() => undefined);
    await write('<'.repeat(140_000), '<'.repeat(140_000));
    expect(sent).toMatchObject([{ phase: 'failed', reason: 'OutputTooLarge', iterations: 1 }]);
    expect(sent[0]).not.toHaveProperty('output');
    expect(sent[0]?.message).toMatch(
      /the output has 840002 and the input with the intent 840013, where <, > and & take six bytes/,
    );
  });

  it('of the same length in plain characters is stored as it is', async () => {
    const { write, sent, lines } = open(() => undefined);
    await write('a'.repeat(262_144), 'b'.repeat(262_144));
    expect([sent.length, sent[0]?.phase, sent[0]?.output?.length, lines]).toEqual([1, 'completed', 262_144, []]);
  });

  it('that etcd refuses is replaced by a failure, and is not sent again', async () => {
    const { write, sent, lines } = open(({ phase }) => (phase === 'completed' ? unstorable : undefined));
    await write('in', 'out');
    expect(sent.map(({ phase, reason }) => [phase, reason])).toEqual([
      ['completed', undefined],
      ['failed', 'OutputTooLarge'],
    ]);
    expect(lines).toMatchObject([{ execution: 'run-e', reason: 'OutputTooLarge' }]);
  });

  it('that breaks a rule ends the execution with the words of the API server', async () => {
    const { write, sent, lines } = open(({ model }) => (model === undefined ? undefined : invalid));
    await write('in', 'out');
    expect(sent[1]).toMatchObject({
      phase: 'failed',
      reason: 'Refused',
      message: expect.stringContaining('spec.result.model: Too long'),
    });
    expect(lines).toHaveLength(1);
  });

  it('whose failure is refused as well is logged, and left to a later attempt', async () => {
    const { write, sent, lines } = open(() => invalid);
    await expect(write('in', 'out')).rejects.toMatchObject({ code: 'unavailable', reason: 'OutcomeRefused' });
    expect([sent.length, lines.length]).toEqual([2, 2]);
  });

  it('is sent again where a proxy answers in place of the API server', async () => {
    const { write, sent } = open(() =>
      sent.length > 1 ? undefined : new KubeError(404, { message: 'Not Found' }, ref),
    );
    await write('in', 'out');
    expect(sent.map(({ phase }) => phase)).toEqual(['completed', 'completed']);
  });

  it.each<[string, Partial<AgentExecution> | 'gone']>([
    ['has an outcome', { spec: { agent: 'worker', result } }],
    ['has ended otherwise', { status: { phase: 'cancelled' } }],
    ['is another one of the name', { metadata: { name: 'run-e', uid: 'other' } }],
    ['is gone', 'gone'],
  ])('of an execution that %s by now is dropped', async (_what, now) => {
    const { write, sent, lines } = open(() => invalid, now);
    await write('in', 'out');
    expect([sent.length, lines]).toEqual([1, []]);
  });
});
