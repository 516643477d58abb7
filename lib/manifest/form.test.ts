import { describe, expect, it } from 'vitest';
import type { WorkflowForm } from './form-names.ts';
import { readManifest } from './read-manifest.ts';
import { readWorkflows } from './read-workflows.ts';

const states = { end: { kind: 'System', command: 'finalize', transitions: [] } };
const text = (metadata: object, spec: object, more: object = {}): string =>
  JSON.stringify({
    apiVersion: 'windlass.dev/v1',
    kind: 'Workflow',
    metadata: { name: 'demo', ...metadata },
    spec: { initial_state: 'end', states, ...spec },
    ...more,
  });
const version = '1.0.0';

describe('a workflow in either form', () => {
  it.each<[name: string, form: WorkflowForm, text: string]>([
    ['the version under metadata', 'manifest', text({ version }, {})],
    ['the version under spec', 'resource', text({}, { version })],
    ['what kubectl prints', 'resource', text({ namespace: 'a', uid: 'u' }, { version }, { status: {} })],
  ])('AMB-060 with %s is the same workflow over every interface', (_name, form, source) => {
    const [file] = readWorkflows(source);
    const body = readManifest(source);
    expect([file?.form, body.form]).toEqual([form, form]);
    expect(body.workflow).toEqual({
      apiVersion: 'windlass.dev/v1',
      kind: 'Workflow',
      metadata: { name: 'demo' },
      spec: { version, initial_state: 'end', states },
    });
  });

  it.each<[name: string, form: WorkflowForm, source: string, want: [path: string, message: string][]]>([
    [
      'a manifest with a description under spec',
      'manifest',
      text({ version }, { description: 'x' }),
      [['spec.description', 'unknown field; in the manifest form it is metadata.description']],
    ],
    [
      'a custom resource without version',
      'resource',
      text({}, { description: 'x' }),
      [['spec.version', 'is required in the custom resource form; in the manifest form it is metadata.version']],
    ],
    [
      'a custom resource of a cluster with its version under metadata',
      'resource',
      text({ uid: 'u', version }, { description: 'x' }),
      [
        ['metadata.version', 'unknown field; in the custom resource form it is spec.version'],
        ['spec.version', 'is required in the custom resource form; in the manifest form it is metadata.version'],
      ],
    ],
    [
      'an object that kubectl is to name',
      'resource',
      text({ generateName: 'demo-' }, {}),
      [['spec.version', 'is required in the custom resource form; in the manifest form it is metadata.version']],
    ],
    [
      'neither',
      'manifest',
      text({}, {}),
      [['metadata.version', 'is required in the manifest form; in the custom resource form it is spec.version']],
    ],
    [
      'both',
      'manifest',
      text({ version }, { version }),
      [['spec.version', 'unknown field; in the manifest form it is metadata.version']],
    ],
  ])('AMB-060 %s is refused with the field of its form', (_name, form, source, want) => {
    const { form: read, problems } = readManifest(source);
    expect(read).toBe(form);
    expect(problems.map(({ path, message }) => [path, message])).toEqual(want);
  });

  it('says that a namespace is not read', () => {
    const { problems } = readManifest(text({ namespace: 'other' }, { version }));
    expect(problems).toMatchObject([{ path: 'metadata.namespace', severity: 'warning' }]);
  });
});

describe('a custom resource that a stranger hands to the API', () => {
  const derived = `wf-${'0'.repeat(40)}`;

  it('takes no name in the form of an id, in either form', () => {
    const name = '0b9f2c1e-1111-4222-8333-444455556666';
    for (const document of [text({ name }, { version }), text({ name, version }, {})]) {
      const { workflow, problems } = readManifest(document);
      expect(workflow).toBeUndefined();
      expect(problems).toContainEqual(expect.objectContaining({ path: 'metadata.name', rule: 'reserved_name' }));
    }
  });

  it('takes no object by its derived name, nor by an annotation that claims one', () => {
    const annotations = { 'windlass.dev/name': 'payroll' };
    for (const claims of [{ name: derived }, { name: derived, annotations }]) {
      expect(readManifest(text(claims, { version })).workflow?.metadata.name).not.toBe(derived);
    }
    expect(readManifest(text({ annotations }, { version })).workflow?.metadata).toEqual({ name: 'demo' });
  });

  it('brings no finalizer, owner or status along', () => {
    const metadata = { finalizers: ['a/b'], ownerReferences: [{ uid: 'u' }], uid: 'u', resourceVersion: '1' };
    const { workflow } = readManifest(text(metadata, { version }, { status: { revision: 'r' } }));
    expect(workflow?.metadata).toEqual({ name: 'demo' });
    expect(workflow).not.toHaveProperty('status');
  });
});
