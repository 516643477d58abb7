import { expect, it, vi } from 'vitest';
import { agentExecutionReasons, executionReasons } from '../../../crds/conditions.ts';
import { systemClock } from '../../../lib/clock.ts';
import { AppError } from '../../../lib/errors.ts';
import { ModelError, type ModelReply } from '../../../lib/models/models.ts';
import { TemplateError } from '../../../lib/template/template-error.ts';
import { executionOf, replyOf, SharedExecutions } from '../../../test/agents/replica.ts';
import { useReplicas } from '../../../test/agents/replicas.ts';
import { isPassing, namedEnd } from '../conversation/named-end.ts';

const replicas = useReplicas();
const reasons = new Set([...Object.keys(executionReasons), ...Object.keys(agentExecutionReasons)]);
const words = 'patch /apis/secret-host: sk-1';

/** By the `random` of these replicas: no other sleep of a driver lasts as long. */
const pauses = new Set([1_500, 3_000, 6_000, 12_000, 24_000, 45_000]);

/** The pauses behind interruptions last a moment. */
const hurried = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(pauses.has(ms) ? 20 : ms, signal),
};

let count = 0;

async function endOf(ask: () => Promise<ModelReply>) {
  const shared = new SharedExecutions();
  replicas.start({ shared, ask, clock: hurried });
  shared.put(executionOf(`ends-${(count += 1)}`));
  await vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 20_000, interval: 20 });
  return shared.outcomes[0];
}

it('§16 an agent whose every attempt meets a bug fails as InternalError, which names the log and not the bug', async () => {
  const ask = vi.fn<() => Promise<ModelReply>>(() => Promise.reject(new TypeError(words)));
  const outcome = await endOf(ask);
  expect(outcome).toMatchObject({ phase: 'failed', reason: 'InternalError' });
  expect(outcome?.message).toMatch(/5 attempts.*logs of the API for "conversation interrupted"/);
  expect(outcome?.message).not.toContain(words);
  expect(ask).toHaveBeenCalledTimes(5);
});

it('§16 an agent continues where attempts behind a bug meet none', async () => {
  const ask = vi.fn<() => Promise<ModelReply>>(async () => replyOf('ok'));
  for (let bugs = 0; bugs < 4; bugs += 1) ask.mockRejectedValueOnce(new TypeError(words));
  expect(await endOf(ask)).toMatchObject({ phase: 'completed', output: 'ok' });
});

it('§16 an agent that fails of an error of ours without a listed reason fails as InternalError without its words', async () => {
  const outcome = await endOf(() => Promise.reject(new AppError('conflict', words, { reason: 'SomethingInside' })));
  expect(outcome).toMatchObject({ phase: 'failed', reason: 'InternalError' });
  expect(outcome?.message).toContain('logs of the API for "conversation ended by an error"');
  expect(outcome?.message).not.toContain(words);
});

it.each(['unavailable', 'timeout'] as const)(
  '§16 an agent continues behind trouble of ours that passes: %s',
  async (code) => {
    const ask = vi.fn<() => Promise<ModelReply>>(async () => replyOf('ok'));
    for (let failures = 0; failures < 6; failures += 1)
      ask.mockRejectedValueOnce(new AppError(code, words, { reason: 'Elsewhere' }));
    expect(await endOf(ask)).toMatchObject({ phase: 'completed', output: 'ok' });
  },
);

it.each([
  [new ModelError('ProviderRefused', 'the provider p refused'), 'ProviderRefused', 'the provider p refused'],
  [new TemplateError('no helper x', 0), 'TemplateFailed', 'no helper x'],
  [
    new AppError('not_found', 'no context', { reason: 'SecurityContextNotFound' }),
    'SecurityContextNotFound',
    'no context',
  ],
  [new AppError('not_found', 'gone', { reason: 'DefinitionLost' }), 'DefinitionLost', 'gone'],
  [new AppError('limit_exceeded', 'long', { reason: 'EventTooLarge' }), 'EventTooLarge', 'long'],
  [new AppError('unavailable', 'away', { reason: 'GatewayUnavailable' }), 'GatewayUnavailable', 'away'],
])('§16 %s ends an agent by the listed reason %s', (error, reason, message) => {
  expect(error instanceof AppError && isPassing(error)).toBe(false);
  expect(namedEnd(error)).toEqual({ reason, message });
  expect(reasons).toContain(reason);
});
