import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { annotations, apiVersion } from '../../crds/labels.ts';
import type { Workflow, WorkflowSpec } from '../../crds/schema/workflow.ts';
import type { WorkflowManifest } from '../../crds/schema/workflow-manifest.ts';
import { toCustomResource, toManifest } from './convert.ts';
import { objectName, workflowName } from './object-name.ts';
import { readWorkflows } from './read-workflows.ts';
import { writeYaml } from './write-yaml.ts';

const optional: { requiredKeys: [] } = { requiredKeys: [] };
const jsonObject = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }));
/** Labels and annotations of an object: Kubernetes takes no others. */
const keptKey = fc.stringMatching(/^[a-z]{1,9}$/);
const objectLabels = fc.dictionary(keptKey, keptKey);
const objectNotes = fc.dictionary(keptKey, fc.string(), { minKeys: 1 });
const textMap = fc.dictionary(fc.string(), fc.string());
const someAnnotations = fc.dictionary(fc.string(), fc.string(), { minKeys: 1 });
const name = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,62}$/);
const schema = jsonObject.map((more) => ({ ...more, type: 'object' }));
const moved = { description: fc.string(), input_schema: schema, output_schema: schema, output_template: textMap };
const body = {
  initial_state: fc.string(),
  max_total_transitions: fc.integer(),
  context: jsonObject,
  states: fc.dictionary(fc.string(), jsonObject),
};
const version = fc.constantFrom('1.0.0', '0.1.0-rc.1+5');

/** Any manifest; conversion looks at names and places only, so the content may be anything. */
const manifests = fc
  .record({
    fields: fc.record(moved, optional),
    named: fc.record({ labels: textMap, annotations: someAnnotations }, optional),
    name,
    version,
    spec: fc.record(body, optional),
  })
  .map(
    ({ fields, named, spec, ...head }) =>
      ({
        apiVersion,
        kind: 'Workflow',
        metadata: { ...head, ...fields, ...named },
        spec,
      }) as unknown as WorkflowManifest,
  );

const resources = fc
  .record({
    metadata: fc.record(
      { name: name.filter((text) => objectName(text) === text), labels: objectLabels, annotations: objectNotes },
      { requiredKeys: ['name'] },
    ),
    spec: fc.record({ version, ...moved, ...body }, { requiredKeys: ['version'] }),
  })
  .map(
    ({ metadata, spec }): Workflow => ({
      apiVersion,
      kind: 'Workflow',
      metadata,
      spec: spec as unknown as WorkflowSpec,
    }),
  );

describe('conversion loses nothing', () => {
  it('AMB-060 manifest → custom resource → manifest', () => {
    fc.assert(
      fc.property(manifests, (manifest) => {
        expect(toManifest(toCustomResource(manifest))).toEqual(manifest);
      }),
    );
  });

  it('AMB-060 custom resource → manifest → custom resource', () => {
    fc.assert(
      fc.property(resources, (resource) => {
        expect(toCustomResource(toManifest(resource))).toEqual(resource);
      }),
    );
  });

  it('what is written as YAML is read back as the same', () => {
    const spec = {
      initial_state: 'a',
      context: { text: 'a\nb\n', yes: 'yes', null: null, number: '1', list: [1, 1.5, true, 'no', '0x10', ' x'] },
      states: { a: { kind: 'System', command: 'finalize', transitions: [] } },
    };
    const metadata = { name: 'a-', version: '1.0.0', labels: { on: 'off' } };
    const manifest = { apiVersion, kind: 'Workflow', metadata, spec } as WorkflowManifest;
    const [read] = readWorkflows(writeYaml(manifest));
    expect(read?.problems).toEqual([]);
    expect(read?.workflow && toManifest(read.workflow)).toEqual(manifest);
  });

  it('status and what the server keeps in metadata are no part of a definition', () => {
    const metadata = { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1', generation: 2 };
    const spec = { version: '1.0.0', initial_state: 'a', states: {} };
    const resource: Workflow = { apiVersion, kind: 'Workflow', metadata, spec, status: {} };
    expect(toManifest(resource)).toEqual({
      apiVersion,
      kind: 'Workflow',
      metadata: { name: 'a', version: '1.0.0' },
      spec: { initial_state: 'a', states: {} },
    });
  });
});

describe('AMB-089 the object name of a workflow', () => {
  it.each(['a', '0', 'a-b', 'a'.repeat(63)])('is %s itself', (text) => expect(objectName(text)).toBe(text));

  it.each(['a-', `${'a'.repeat(62)}-`])('of %s is a hash, and the name an annotation', (text) => {
    expect(objectName(text)).toMatch(/^wf-[0-9a-f]{40}$/);
    const metadata = { name: text, version: '1.0.0' };
    const spec = { initial_state: 'a', states: {} };
    const resource = toCustomResource({ apiVersion, kind: 'Workflow', metadata, spec });
    expect(resource.metadata).toEqual({ name: objectName(text), annotations: { [annotations.name]: text } });
    expect(workflowName(resource.metadata)).toBe(text);
  });

  it.each(['wf', 'wu'])(
    'WF-MAN-04 of a name in the form of %s-<hash> is a hash, so it is never that of another workflow',
    (form) => {
      const taken = `${form}-${'0123456789'.repeat(4)}`;
      expect(objectName(taken)).toMatch(/^wf-[0-9a-f]{40}$/);
      expect(objectName(taken)).not.toBe(taken);
      const metadata = { name: objectName(taken), annotations: { [annotations.name]: taken } };
      expect(workflowName(metadata)).toBe(taken);
      for (const plain of [`${taken}0`, taken.slice(0, -1), taken.toUpperCase().toLowerCase().replace(/.$/, 'g')]) {
        expect(objectName(plain)).toBe(plain);
      }
    },
  );

  it('of a name in the form of a workflow of file tools is a hash, so that no manifest takes its object', () => {
    const taken = `volume-files-${'0123456789abcdef'.repeat(2)}`;
    const name = objectName(taken);
    expect(name).toMatch(/^wf-[0-9a-f]{40}$/);
    expect(workflowName({ name, annotations: { [annotations.name]: taken } })).toBe(taken);
    expect(objectName(taken.slice(0, -1))).toBe(taken.slice(0, -1));
  });

  it('differs between names that are equal but for the end', () => {
    expect(objectName('a-')).not.toBe(objectName('a--'));
  });

  it('an annotation that does not belong to the object name is an annotation like any other', () => {
    expect(workflowName({ name: 'b', annotations: { [annotations.name]: 'a-' } })).toBe('b');
    expect(workflowName({ name: 'b', annotations: { [annotations.name]: 'b' } })).toBe('b');
  });
});
