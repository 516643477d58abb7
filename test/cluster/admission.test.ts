import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kinds } from '../../crds/kinds.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { KubeClient } from '../../lib/kube/index.ts';
import { fullWorkflow } from '../bad-manifests/full-workflow.ts';
import { badWorkflow, type Edit } from '../bad-manifests/row.ts';
import { badManifests } from '../bad-manifests/rows.ts';
import { type Answer, createSend, type Send } from './admission/api.ts';
import {
  eventually,
  execution,
  executionsIn,
  installDefinitions,
  isServed,
  volumesIn,
  workflowsIn,
} from './admission/install.ts';
import { connect } from './harness/cluster.ts';
import { restoreInstalled, scaleInstalledTo } from './harness/installed.ts';
import { testRunLabel } from './harness/test-namespace.ts';

const namespace = `test-admission-${randomBytes(3).toString('hex')}`;
const administrator = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: namespace, labels: { [testRunLabel]: 'true' } },
};
const mergePatch = 'application/merge-patch+json';

let kube: KubeClient;
let send: Send;

/** Everything here is refused or accepted by the API server alone: no Windlass process runs. */
beforeAll(async () => {
  const cluster = await connect();
  kube = cluster.kube;
  send = await createSend(cluster.kubeconfig);
  await scaleInstalledTo(kube, 0);
  await send('POST', '/api/v1/namespaces', administrator);
  await installDefinitions(send, namespace);
});

afterAll(async () => {
  await send('DELETE', `/api/v1/namespaces/${namespace}`);
  await restoreInstalled(kube);
  await kube.close();
});

const submit = (workflow: object, query = 'dryRun=All&fieldValidation=Strict'): Promise<Answer> =>
  send('POST', `${workflowsIn(namespace)}?${query}`, workflow);
const edited = (...edits: Edit[]): object => badWorkflow({ edits });

/** Creates for real and gives the path of the object. */
async function create(collection: string, object: object, as?: string): Promise<string> {
  const answer = await send('POST', collection, object, as === undefined ? {} : { as });
  expect(answer.message).toBe('');
  return `${collection}/${(answer.body['metadata'] as { name: string }).name}`;
}
const patch = (path: string, change: object, as?: string): Promise<Answer> =>
  send('PATCH', path, change, { contentType: mergePatch, ...(as !== undefined && { as }) });

describe('a bad manifest is refused by the API server while Windlass is down', () => {
  for (const row of badManifests.filter(({ refusedBy }) => refusedBy !== 'controller')) {
    it(`${row.requirements.join(' ')} ${row.name} (${row.refusedBy}): ${row.path}`, async () => {
      const { status, message } = await submit(badWorkflow(row));
      expect(status).toBe(row.rule === 'unknown_field' && row.refusedBy === 'schema' ? 400 : 422);
      for (const fragment of row.server) expect(message).toContain(fragment);
    });
  }

  it('AMB-060 without strict validation an unknown field is dropped and the client is warned', async () => {
    const { status, body, warnings } = await submit(edited(['spec.scope', 'global']), 'dryRun=All');
    expect(status).toBe(201);
    expect(body['spec'] as object).not.toHaveProperty('scope');
    expect(warnings.join()).toContain('unknown field');
  });

  it('every other bad manifest is refused without strict validation too', async () => {
    const rows = badManifests.filter(({ refusedBy, rule }) => refusedBy !== 'controller' && rule !== 'unknown_field');
    const answers = await Promise.all(rows.map((row) => submit(badWorkflow(row), 'dryRun=All&fieldValidation=Ignore')));
    expect(rows.filter((_, index) => answers[index]?.status !== 422).map(({ name }) => name)).toEqual([]);
  });

  it('what only the controller can see passes admission', async () => {
    const rows = badManifests.filter(({ refusedBy }) => refusedBy === 'controller');
    const answers = await Promise.all(rows.map((row) => submit(badWorkflow(row))));
    expect(answers.map(({ status }, index) => [rows[index]?.name, status])).toEqual(
      rows.map(({ name }) => [name, 201]),
    );
  });
});

