import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { expect, it } from 'vitest';
import { givenAnswers } from '../../cli/simulate/given-answers.ts';
import { simulate } from '../../cli/simulate/simulation.ts';
import type { SecurityContext } from '../../crds/schema/security-context.ts';
import type { Json } from '../../crds/schema/parts.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { checkDefinition } from '../../lib/definition/check.ts';
import { fleetScopes } from '../../lib/tools/fleet-rights.ts';
import { nameProblem } from '../../lib/tools/name-policy.ts';

const read = (file: string): unknown =>
  parse(readFileSync(join(import.meta.dirname, '../../examples/edge', file), 'utf8'));
const workflow = read('rolling-restart.yaml') as Workflow;
const context = read('fleet-operator.yaml') as SecurityContext;

const look = { stdout: JSON.stringify({ resolved: [{ node_id: 'a' }, { node_id: 'b' }], skipped: [] }) };
const hosts = (codes: readonly (number | null)[], outcome = 'complete') => ({
  stdout: JSON.stringify({
    outcome,
    targets_resolved: codes.map(String),
    summary: { ok: codes.filter((code) => code !== null).length },
    per_node: codes.map((code, index) => ({
      node_id: `host-${index}`,
      outcome: code === null ? 'err' : 'ok',
      exit_code: code,
    })),
  }),
});

/** The answer of a run that was refused, because no host could take a command. */
const refused = {
  outcome: 'halted',
  reason: 'RequireMinNotSatisfied',
  message: '0 hosts can take a command; require_min_targets asks for 1',
  targets_resolved: [],
  summary: { ok: 0 },
  per_node: [],
};

function run(answers: Json, { spec } = workflow, service = 'web') {
  const answer = givenAnswers(spec, { look, ...(answers as object) }, []);
  return simulate({ workflow: { ...workflow, spec }, others: [], start: { input: { group: 'g', service } }, answer });
}

it('the example is a valid definition, and its context has the tools that it calls and no other', () => {
  expect(checkDefinition(workflow.spec)).toEqual([]);
  const caller = { tenant: '', namespace: '', subject: '', mounts: [], scopes: fleetScopes, security: context.spec };
  const refused = [
    'svc.edge.fleet.list',
    'svc.edge.fleet.invoke',
    'svc.edge.fleet.cancel',
    'svc.workflow.delete',
  ].filter((name) => nameProblem(caller, name) !== undefined);
  expect(refused).toEqual(['svc.edge.fleet.cancel', 'svc.workflow.delete']);
});

it.each<[string, Json, string[], string]>([
  ['every host has restarted', { ask: 'approved', restart: hosts([0, 0]) }, ['restart', 'judge', 'done'], 'restarted'],
  [
    'a command ended with 3',
    { ask: 'approved', restart: hosts([0, 3]) },
    ['restart', 'judge', 'stopped'],
    'host-1 ok 3',
  ],
  [
    'a host failed',
    { ask: 'approved', restart: hosts([0, null], 'halted') },
    ['restart', 'judge', 'stopped'],
    'host-1 err',
  ],
  [
    'the tool fails',
    { ask: 'approved', restart: { exit_code: 1, stderr: 'CONFLICT: x' } },
    ['restart', 'stopped'],
    'CONFLICT',
  ],
  [
    'no host of the group is connected any more',
    { ask: 'approved', restart: { stdout: JSON.stringify(refused) } },
    ['restart', 'judge', 'stopped'],
    '0 hosts can take a command',
  ],
  ['the person says no', { ask: 'rejected' }, ['stopped'], 'nothing was restarted'],
])('the judge decides where %s', (_case, answers, states, verdict) => {
  const { status, finalOutput } = run(answers);
  expect(status.history?.map(({ state }) => state)).toEqual(['look', 'ask', ...states]);
  expect(finalOutput).toMatchObject({ verdict: expect.stringContaining(verdict) as string });
});

it('the name of the service stays one argument, whatever it is', () => {
  const { input_schema: _schema, ...spec } = workflow.spec;
  const answers = { ask: 'approved', restart: hosts([0, 0]) };
  const { renderings } = run(answers, { ...workflow, spec }, 'web"; rm');
  const call = renderings.find(({ state }) => state === 'restart');
  expect(call?.input).toMatchObject({
    args: { command: 'systemctl', args: ['restart', 'web"; rm'] },
    policy: { require_min_targets: 1 },
  });
});
