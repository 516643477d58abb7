import { describe, expect, it } from 'vitest';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { KubeError } from '../kube/index.ts';
import { type ExecutionWriter, updateExecution } from './update-execution.ts';

const execution = anExecution().build();
const answer = (status: number, message: string, reason: string) =>
  new KubeError(status, { message, reason }, { verb: 'patch', resource: 'workflowexecutions' });
const conflict = answer(409, 'the object has been modified', 'Conflict');

/** A server on which every write meets another version, and every read finds `found`. */
function contended(found: typeof execution | KubeError, refusal = conflict): ExecutionWriter {
  return {
    get: () => (found instanceof KubeError ? Promise.reject(found) : Promise.resolve(found as never)),
    mergePatch: () => Promise.reject(refusal),
  };
}

describe('a change of an execution', () => {
  it.each([
    ['gone', answer(404, 'workflowexecutions.windlass.dev "demo-1" not found', 'NotFound')],
    ['another one under its name', { ...execution, metadata: { ...execution.metadata, uid: 'other' } }],
  ])('is refused as not found when what was meant is %s meanwhile', async (_title, found) => {
    const change = updateExecution(contended(found), execution, () => ({}));
    await expect(change).rejects.toMatchObject({
      code: 'not_found',
      reason: 'Deleted',
      message: 'execution demo-1 was deleted',
    });
  });

  it('is refused as not found when it is deleted just before the write', async () => {
    const gone = answer(404, 'workflowexecutions.windlass.dev "demo-1" not found', 'NotFound');
    const change = updateExecution(contended(gone, gone), execution, () => ({}));
    await expect(change).rejects.toMatchObject({ code: 'not_found', reason: 'Deleted' });
  });

  it('is no deletion where a proxy answers in place of the server', async () => {
    const proxy = answer(404, '404 page not found', '');
    await expect(updateExecution(contended(proxy, proxy), execution, () => ({}))).rejects.toBe(proxy);
  });

  it('is given up when another client writes in between every time', async () => {
    await expect(updateExecution(contended(execution), execution, () => ({}))).rejects.toBe(conflict);
  });
});