describe('names and header', () => {
  const named = (name: string): Promise<Answer> => submit(edited(['metadata.name', name]));

  it('WF-MAN-04 a name of 63 characters passes, one of 64 fails with its path', async () => {
    expect((await named('a'.repeat(63))).status).toBe(201);
    const { status, message } = await named('a'.repeat(64));
    expect(status).toBe(422);
    expect(message).toContain('metadata.name');
  });

  it.each(['-a', 'A', 'a.b', 'a_b'])('WF-MAN-04 the name %s fails', async (name) => {
    const { status, message } = await named(name);
    expect(status).toBe(422);
    expect(message).toContain('metadata.name');
  });

  it('WF-MAN-04 an object needs a name', async () => {
    expect((await submit(edited(['metadata.name', undefined]))).status).toBe(422);
  });

  it('WF-MAN-01 WF-MAN-02 another apiVersion, or none, fails', async () => {
    expect((await submit(edited(['apiVersion', 'windlass.dev/v2']))).status).toBe(400);
    expect((await submit(edited(['apiVersion', undefined]))).status).toBe(400);
  });

  it('WF-MAN-03 another kind, or none, fails', async () => {
    expect((await submit(edited(['kind', 'Job']))).message).toContain('kind');
    expect((await submit(edited(['kind', undefined]))).status).toBe(400);
  });

  it('WF-MAN-01 an object without spec fails', async () => {
    const { status, message } = await submit(edited(['spec', undefined]));
    expect(status).toBe(422);
    expect(message).toContain('spec: Required value');
  });
});

describe('a legal manifest is accepted', () => {
  it('WF-MAN-06 WF-MAN-07 WF-MAN-08 WF-MAN-10 WF-MAN-11 WF-MAN-19 WF-MAN-20 WF-AGENT-02 WF-AGENT-03 WF-SYS-04 WF-HUMAN-03 WF-PAR-04 WF-PAR-10 WF-CR-02 WF-CR-06 WF-CR-07 WF-CR-08 WF-CR-12 WF-CR-16 WF-SUB-03 WF-SUB-04 WF-COND-03 WF-COND-05 a workflow with every field is stored exactly as written, without defaults', async () => {
    const path = await create(workflowsIn(namespace), fullWorkflow());
    const { body } = await send('GET', path);
    expect(body['spec']).toEqual(fullWorkflow().spec);
    await send('DELETE', path);
  });

  it('WF-MAN-17 WF-STATE-02 the smallest workflow needs neither limits nor storage', async () => {
    const smallest = edited([
      'spec',
      { version: '0.0.1', initial_state: 'a', states: { a: { kind: 'System', command: 'true', transitions: [] } } },
    ]);
    expect((await submit(smallest)).message).toBe('');
  });

  const boundaries: [ids: string, ...Edit][] = [
    ['WF-MAN-18', 'spec.max_total_transitions', 1],
    ['WF-MAN-18', 'spec.max_total_transitions', 100],
    ['WF-STATE-03', 'spec.states.agent.max_state_visits', 20],
    ['WF-STATE-04', 'spec.states.agent.timeout', '5m'],
    ['WF-CR-17', 'spec.states.container.retry.max_attempts', 20],
    ['WF-CR-18', 'spec.states.container.retry.backoff', '0s'],
    ['WF-COND-04', 'spec.states.agent.transitions.0.threshold', 0],
    ['WF-COND-04', 'spec.states.agent.transitions.0.threshold', 1],
    ['WF-COND-08', 'spec.states.agent.transitions.1.min', 0.9],
    ['WF-PAR-09', 'spec.states.panel.consensus.threshold', 1],
    ['WF-PAR-15', 'spec.states.panel.consensus.confidence_weighting.agreement_factor', 0.6000000005],
    ['WF-PAR-13', 'spec.states.panel.consensus.confidence_weighting', { agreement_factor: 0.7 }],
    ['AMB-061', `spec.states.${'x'.repeat(63)}`, { kind: 'System', command: 'finalize', transitions: [] }],
    ['WF-STOR-03', 'spec.storage.workspace.ttl_hours', 1],
  ];
  it.each(boundaries)('%s %s may be %j', async (_ids, ...edit) => {
    expect((await submit(edited(edit))).message).toBe('');
  });

  const choices: [ids: string, path: string, values: readonly string[]][] = [
    ['WF-AGENT-04', 'spec.states.agent.isolation', ['inherit', 'firecracker', 'docker', 'process']],
    ['WF-STATE-07', 'spec.states.agent.volumes.0.access_mode', ['read-write', 'read-only']],
    ['WF-CR-04', 'spec.states.container.image_pull_policy', ['Always', 'IfNotPresent', 'Never']],
    ['WF-PCR-03', 'spec.states.parallel.completion', ['all_succeed', 'any_succeed', 'best_effort']],
    ['WF-SUB-02', 'spec.states.child.mode', ['blocking', 'fire_and_forget']],
    ['WF-PAR-08', 'spec.states.panel.consensus.strategy', ['weighted_average', 'majority', 'unanimous', 'best_of_n']],
    ['WF-SYS-02 WF-SYS-03', 'spec.states.system.command', ['update_context', 'finalize']],
  ];
  it.each(choices)('%s %s may be any of %j', async (_ids, path, values) => {
    for (const value of values) expect((await submit(edited([path, value]))).message).toBe('');
  });
});

