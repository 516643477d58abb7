import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, expect, it, vi } from 'vitest';
import { compileInTurns } from '../crds/validators.ts';
import { checkAgent } from '../lib/agent/check-agent.ts';
import { checkDefinition } from '../lib/definition/check.ts';
import { statusProblem } from './execution/engine/status-problem.ts';
import { reconcileValidators } from './validators.ts';

afterEach(() => vi.restoreAllMocks());

const bad = { unknown: true };

it('A3 no reconcile compiles a validator: all are compiled before, one a turn', async () => {
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
