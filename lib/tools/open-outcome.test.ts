import { describe, expect, it } from 'vitest';
import { aToolCaller } from '../../test/builders/tool-caller.ts';
import { AppError } from '../errors.ts';
import { KubeError } from '../kube/index.ts';
import { createToolbox } from './toolbox.ts';
import { isRefusal } from './tool.ts';

const never = new AbortController().signal;

/** The answer of a tool that throws this error. */
async function answerOf(name: string, error: Error, signal = never) {
  const caller = aToolCaller({ spec: { tools: [{ name: 'svc.*' }] } });
  const box = createToolbox({ builtin_dispatchers: [] }, { [name]: { kind: 'api', run: () => Promise.reject(error) } });
  const tool = box.offered(caller).find((one) => one.name === name);
  if (tool === undefined || isRefusal(tool) || tool.run.kind !== 'api') throw new Error('not offered');
  return tool.run.run(caller, {}, signal);
}

const refusedBy = (status: number, message = 'x') =>
  new KubeError(status, { message }, { verb: 'create', resource: 'workflowexecutions' });

describe('a tool that may not run twice', () => {
  it.each([
    ['the bus is away', new AppError('unavailable', 'x', { reason: 'EventBusUnavailable' }), /may have run \(EventBus/],
    ['its time is up', new AppError('timeout', 'x', { reason: 'RequestTimeout' }), /may have run/],
    ['the API server has trouble', refusedBy(503), /may have run/],
    [
      'it says so itself',
      new AppError('unavailable', 'it is not known', { reason: 'OutcomeUnknown' }),
      /: it is not known$/,
    ],
  ])('answers that it may have run where %s', async (_when, error, content) => {
    const answer = await answerOf('svc.workflow.run', error);
    expect(answer).toEqual({ isError: true, content: expect.stringMatching(/^OutcomeUnknown: /) });
    expect(answer.content).toMatch(content);
  });

  it.each([
    ['the operations are not there yet', new AppError('unavailable', 'x', { reason: 'Starting' })],
    ['the namespace is new', refusedBy(403, 'status unknown for quota: q')],
    ['the request is wrong', new AppError('invalid', 'x')],
    ['it has a fault', new TypeError('x')],
  ])('throws the error where %s', async (_when, error) => {
    await expect(answerOf('svc.workflow.run', error)).rejects.toBe(error);
  });

  it('throws the error where its caller has left', async () => {
    const error = new AppError('unavailable', 'x');
    await expect(answerOf('svc.workflow.run', error, AbortSignal.abort())).rejects.toBe(error);
  });
});

it('a tool that may run twice throws the error', async () => {
  const error = new AppError('unavailable', 'x');
  await expect(answerOf('svc.workflow.list', error)).rejects.toBe(error);
});