describe('versions of a workflow', () => {
  let path = '';
  beforeAll(async () => {
    path = await create(workflowsIn(namespace), fullWorkflow());
  });

  it('the same version with other content is refused, and the message says what to do', async () => {
    const { status, message } = await patch(path, { spec: { description: 'other' } });
    expect(status).toBe(422);
    expect(message).toContain('spec.version: 1.2.3-rc.1+build.5 exists with other content (spec.description)');
    expect(message).toContain('windlass.dev/force');
  });

  it('a content that was judged and never accepted may be corrected under its version', async () => {
    const controllers = 'system:serviceaccount:windlass-system:windlass-controllers';
    const refused = await create(workflowsIn(namespace), { ...fullWorkflow(), metadata: { name: 'refused' } });
    const verdict = { type: 'Ready', status: 'False', reason: 'InvalidDefinition', message: 'a mistake' };
    const judge = (status: object) => patch(`${refused}/status`, { status }, controllers);
    const mend = (description: string) => patch(refused, { spec: { description } });
    expect((await mend('not judged yet')).status).toBe(422);
    const conditions = [{ ...verdict, lastTransitionTime: '2026-01-31T12:00:00Z' }];
    const listed = [{ version: '1.2.3-rc.1+build.5', revision: 'r', registered_at: '2026-01-31T12:00:00Z' }];
    expect((await judge({ observedGeneration: 1, conditions, versions: listed })).message).toBe('');
    expect((await mend('accepted once')).status).toBe(422);
    expect((await judge({ observedGeneration: 1, conditions, versions: [] })).message).toBe('');
    expect((await mend('mended')).message).toBe('');
    expect((await mend('not judged again')).status).toBe(422);
  });

  it('labels and annotations may change', async () => {
    expect((await patch(path, { metadata: { labels: { team: 'other' } } })).message).toBe('');
  });

  it.each(['false', 'yes', ''])('the annotation force: %j forces nothing', async (value) => {
    const change = { metadata: { annotations: { 'windlass.dev/force': value } }, spec: { description: 'other' } };
    expect((await patch(path, change)).status).toBe(422);
  });

  it('the annotation force: "true" replaces it, and a new version needs no force', async () => {
    const force = { metadata: { annotations: { 'windlass.dev/force': 'true' } }, spec: { description: 'forced' } };
    expect((await patch(path, force)).message).toBe('');
    const next = {
      metadata: { annotations: { 'windlass.dev/force': null } },
      spec: { version: '2.0.0', description: 'new' },
    };
    expect((await patch(path, next)).message).toBe('');
  });
});

