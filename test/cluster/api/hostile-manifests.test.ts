import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { movedFields } from '../../../crds/schema/workflow-manifest.ts';
import { defineResource, type KubeObject } from '../../../lib/kube/index.ts';
import { toManifest } from '../../../lib/manifest/index.ts';
import { fullWorkflow } from '../../bad-manifests/full-workflow.ts';
import { badWorkflow } from '../../bad-manifests/row.ts';
import { badManifests } from '../../bad-manifests/rows.ts';
import { anEnd, aWorkflow } from '../../builders/workflow-builder.ts';
import { workflows } from '../harness/kinds.ts';
import { type ApiWorld, type Received, startApiWorld } from './harness/index.ts';

let world: ApiWorld;
let token: string;

beforeAll(async () => {
  world = await startApiWorld({ purpose: 'api-hostile', nats: false });
  token = await world.token({ user: 'mallory', tenant: world.tenant });
});
afterAll(() => world?.close());

const types = { yaml: 'application/yaml', json: 'application/json' } as const;

async function register(
  body: string | Uint8Array,
  { type = types.yaml, headers = {} }: { type?: string; headers?: Record<string, string> } = {},
): Promise<Received> {
  const begun = performance.now();
  const answer = await world.http('/v1/workflows/register', {
    method: 'POST',
    token,
    body,
    headers: { 'content-type': type, ...headers },
  });
  expect(performance.now() - begun).toBeLessThan(10_000);
  return answer;
}

interface Problem {
  readonly path: string;
  readonly message: string;
}
interface Refusal {
  readonly error: string;
  readonly message: string;
  readonly details: readonly Problem[];
}
const pathsOf = (answer: Received): string[] => answer.json<Refusal>().details.map(({ path }) => path);

async function stored(): Promise<string[]> {
  const { items } = await world.kube.listAll(workflows, { namespace: world.tenant });
  return items.map(({ metadata }) => metadata.name);
}

/** The manifest form of an object that need not be a workflow. */
function asManifest(object: object): object {
  const { metadata, spec, ...rest } = object as { metadata?: object; spec?: Record<string, unknown> };
  const moved: Record<string, unknown> = {};
  const own: Record<string, unknown> = {};
  const isMoved = (key: string) => (movedFields as readonly string[]).includes(key);
  for (const [key, value] of Object.entries(spec ?? {})) (isMoved(key) ? moved : own)[key] = value;
  return { ...rest, metadata: { ...metadata, ...moved }, spec: own };
}

const manifestPath = (path: string): string =>
  movedFields.some((field) => new RegExp(`^spec\\.${field}($|[.[])`).test(path))
    ? path.replace(/^spec/, 'metadata')
    : path;

describe('a manifest with one mistake', () => {
  const rows = badManifests.map((row) => ({ ...row, ids: row.requirements.join(' ') }));

  it.each(rows)('AMB-054 $ids $name is 400 with the path', async (row) => {
    const answer = await register(JSON.stringify(asManifest(badWorkflow(row))), { type: types.json });
    expect(answer.status).toBe(400);
    const { error, details } = answer.json<Refusal>();
    expect(error).toBe('invalid_manifest');
    expect(details.map(({ path }) => path)).toContain(manifestPath(row.path));
  });

  it('AMB-054 has left nothing behind', async () => {
    expect(await stored()).toEqual([]);
  });
});

/** Every place of a document, and its value. */
function* places(value: unknown, at: readonly (string | number)[] = []): Generator<readonly (string | number)[]> {
  if (at.length > 0) yield at;
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* places(item, [...at, index]);
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) yield* places(item, [...at, key]);
}

function edited(
  at: readonly (string | number)[],
  edit: (parent: Record<string, unknown>, key: string) => void,
): string {
  const document = toManifest(fullWorkflow()) as unknown as Record<string, unknown>;
  let parent = document;
  for (const key of at.slice(0, -1)) parent = parent[key] as Record<string, unknown>;
  edit(parent, String(at.at(-1)));
  return JSON.stringify(document);
}

