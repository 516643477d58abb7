import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { annotations, globalNamespace, labels } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import {
  answersTo,
  cachedWorkflow,
  isStill,
  ownerKey,
  scopeOf,
  type WantedWorkflow,
  workflowIndexes,
} from '../../lib/workflow-lookup/index.ts';
import { createCache } from '../../lib/informer/index.ts';
import { objectName, userObjectName } from '../../lib/manifest/object-name.ts';
import { readManifest } from '../../lib/manifest/read-manifest.ts';
import { readWorkflows } from '../../lib/manifest/read-workflows.ts';
import { planRegistration } from '../../lib/registration/index.ts';
import { anEnd, aWorkflow } from '../builders/workflow-builder.ts';

/**
 * The attacker is Mallory, a user of Ada's tenant. Mallory may register manifests over HTTP and, where she has a
 * kubeconfig, create Workflows of any name with any labels and annotations in the tenant's namespace.
 */
const ada = ownerKey('ada');
const namespace = 'tenant-a';
const adasName = userObjectName(ada, 'payroll');

interface Metadata {
  readonly name: string;
  readonly uid?: string;
  readonly namespace?: string;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
}

const workflow = (metadata: Metadata): Workflow => ({
  ...aWorkflow('w').state('end', anEnd()).build(),
  metadata: { namespace, uid: 'u', resourceVersion: '1', ...metadata },
});
const adas = workflow({
  name: adasName,
  uid: 'adas',
  labels: { [labels.user]: ada },
  annotations: { [annotations.name]: 'payroll' },
});

function found(objects: readonly Workflow[], wanted: Partial<WantedWorkflow> & Pick<WantedWorkflow, 'nameOrUid'>) {
  const cache = createCache<Workflow, 'name' | 'formerId'>({ indexes: workflowIndexes });
  cache.replaceAll(objects, '1');
  return cachedWorkflow(cache, { namespace, ...wanted })?.metadata.uid;
}

const manifestOf = (name: string): string =>
  JSON.stringify({
    apiVersion: 'windlass.dev/v1',
    kind: 'Workflow',
    metadata: { name, version: '1.0.0' },
    spec: { initial_state: 'end', states: { end: { kind: 'System', command: 'finalize', transitions: [] } } },
  });

describe('Mallory registers a manifest under the derived object name', () => {
  it.each([
    ["of Ada's private workflow", adasName],
    ['of a workflow with an unusual name', objectName('payroll-')],
  ])('%s and gets an object of another name', (_title, name) => {
    const { workflow: read, problems } = readManifest(manifestOf(name));
    expect(problems).toEqual([]);
    expect(read?.metadata.name).toMatch(/^wf-[0-9a-f]{40}$/);
    expect(read?.metadata).toMatchObject({ annotations: { [annotations.name]: name } });
    expect(read?.metadata.name).not.toBe(name);
  });

  it('in the form of the custom resource and is refused, unless it records whose name that is', () => {
    const [named] = readWorkflows(manifestOf('x'));
    const resource = { ...named?.workflow, metadata: { name: objectName('payroll-') } };
    const problemsOf = (object: object): string[] =>
      readWorkflows(JSON.stringify(object)).flatMap(({ problems }) => problems.map(({ path }) => path));
    expect(problemsOf(resource)).toEqual(['metadata.name']);
    const honest = { ...resource.metadata, annotations: { [annotations.name]: 'payroll-' } };
    expect(problemsOf({ ...resource, metadata: honest })).toEqual([]);
    expect(problemsOf({ ...resource, metadata: { ...honest, name: adasName } })).toEqual(['metadata.name']);
  });
});