describe('an execution', () => {
  const executions = executionsIn(namespace);
  const now = '2026-01-31T12:00:00Z';
  const signal = (id: string, by: string, more: object = {}): object => ({
    id,
    state: 'approval',
    response: 'yes',
    by,
    at: now,
    ...more,
  });
  const api = 'system:serviceaccount:windlass-system:windlass-api';
  const controllers = 'system:serviceaccount:windlass-system:windlass-controllers';
  const parent = { name: 'p', uid: 'u', state: 's', visit: 1, depth: 1 };

  const fixed: [ids: string, field: string, before: unknown, after: unknown][] = [
    ['', 'workflow', 'w', 'other'],
    ['', 'version', '1.0.0', '2.0.0'],
    ['', 'intent', 'a', 'b'],
    ['WF-MAN-13 STIM-07', 'input', { a: 1, deep: { b: [1] } }, { deep: { b: [1, 2] } }],
    ['', 'blackboard', { a: { b: 1 } }, { a: { b: 2 } }],
  ];
  it.each(fixed)('%s keeps its %s', async (_ids, field, before, after) => {
    const path = await create(executions, execution({ [field]: before }));
    const changed = await patch(path, { spec: { [field]: after } });
    expect(changed.status).toBe(422);
    expect(changed.message).toContain(`spec.${field}`);
    expect(changed.message).toContain('immutable');
  });

  it.each(fixed.slice(1))('%s neither loses its %s nor gets one afterwards', async (_ids, field, before) => {
    const path = await create(executions, execution({ [field]: before }));
    expect((await patch(path, { spec: { [field]: null } })).message).toContain(`spec.${field}`);
    const without = await create(executions, execution({}));
    expect((await patch(without, { spec: { [field]: before } })).message).toContain(`spec.${field}`);
  });

  it('WF-MAN-14 input and blackboard hold any JSON, null included', async () => {
    const spec = {
      input: { n: null, list: [null, { a: [] }], text: '{{x}}' },
      blackboard: { n: null, deep: { n: null } },
    };
    const { body } = await send('GET', await create(executions, execution(spec)));
    expect(body['spec']).toMatchObject(spec);
  });

  it.each<[string, unknown]>([
    ['5', 5],
    ['[1]', [1]],
    ['"x"', 'x'],
    ['false', false],
  ])(
    'AMB-175 an input of %s becomes one under the field input, before Kubernetes 1.36 it is refused',
    async (_text, payload) => {
      const { status, body, message } = await send('POST', executions, execution({ input: payload }));
      const isWrapped = await isServed(send, { kind: 'MutatingAdmissionPolicy' });
      const { name = '' } = (body['metadata'] ?? {}) as { name?: string };
      const changed = async (input: unknown) => (await patch(`${executions}/${name}`, { spec: { input } })).status;
      const later = isWrapped ? [await changed(payload), await changed('other')] : [];
      const stored = isWrapped ? (body['spec'] as { input: unknown }).input : message.includes('spec.input');
      expect([status, ...later]).toEqual(isWrapped ? [201, 200, 422] : [422]);
      expect(stored).toEqual(isWrapped ? { input: payload } : true);
    },
  );

  it('an input of many small fields is not kept twice, as their names in managedFields', async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, index]));
    const spec = { input: many, blackboard: { many } };
    const { body } = await send('GET', await create(executions, execution(spec)));
    const { managedFields } = body['metadata'] as { managedFields: object[] };
    expect(managedFields.length).toBeGreaterThan(0);
    expect(JSON.stringify(managedFields).length).toBeLessThan(2_000);
  });

  it('its time to live may change', async () => {
    const path = await create(executions, execution({ ttl_seconds_after_finished: 10 }));
    expect((await patch(path, { spec: { ttl_seconds_after_finished: 0 } })).message).toBe('');
    expect((await patch(path, { spec: { ttl_seconds_after_finished: -1 } })).status).toBe(422);
  });

  it('takes signals of the user who writes them, and refuses those in the name of another', async () => {
    const path = await create(executions, execution({}), 'alice');
    expect((await patch(path, { spec: { signals: [signal('a', 'alice')] } }, 'alice')).message).toBe('');
    const forged = await patch(path, { spec: { signals: [signal('a', 'alice'), signal('b', 'alice')] } }, 'bob');
    expect(forged.status).toBe(403);
    expect(forged.message).toContain('spec.signals.b.by: must be bob');
    expect((await patch(path, { spec: { signals: [signal('a', 'alice'), signal('b', 'bob')] } }, 'bob')).message).toBe(
      '',
    );
  });

  it('refuses a forged signal at its creation too, and from an administrator as from every user', async () => {
    const { status, message } = await send('POST', executions, execution({ signals: [signal('a', 'bob')] }));
    expect(status).toBe(403);
    expect(message).toContain('spec.signals.a.by');
  });

  it('takes a signal in the name of another from the API, which has checked a token', async () => {
    const path = await create(executions, execution({}));
    expect((await patch(path, { spec: { signals: [signal('a', 'carol')] } }, api)).message).toBe('');
  });

  it('takes via: api of a signal and of a cancellation from the API only, also from a user of that name', async () => {
    const path = await create(executions, execution({}), 'carol');
    const at = '1970-01-01T00:00:00Z';
    const [forged, cancelled] = [
      { signals: [signal('a', 'carol', { via: 'api' })] },
      { cancel: { by: 'carol', at, via: 'api' } },
    ];
    for (const spec of [forged, cancelled]) {
      const refused = await patch(path, { spec }, 'carol');
      expect(refused.status).toBe(403);
      expect(refused.message).toContain('via: api is written by the Windlass API only');
      expect((await send('POST', executions, execution(spec), { as: 'carol' })).status).toBe(403);
      expect((await patch(path, { spec }, api)).message).toBe('');
    }
    const later = { signals: [signal('a', 'carol', { via: 'api' }), signal('b', 'dan', { via: 'kubectl' })] };
    expect((await patch(path, { spec: later }, 'dan')).message).toBe('');
  });

  it.each([[[]], [[null]], ['yesterday']])('is decided and cancelled at a time, and at nothing like %j', async (at) => {
    for (const spec of [{ signals: [signal('a', 'alice', { at })] }, { cancel: { by: 'alice', at } }]) {
      const { status, message } = await send('POST', executions, execution(spec), { as: 'alice' });
      expect(status).toBe(422);
      expect(message).toMatch(/spec\.(signals\[0\]|cancel)\.at/);
    }
  });

  it('a service account of the same name elsewhere is trusted with nothing', async () => {
    const path = await create(executions, execution({}));
    const other = api.replace('windlass-system', 'tenant-a');
    expect((await patch(path, { spec: { signals: [signal('a', 'carol')] } }, other)).status).toBe(403);
  });

  describe('appends signals only', () => {
    let path = '';
    beforeAll(async () => {
      const signals = [signal('a', 'alice'), signal('b', 'alice')];
      path = await create(executions, execution({ signals }), 'alice');
    });
    const cases: [what: string, signals: object[] | null][] = [
      ['the last is removed', [signal('a', 'alice')]],
      ['all are removed', []],
      ['the list is removed', null],
      ['one is replaced', [signal('a', 'alice'), signal('c', 'alice')]],
      ['the answer of one is changed', [signal('a', 'alice'), signal('b', 'alice', { response: 'no' })]],
      ['the author of one is changed', [signal('a', 'bob'), signal('b', 'alice')]],
      ['a new one is first', [signal('c', 'alice'), signal('a', 'alice'), signal('b', 'alice')]],
      ['they change places', [signal('b', 'alice'), signal('a', 'alice')]],
      ['a duplicate id', [signal('a', 'alice'), signal('b', 'alice'), signal('b', 'alice')]],
    ];
    it.each(cases)('refused when %s', async (_what, signals) => {
      const { status, message } = await patch(path, { spec: { signals } }, 'alice');
      expect(status).toBe(422);
      expect(message).toContain('spec.signals');
    });

    it('a signal behind the others is taken, one by JSON patch as well', async () => {
      const more = [signal('a', 'alice'), signal('b', 'alice'), signal('ab', 'alice')];
      expect((await patch(path, { spec: { signals: more } }, 'alice')).message).toBe('');
      const append = [{ op: 'add', path: '/spec/signals/-', value: signal('d', 'alice') }];
      const answer = await send('PATCH', path, append, { contentType: 'application/json-patch+json', as: 'alice' });
      expect(answer.message).toBe('');
    });
  });

  it('is cancelled once, in the name of the user who does', async () => {
    const path = await create(executions, execution({}));
    const cancel = (by: string, reason = 'enough'): object => ({ spec: { cancel: { by, at: now, reason } } });
    const forged = await patch(path, cancel('alice'), 'bob');
    expect(forged.status).toBe(403);
    expect(forged.message).toContain('spec.cancel.by: must be bob');
    expect((await patch(path, cancel('alice'), 'alice')).message).toBe('');
    expect((await patch(path, cancel('alice', 'changed'), 'alice')).message).toContain('spec.cancel');
    expect((await patch(path, { spec: { cancel: null } }, 'alice')).message).toContain('spec.cancel');
    expect((await patch(path, { spec: { ttl_seconds_after_finished: 1 } }, 'bob')).message).toBe('');
  });

  it('has a parent only when the controllers made it, and keeps it', async () => {
    const refused = await send('POST', executions, execution({ parent }), { as: 'alice' });
    expect(refused.status).toBe(403);
    expect(refused.message).toContain('spec.parent');
    expect((await send('POST', executions, execution({ parent }), { as: api })).status).toBe(403);
    const path = await create(executions, execution({ parent }), controllers);
    expect((await patch(path, { spec: { parent: null } }, controllers)).message).toContain('spec.parent');
    const root = await create(executions, execution({}));
    expect((await patch(root, { spec: { parent } }, controllers)).message).toContain('spec.parent');
  });

  const bad: [ids: string, spec: object, path: string][] = [
    ['', { workflow: '' }, 'spec.workflow'],
    ['', { blackboard: 'a=b' }, 'spec.blackboard'],
    ['', { ttl_seconds_after_finished: 1.5 }, 'spec.ttl_seconds_after_finished'],
    ['', { signals: [{ id: 'a b', state: 's', response: '', by: 'x', at: now }] }, 'spec.signals[0].id'],
    ['', { signals: [{ id: 'a', state: 's', response: '', by: 'x', at: 'yesterday' }] }, 'spec.signals[0].at'],
    ['', { cancel: { at: now } }, 'spec.cancel.by'],
    ['AMB-085', { parent: { ...parent, depth: 11 } }, 'spec.parent.depth'],
    ['AMB-060', { inputs: {} }, 'spec.inputs'],
  ];
  it.each(bad)('%s %j is refused at %s', async (_ids, spec, path) => {
    const { status, message } = await send('POST', `${executions}?fieldValidation=Strict`, execution(spec));
    expect([400, 422]).toContain(status);
    expect(message).toContain(path);
  });

  it('its spec cannot be changed through status, nor its status through the object', async () => {
    const path = await create(executions, execution({}));
    const both = { spec: { workflow: 'other' }, status: { phase: 'running' } };
    expect((await patch(`${path}/status`, both)).message).toContain('status-writes.windlass.dev');
    const controllers = 'system:serviceaccount:windlass-system:windlass-controllers';
    expect((await patch(`${path}/status`, both, controllers)).message).toBe('');
    await patch(path, { status: { phase: 'completed' } });
    const { body } = await send('GET', path);
    expect(body).toMatchObject({ spec: { workflow: 'w' }, status: { phase: 'running' } });
  });
});