describe('a manifest of which one part is something else', () => {
  const all = [...places(toManifest(fullWorkflow()))];
  const values: [title: string, value: unknown][] = [
    ['null', null],
    ['a text', 'x'],
    ['an empty text', ''],
    ['a number', 7],
    ['a fraction below zero', -0.5],
    ['true', true],
    ['a list', []],
    ['a list of lists', [[]]],
    ['a map', {}],
    ['a map of prototype names', { constructor: 1, toString: {}, hasOwnProperty: null }],
    ['a long text', 'x'.repeat(70_000)],
    ['letters of every kind', '\u0000\u202e\u{1F600}ä\uffff'],
  ];

  it.each(values)('AMB-054 answers 200 or 400 with paths, never anything else: %s', async (_title, value) => {
    const odd: string[] = [];
    for (const at of all) {
      const answer = await register(
        edited(at, (parent, key) => {
          parent[key] = value;
        }),
        { type: types.json },
      );
      const isRefusal = answer.status === 400 && answer.json<Refusal>().error === 'invalid_manifest';
      if (!(isRefusal && answer.json<Refusal>().details.length > 0) && ![200, 409].includes(answer.status)) {
        odd.push(`${at.join('.')}: ${answer.status} ${answer.text.slice(0, 200)}`);
      }
    }
    expect(odd).toEqual([]);
  });

  it('AMB-054 answers 200 or 400 where it is missing', async () => {
    const odd: string[] = [];
    for (const at of all) {
      const answer = await register(
        edited(at, (parent, key) => {
          if (Array.isArray(parent)) parent.splice(Number(key), 1);
          else delete parent[key];
        }),
        { type: types.json },
      );
      if (![200, 400, 409].includes(answer.status)) odd.push(`${at.join('.')}: ${answer.status}`);
    }
    expect(odd).toEqual([]);
  });

  it('AMB-060 refuses an unknown key wherever keys are known, with its path', async () => {
    const odd: string[] = [];
    const maps = all.filter((at) => !/(context|labels|annotations|schema|template|env|states)(,|$)/.test(at.join(',')));
    for (const at of maps) {
      const text = edited(at, (parent, key) => {
        const value = parent[key];
        if (typeof value === 'object' && value !== null && !Array.isArray(value))
          Object.assign(value, { nobody_knows: 1 });
      });
      if (!text.includes('nobody_knows')) continue;
      const answer = await register(text, { type: types.json });
      if (answer.status !== 400 || !pathsOf(answer).some((path) => path.endsWith('nobody_knows')))
        odd.push(at.join('.'));
    }
    expect(odd).toEqual([]);
  });
});

const small = stringify(toManifest(aWorkflow('small').state('end', anEnd()).build()));
const withContext = (text: string): string => `${small}  context: ${text}\n`;

