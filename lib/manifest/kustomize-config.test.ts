import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fullWorkflow } from '../../test/bad-manifests/full-workflow.ts';
import { readWorkflows } from './index.ts';
import { kustomizeConfig } from './kustomize-config.ts';

const example = (name: string): string =>
  readFileSync(resolve(import.meta.dirname, '../../examples/kustomize', name), 'utf8');

describe('what Kustomize has to know', () => {
  it('is every image, Secret and workflow that a workflow refers to', () => {
    const { images, nameReference } = kustomizeConfig([fullWorkflow()]);
    expect(images.map(({ path }) => path)).toEqual([
      'spec/states/container/image',
      'spec/states/parallel/steps[]/image',
    ]);
    const references = nameReference.map(({ kind, fieldSpecs }) => [kind, fieldSpecs.map(({ path }) => path)]);
    expect(references).toEqual([
      ['Workflow', ['spec/workflow', 'spec/states/child/workflow_id']],
      ['Secret', ['spec/states/container/registry_credentials', 'spec/states/parallel/steps[]/registry_credentials']],
    ]);
  });

  it('of several workflows is listed once', () => {
    expect(kustomizeConfig([fullWorkflow(), fullWorkflow()])).toEqual(kustomizeConfig([fullWorkflow()]));
  });

  it('of the example is the file beside it', () => {
    const workflows = readWorkflows(example('build.yaml')).flatMap(({ workflow }) => (workflow ? [workflow] : []));
    expect(parse(example('windlass.yaml'))).toEqual(kustomizeConfig(workflows));
  });
});