describe('a volume', () => {
  const make = (spec: object): object => ({
    apiVersion: 'windlass.dev/v1',
    kind: 'Volume',
    metadata: { generateName: 'v-' },
    spec,
  });

  it.each([
    ['storage_class', 'persistent'],
    ['size_limit_mb', 20],
    ['claim_name', 'other'],
  ])('WF-STOR-02 keeps its %s', async (field, value) => {
    const spec = { storage_class: 'ephemeral', size_limit_mb: 10, claim_name: 'c' };
    const path = await create(volumesIn(namespace), make(spec));
    const { status, message } = await patch(path, { spec: { [field]: value } });
    expect(status).toBe(422);
    expect(message).toContain(`spec.${field}`);
  });

  it('WF-STOR-11 may expire later, and only an ephemeral one expires', async () => {
    const path = await create(
      volumesIn(namespace),
      make({ storage_class: 'ephemeral', expires_at: '2030-01-01T00:00:00Z' }),
    );
    expect((await patch(path, { spec: { expires_at: '2031-01-01T00:00:00Z' } })).message).toBe('');
    const persistent = await send(
      'POST',
      volumesIn(namespace),
      make({ storage_class: 'persistent', expires_at: '2030-01-01T00:00:00Z' }),
    );
    expect(persistent.message).toContain('spec.expires_at');
  });

  it.each([[[]], [[null]], ['soon']])('WF-STOR-11 expires at a time, and at nothing like %j', async (expires_at) => {
    const volume = make({ storage_class: 'ephemeral', expires_at });
    expect((await send('POST', volumesIn(namespace), volume)).message).toContain('spec.expires_at');
  });

  it('WF-STOR-02 of an unknown class is refused', async () => {
    const { message } = await send('POST', volumesIn(namespace), make({ storage_class: 'fast' }));
    expect(message).toContain('spec.storage_class');
  });
});

