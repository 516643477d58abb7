import { describe, expect, it } from 'vitest';
import type { Transition } from '../../crds/schema/transition.ts';
import { after, anExecution } from '../../test/builders/execution-builder.ts';
import { aQuestion, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { AppError } from '../errors.ts';
import { KubeError } from '../kube/index.ts';
import { createBlob } from '../output-store/blob.ts';
import { revisionOf } from '../registration/revision.ts';
import { createGate } from './gate.ts';

const large = createBlob(Buffer.from('x'.repeat(5_000)));
const waiting = anExecution()
  .status({
    blackboard: {
      plan: { value: { colour: 'blue' } },
      log: { refs: [{ path: '', ref: large.ref, bytes: 5_000, encoding: 'text' }] },
    },
  })
  .now({ state: 'ask', kind: 'Human' })
  .build();
const give = { state: 'ask', by: 'ada', at: after(1) };

/** The gate's verdict on a response under these rules; `get` may fail instead of giving the revision. */
async function verdictOf(transitions: Transition[], response: string, failure?: Error): Promise<object | string> {
  const ask = { ...aQuestion('Go?', { yes: 'ask', no: 'ask' }), transitions };
  const demo = aWorkflow('demo').state('ask', ask).build();
  const revision = revisionOf({ ...demo, metadata: { name: 'demo', namespace: 'default', uid: 'w' } });
  const get = async () => {
    if (failure !== undefined) throw failure;
    return revision;
  };
  const deps = { kube: { get }, outputs: () => async () => large.data };
  const gate = createGate(deps as unknown as Parameters<typeof createGate>[0]);
  return gate(waiting, { ...give, response }).then(
    () => 'passes',
    (error: unknown) =>
      error instanceof AppError ? { reason: error.reason, code: error.code, message: error.message } : 'bug',
  );
}

const custom = (expression: string): Transition[] => [{ condition: 'custom', expression, target: 'ask' }];

describe('a response that is held against the rules before it is written', () => {
  it('AMB-170 is refused with the responses that would match', async () => {
    expect(await verdictOf([{ condition: 'input_equals', value: 'blue', target: 'ask' }], 'green')).toEqual({
      reason: 'UnmatchedResponse',
      code: 'invalid',
      message: "'green' matches no rule of state 'ask' of demo-1; it takes blue",
    });
  });

  it.each<[expression: string, response: string, passes: boolean]>([
    ['ask.response == plan.colour', 'blue', false],
    ['ask.response == blackboard.plan.colour', 'blue', true],
    ['ask.response == blackboard.plan.colour', 'green', false],
    ['human.feedback == "now"', 'now', true],
    ['ask.response == "go" && blackboard.log != ""', 'go', true],
  ])('AMB-170 %s is evaluated as the engine would, on %s', async (expression, response, passes) => {
    expect((await verdictOf(custom(expression), response)) === 'passes').toBe(passes);
  });

  it('AMB-170 passes where the definition may not be read: the engine judges, and refuses as well', async () => {
    const forbidden = new KubeError(403, {}, { verb: 'get', resource: 'controllerrevisions' });
    expect(await verdictOf([], 'x', forbidden)).toBe('passes');
  });
});
