import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { KubeObject } from '../../lib/kube/index.ts';
import { projectDir } from './harness/project.ts';
import { programPath } from './outputs/programs.ts';

it('Kustomize changes the images of a workflow and what refers to its name', async () => {
  const folder = join(projectDir, 'examples/kustomize');
  const { stdout } = await promisify(execFile)(await programPath('kubectl'), ['kustomize', folder]);
  const objects = parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject);
  const [workflow, execution] = objects as [Workflow, KubeObject & { spec: { workflow: string } }];
  const image = 'registry.example.org/mirror/busybox:1.37.0';
  expect(workflow.spec.states).toMatchObject({ build: { image }, check: { steps: [{ image }, { image }] } });
  expect(workflow.metadata.name).toBe('team-a-kustomized');
  expect(execution.spec.workflow).toBe('team-a-kustomized');
});