describe('the definitions themselves', () => {
  it.each(kinds)('kubectl get $plural shows the columns of $kind', async ({ plural, columns }) => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const { body } = await send('GET', `/apis/windlass.dev/v1/namespaces/${namespace}/${plural}`, undefined, {
      accept,
    });
    const shown = (body['columnDefinitions'] as { name: string }[]).map(({ name }) => name);
    expect(shown).toEqual(['Name', ...columns.map(({ name }) => name.replaceAll('_', ' '))]);
  });

  it('the policies read only fields that the definitions have', async () => {
    interface Policy {
      readonly metadata: { readonly name: string; readonly generation: number };
      readonly status?: {
        readonly observedGeneration?: number;
        readonly typeChecking?: { expressionWarnings?: object[] };
      };
    }
    const ours = async (): Promise<Policy[]> => {
      const { body } = await send('GET', '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies');
      return (body['items'] as Policy[]).filter(({ metadata }) => metadata.name.endsWith('.windlass.dev'));
    };
    await eventually('the policies to be type-checked', async () =>
      (await ours()).every(({ metadata, status }) => status?.observedGeneration === metadata.generation),
    );
    const warnings = (await ours()).flatMap(({ status }) => status?.typeChecking?.expressionWarnings ?? []);
    expect(warnings).toEqual([]);
  });

  it('WF-MAN-21 the largest legal workflow stays within the cost that the server allows', async () => {
    const largest: Workflow = fullWorkflow();
    largest.metadata.name = 'largest';
    const { parallel } = largest.spec.states;
    if (parallel?.kind !== 'ParallelContainerRun') throw new Error('the full workflow has lost its parallel state');
    const [step] = parallel.steps;
    const names = Array.from({ length: 92 }, (_, index) => `extra_${index}`);
    const transitions = names.slice(0, 20).map((target) => ({ condition: 'on_success' as const, target }));
    for (const name of names) {
      const steps = Array.from({ length: 50 }, (_, index) => ({
        ...step,
        name: `step_${index}`,
        image: 'a',
        command: ['a'],
      }));
      largest.spec.states[name] = { ...parallel, steps: steps as typeof parallel.steps, transitions };
    }
    expect(Object.keys(largest.spec.states)).toHaveLength(100);
    expect((await submit(largest)).message).toBe('');
  });
});
