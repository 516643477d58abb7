import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../crds/schema/parts.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecutionSpec } from '../../crds/schema/workflow-execution.ts';
import { useControllers, type UsedControllers } from './harness/used-controllers.ts';
import {
  ensureWorkflow,
  sendSignal,
  startExecution,
  waitUntilFinished,
  waitUntilWaiting,
} from './harness/executions.ts';
import { projectDir } from './harness/project.ts';

interface Row {
  readonly file: string;
  readonly name?: string;
  readonly run: WorkflowExecutionSpec;
  readonly signals?: readonly { readonly state: string; readonly response: string; readonly feedback?: string }[];
  readonly phase: string;
  readonly visits: readonly string[];
  readonly final_output: Record<string, Json>;
}

const examples = join(projectDir, 'examples');
const rows = parse(readFileSync(join(examples, 'expected.yaml'), 'utf8')) as Row[];

const workflowsIn = (file: string): Workflow[] =>
  parseAllDocuments(readFileSync(join(examples, file), 'utf8')).map((document) => document.toJS() as Workflow);

/** All rows start at once: the examples share nothing, and a cluster has room for them. */
describe('the examples do on real pods what they say', () => {
  let used: UsedControllers;
  const nameOf = (row: Row): string => `example-${rows.indexOf(row)}`;

  beforeAll(async () => {
    used = await useControllers('examples');
    const { kube, namespace } = used;
    for (const file of new Set(rows.map((row) => row.file))) {
      for (const workflow of workflowsIn(file)) {
        await ensureWorkflow(kube, { ...workflow, metadata: { ...workflow.metadata, namespace } });
      }
    }
    await Promise.all(rows.map((row) => startExecution(kube, { namespace, name: nameOf(row) }, row.run)));
  });

  afterAll(() => used?.release());

  it.concurrent.each(rows.map((row) => ({ title: row.name ?? row.file.replace('.yaml', ''), row })))(
    '$title',
    async ({ row }) => {
      const { kube, namespace } = used;
      const ref = { namespace, name: nameOf(row) };
      for (const signal of row.signals ?? []) {
        await waitUntilWaiting(kube, { ...ref, state: signal.state }, { timeoutMs: 150_000 });
        await sendSignal(kube, ref, signal);
      }
      const { status } = await waitUntilFinished(kube, ref, { timeoutMs: 150_000 });
      expect({
        phase: status?.phase,
        visits: status?.history?.map(({ state }) => state),
        final_output: status?.final_output,
      }).toEqual({ phase: row.phase, visits: row.visits, final_output: row.final_output });
    },
  );

  it('every example file has a row', async () => {
    const { readdir } = await import('node:fs/promises');
    const files = (await readdir(examples)).filter((file) => file.endsWith('.yaml') && file !== 'expected.yaml');
    expect(files.filter((file) => !rows.some((row) => row.file === file))).toEqual([]);
  });
});