describe('a body that is no manifest', () => {
  it.each<[title: string, text: string, path: string]>([
    ['nothing', '', ''],
    ['blanks', ' \n\n ', ''],
    ['only a comment', '# hello', ''],
    ['two documents', `${small}---\n${small}`, ''],
    ['a text', 'hello', ''],
    ['a list', '[1, 2]', ''],
    ['an empty map', '{}', 'apiVersion'],
    ['a duplicate key', `${small}spec: {}\n`, ''],
    ['a duplicate state', small.replace('  states:', '  states: {end: 1, end: 2}\n  x:'), ''],
    ['a tag', withContext('{a: !!js/function "x"}'), ''],
    ['binary data', withContext('{a: !!binary aGk=}'), ''],
    ['a list as a key', withContext('{? [a] : b}'), ''],
    ['a merge key', withContext('{a: &a {b: 1}, c: {<<: *a}}'), ''],
    ['a number that JSON cannot hold', withContext('{a: .inf}'), ''],
    ['a number that is not exact', withContext('{a: 12345678901234567890}'), ''],
    ['an undefined alias', withContext('{a: *nobody}'), ''],
    ['a directive of another YAML', `%YAML 9.9\n---\n${small}`, ''],
    ['a prototype', withContext('{__proto__: {a: 1}}'), 'spec.context.__proto__'],
    [
      'the custom resource with a version that is none',
      small.replace('  version: 1.0.0\n', '').replace('spec:', 'spec:\n  version: one'),
      'spec.version',
    ],
    [
      'a label of ours',
      small.replace('metadata:', 'metadata:\n  labels: {windlass.dev/user: x}'),
      'metadata.labels["windlass.dev/user"]',
    ],
    [
      'force as an annotation',
      small.replace('metadata:', 'metadata:\n  annotations: {windlass.dev/force: "true"}'),
      'metadata.annotations["windlass.dev/force"]',
    ],
    ['another scope', small.replace('metadata:', 'metadata:\n  scope: global'), 'metadata.scope'],
    ['a namespace', small.replace('metadata:', 'metadata:\n  namespace: windlass-system'), 'metadata.namespace'],
  ])('AMB-054 WF-API-01 is 400: %s', async (_title, text, path) => {
    const answer = await register(text);
    expect(answer.status).toBe(400);
    const { error, details } = answer.json<Refusal>();
    expect([error, details.length > 0]).toEqual(['invalid_manifest', true]);
    expect(details.map((problem) => problem.path)).toContain(path);
  });

  const lines = (count: number, line: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => line(index)).join('\n');
  const bomb = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name, index, names) =>
    index === 0 ? 'a: &a [x, x, x, x, x, x, x, x, x]' : `${name}: &${name} [${`*${names[index - 1]}, `.repeat(9)}]`,
  );
  it.each<[title: string, text: string]>([
    ['a bomb of aliases', bomb.join('\n')],
    ['a hundred thousand brackets', '['.repeat(100_000)],
    ['maps within maps', lines(1_300, (index) => `${' '.repeat(index)}a:`)],
    ['a megabyte of items', '- a\n'.repeat(262_000)],
    ['a megabyte of keys', lines(80_000, (index) => `k${index}: v`)],
    ['unknown keys', lines(14_000, (index) => `k${index}: v`)],
    ['a megabyte of documents', '---\na\n'.repeat(170_000)],
    ['a megabyte of syntax errors', '! '.repeat(500_000)],
    ['forty thousand syntax errors', '{}'.repeat(45_000)],
    ['a state with a template of a hundred kilobytes', small.replace('finalize', `"${'{{a}}'.repeat(20_000)}"`)],
    [
      'an input schema with a pattern that takes for ever',
      small.replace(
        'metadata:',
        'metadata:\n  input_schema: {type: object, properties: {a: {pattern: "(a+)+$"}}, $ref: "http://169.254.169.254/"}',
      ),
    ],
  ])('AMB-054 is 400 in a bounded time: %s', async (_title, text) => {
    const answer = await register(text);
    expect([answer.status, answer.json<Refusal>().error]).toEqual([400, 'invalid_manifest']);
    expect(answer.text.length).toBeLessThan(1_000_000);
  });

  it.each([1_048_575, 1_048_576])('AMB-153 a manifest of %i bytes is taken', async (bytes) => {
    const text = `${small}#`.padEnd(bytes, 'x');
    expect((await register(text)).status).toBe(200);
  });

  it('AMB-153 a manifest of 1048577 bytes is 413', async () => {
    const answer = await register(`${small}#`.padEnd(1_048_577, 'x'));
    expect([answer.status, answer.json()['error']]).toEqual([413, 'payload_too_large']);
  });

  it.each([300_000, 1_000_000])(
    'AMB-153 a manifest with %i signs that the store writes in six is 413',
    async (count) => {
      const answer = await register(
        withContext(`{a: "${'<'.repeat(count)}"}`).replace('name: small', `name: signs-${count}`),
      );
      expect([answer.status, answer.json()]).toEqual([
        413,
        {
          error: 'payload_too_large',
          code: 'payload_too_large',
          message: 'the definition is larger than a cluster can store',
        },
      ]);
    },
  );

  it('AMB-153 a manifest that is small and expands to a large value is 400', async () => {
    const answer = await register(withContext(`{a: &a ${'x'.repeat(400_000)}, b: *a, c: *a}`));
    expect(answer.json<Refusal>().details[0]?.message).toMatch(/^has \d+ bytes as JSON; at most 1048576 are taken/);
  });

  it.each<[title: string, sending: Parameters<typeof register>[1], status: number]>([
    ['of no type', { type: '' }, 415],
    ['of plain text', { type: 'text/plain' }, 415],
    ['of a form', { type: 'application/x-www-form-urlencoded' }, 415],
    ['that is compressed', { headers: { 'content-encoding': 'gzip' } }, 415],
  ])('WF-API-01 a body %s is %j', async (_title, sending, status) => {
    expect((await register(small, sending)).status).toBe(status);
  });

  it('WF-API-01 bytes that are no text are 400', async () => {
    expect((await register(new Uint8Array([0x61, 0x3a, 0xff, 0xfe]))).status).toBe(400);
  });

  it.each([
    '?scope=all',
    '?scope=',
    '?force=1',
    '?force=yes',
    '?what=x',
    '?scope=tenant&scope=global',
    '?force=true&force=false',
  ])('AMB-054 the query %s is 400', async (query) => {
    const path = `/v1/workflows/register${query}`;
    const answer = await world.http(path, { token, body: small, headers: { 'content-type': types.yaml } });
    expect([answer.status, answer.json()['error']]).toEqual([400, 'invalid_request']);
  });
});