describe('Mallory creates an object in the place of the workflow of Ada', () => {
  const squatters: [string, Workflow][] = [
    ['without saying whose it is', workflow({ name: adasName })],
    ['and calls it hers', workflow({ name: adasName, labels: { [labels.user]: ownerKey('mallory') } })],
    ['under another name', workflow({ name: adasName, annotations: { [annotations.name]: 'payroll' } })],
  ];

  it.each(squatters)('%s: no start of Ada finds it', (_title, squatter) => {
    for (const nameOrUid of ['payroll', 'u']) {
      const wanted = { namespace, user: ada, nameOrUid };
      expect(found([squatter], wanted)).toBeUndefined();
      expect(answersTo(squatter, wanted)).toBe(false);
    }
    expect(isStill(adas, { ...squatter, metadata: { ...squatter.metadata, uid: 'adas' } })).toBe(false);
  });

  it.each(squatters)('%s: a registration of Ada is refused rather than mixed with it', (_title, existing) => {
    const { namespace: _, uid: __, resourceVersion: ___, ...metadata } = adas.metadata;
    const facts = { existing, stored: undefined, force: true };
    expect(() => planRegistration({ ...adas, metadata }, namespace, facts)).toThrow('is not that workflow');
  });

  it('under a plain name with the label of Ada: no user finds it as a workflow of Ada', () => {
    const labelled = workflow({ name: 'payroll', labels: { [labels.user]: ada } });
    expect(found([labelled], { user: ada, nameOrUid: 'payroll' })).toBeUndefined();
    expect(found([labelled, adas], { user: ada, nameOrUid: 'payroll' })).toBe('adas');
    expect(scopeOf(labelled)).toBe('user');
  });
});

describe('Mallory names a workflow so that two keys would join alike', () => {
  it.each([`${ada}/payroll`, `${namespace}/${ada}/payroll`, `${ada}","payroll`, 'null","payroll'])(
    'WF-API-12 %s finds nothing of Ada',
    (nameOrUid) => {
      expect(found([adas], { nameOrUid })).toBeUndefined();
      expect(found([adas], { user: ownerKey('mallory'), nameOrUid })).toBeUndefined();
    },
  );

  it('no two different triples of namespace, owner and name ever meet', () => {
    const part = fc.stringMatching(/^[a-z/",[\]]{0,6}$/);
    const keyOf = (place: string, name: string): readonly string[] =>
      workflowIndexes.name(workflow({ name, namespace: place }));
    fc.assert(
      fc.property(part, part, part, part, (placeA, nameA, placeB, nameB) => {
        fc.pre(placeA !== placeB || nameA !== nameB);
        expect(keyOf(placeA, nameA)).not.toEqual(keyOf(placeB, nameB));
      }),
    );
  });

  it('a name in the list of former ids does not answer for a workflow that is not there', () => {
    const claiming = workflow({ name: 'mine', annotations: { [annotations.formerIds]: 'payroll,build' } });
    expect(found([claiming], { nameOrUid: 'payroll' })).toBeUndefined();
  });

  it('a global workflow stays global whatever Mallory writes on hers', () => {
    const global = workflow({ name: 'build', uid: 'g', namespace: globalNamespace });
    const hers = workflow({ name: `${globalNamespace}-build`, annotations: { [annotations.name]: 'build' } });
    expect(found([hers, global], { nameOrUid: 'build' })).toBe('g');
  });
});

describe('Mallory writes labels into a manifest that a tool or Windlass trusts on objects', () => {
  const withMaps = (maps: object): string => {
    const manifest = JSON.parse(manifestOf('mine')) as { metadata: object };
    return JSON.stringify({ ...manifest, metadata: { ...manifest.metadata, ...maps } });
  };

  it.each([labels.managedBy, 'pod-security.kubernetes.io/enforce', 'kubectl.kubernetes.io/last-applied-configuration'])(
    'AMB-178 %s comes to no object',
    (key) => {
      const { metadata } =
        readManifest(withMaps({ labels: { [key]: 'x' }, annotations: { [key]: 'x' } })).workflow ?? {};
      expect(metadata?.labels).toBeUndefined();
      expect(Object.keys(metadata?.annotations ?? {})).toEqual([annotations.given]);
    },
  );

  it("AMB-178 the annotation that keeps labels makes no owner: the object has none of Ada's marks", () => {
    const kept = JSON.stringify({
      labels: { [labels.user]: ada, 'a b': 'c' },
      annotations: { [annotations.name]: 'payroll' },
    });
    const object = workflow({ name: adasName, annotations: { [annotations.given]: kept } });
    expect(scopeOf(object)).toBe('user');
    expect(found([object], { user: ada, nameOrUid: 'payroll' })).toBeUndefined();
    expect(readManifest(withMaps({ annotations: { [annotations.given]: kept } })).workflow).toBeUndefined();
  });
});
