import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

// Files share a worker: another one may have compiled the validators of these modules before.
beforeEach(() => void vi.resetModules());
afterEach(() => vi.restoreAllMocks());

const bad = { unknown: true };

it('A3 no reconcile compiles a validator: all are compiled before, one a turn', async () => {
  const { compileInTurns } = await import('../crds/validators.ts');
  const { reconcileValidators } = await import('./validators.ts');
  const { checkAgent } = await import('../lib/agent/check-agent.ts');
  const { checkDefinition } = await import('../lib/definition/check.ts');
  const { statusProblem } = await import('./execution/engine/status-problem.ts');
  const compiled = vi.spyOn(Ajv2020.prototype, 'compile');
  const compiledBy: number[] = [];
  const look = () => {
    compiledBy.push(compiled.mock.calls.length);
    next = setImmediate(look);
  };
  let next = setImmediate(look);
  await compileInTurns(reconcileValidators);
  clearImmediate(next);
  const parts = reconcileValidators.length * 2;
  expect(compiledBy).toEqual(Array.from({ length: parts }, (_, turn) => turn + 1));
  compiled.mockClear();
  const problems = [checkAgent(bad), checkDefinition(bad), statusProblem(bad as never)];
  expect(problems.flat().length).toBeGreaterThan(2);
  expect(compiled).not.toHaveBeenCalled();
});