const resource = <T extends KubeObject>(group: string, plural: string, kind: string, namespaced: boolean) =>
  defineResource<T>({ group, version: 'v1', plural, kind, namespaced });
const policies = resource(
  'admissionregistration.k8s.io',
  'validatingadmissionpolicies',
  'ValidatingAdmissionPolicy',
  false,
);
const bindings = resource(
  'admissionregistration.k8s.io',
  'validatingadmissionpolicybindings',
  'ValidatingAdmissionPolicyBinding',
  false,
);
const quotas = resource('', 'resourcequotas', 'ResourceQuota', true);

describe('what the cluster holds against a workflow', () => {
  const policy = () => `windlass-test-${world.tenant}`;
  afterAll(async () => {
    await world.kube.delete(bindings, { name: policy() });
    await world.kube.delete(policies, { name: policy() });
  });

  it('AMB-054 a policy of the cluster’s own is 400, with its words and the path of the manifest', async () => {
    const match = {
      resourceRules: [
        { apiGroups: ['windlass.dev'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['workflows'] },
      ],
    };
    const spec = {
      failurePolicy: 'Fail',
      matchConstraints: match,
      validations: [
        { expression: "!object.metadata.name.startsWith('denied')", message: 'spec.version: is not for us' },
      ],
    };
    const here = { matchLabels: { 'kubernetes.io/metadata.name': world.tenant } };
    await world.kube.create(policies, { metadata: { name: policy() }, spec } as KubeObject);
    await world.kube.create(bindings, {
      metadata: { name: policy() },
      spec: { policyName: policy(), validationActions: ['Deny'], matchResources: { namespaceSelector: here } },
    } as KubeObject);
    const denied = (index: number) => register(small.replace('name: small', `name: denied-${index}`));
    // A policy takes a moment to work.
    let answer = await denied(0);
    for (let index = 1; index < 60 && answer.status === 200; index++) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      answer = await denied(index);
    }
    expect(answer.status).toBe(400);
    expect(answer.json()).toEqual({
      error: 'invalid_manifest',
      code: 'invalid_manifest',
      message: 'metadata.version: is not for us',
      details: [{ path: 'metadata.version', message: 'is not for us' }],
    });
  });

  it('a quota that is used up is 422, and says which', async () => {
    const spec = { hard: { 'count/workflows.windlass.dev': '1' } };
    const quota = { metadata: { name: 'workflows', namespace: world.tenant }, spec } as KubeObject;
    await world.kube.create(quotas, quota);
    const over = (index: number) => register(small.replace('name: small', `name: over-${index}`));
    // A quota counts what is there before it works.
    let answer = await over(0);
    for (let index = 1; index < 60 && answer.status === 200; index++) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      answer = await over(index);
    }
    expect(answer.status).toBe(422);
    expect(answer.json()).toEqual({
      error: 'limit_exceeded',
      code: 'limit_exceeded',
      message: expect.stringContaining('exceeded quota: workflows'),
    });
    await world.kube.delete(quotas, { namespace: world.tenant, name: 'workflows' });
  });

  it('ORCH-AUTH-07 AMB-026 a tenant that is not set up is 404, and has nothing in it', async () => {
    const stranger = await world.token({ user: 'mallory', tenant: 'nobody-set-this-up' });
    const headers = { 'content-type': types.yaml };
    const answer = await world.http('/v1/workflows/register', { token: stranger, body: small, headers });
    expect([answer.status, answer.text]).toEqual([
      404,
      expect.stringContaining('{"error":"Tenant not found","code":"tenant_not_found"'),
    ]);
    const list = await world.http('/v1/workflows?scope=tenant', { token: stranger });
    expect(list.json()).toEqual({ workflows: [], next_cursor: null });
  });
});

describe('the full manifest', () => {
  it('WF-API-01 is taken, and read as it was sent', async () => {
    const manifest = toManifest({
      ...fullWorkflow(),
      metadata: { ...fullWorkflow().metadata, name: 'untouched' },
    } as Workflow);
    expect((await register(stringify(manifest))).status).toBe(200);
    const read = (await world.http('/v1/workflows/untouched', { token })).json();
    expect(read).toMatchObject(manifest);
  });
});
