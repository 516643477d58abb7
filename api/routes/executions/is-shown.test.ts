import { describe, expect, it } from 'vitest';
import { labels } from '../../../crds/labels.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { rowOf } from '../../../lib/archive/row.ts';
import type { Route } from '../../../lib/http/route.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { anExecution } from '../../../test/builders/execution-builder.ts';
import { findExecution } from './find-execution.ts';
import { createListRoute } from './list/index.ts';
import { createReadRoute } from './read/index.ts';

const hash = 'a'.repeat(40);
const made = (name: string, workflow: string, label = workflow): WorkflowExecution => {
  const built = anExecution(name).build();
  const metadata = { ...built.metadata, uid: name, labels: { [labels.workflow]: label } };
  const pinned = { name: label, namespace: 'tenant-acme', uid: 'w', version: '1.0.0', revision: 'r' };
  const status = { phase: 'completed', ...built.status, workflow: pinned } as NonNullable<WorkflowExecution['status']>;
  return { ...built, metadata, spec: { ...built.spec, workflow }, status };
};
/** Executions by name: of an ordinary workflow, of a file tool that is named by its id, and of a CLI tool. */
const all = [
  made('build', 'build'),
  made('lookalike', 'volume-files-notes'),
  made('file', '0f9619ff-8b86-4d01-b42d-00c04fc964ff', `volume-files-${'b'.repeat(32)}`),
  made('cli', `cli-tool-${hash}`, ''),
];
const byName = new Map(all.map((execution) => [execution.metadata.name, execution]));

const person: Caller = { subject: 'p', tenant: 'acme', kind: 'consumer', roles: [], scopes: [], until: 1 };
const agent: Caller = { ...person, callingExecution: 'agent-run' };
const tool: Caller = { ...agent, seesHelpers: true };

const executions = { find: async (_tenant: string, name: string) => byName.get(name), list: () => all };
const gone = { find: async () => undefined, list: () => [] };
const archived = {
  find: async (_tenant: string, name: string, use: (record: object) => Promise<string>) => {
    const execution = byName.get(name);
    return execution && use({ execution, read: async () => new Uint8Array() });
  },
  page: async () => ({ rows: all.map(rowOf), next: undefined }),
};
const depsOf = (cluster: object) => ({ cluster: { executions: cluster }, archived, outputs: () => {} }) as never;

async function ask(route: Route<Caller>, caller: Caller, request: object): Promise<string[]> {
  const reserve = async () => undefined;
  const reply = await route.handle({ params: {}, query: {}, caller, reserve, ...request } as never);
  const value = 'value' in reply ? (reply.value as { executions: { name: string }[] }).executions : undefined;
  return value?.map(({ name }) => name).toSorted() ?? [];
}

const canRead = (reading: Promise<unknown>): Promise<boolean> =>
  reading.then(
    () => true,
    ({ code }: { code: string }) => code !== 'not_found',
  );

describe('executions of file tools and CLI tools', () => {
  it.each([
    ['a person', person, ['build', 'cli', 'file', 'lookalike']],
    ['an agent', agent, ['build', 'lookalike']],
    ['the tool itself', tool, ['build', 'cli', 'file', 'lookalike']],
  ])('are seen by %s, or not, in lists, by name and in the archive', async (_who, caller, want) => {
    const seen = async (reading: (name: string) => Promise<unknown>): Promise<string[]> => {
      const names = [...byName.keys()].toSorted();
      const isSeen = await Promise.all(names.map((name) => canRead(reading(name))));
      return names.filter((_name, index) => isSeen[index]);
    };
    const read = (cluster: object) => (name: string) =>
      ask(createReadRoute(depsOf(cluster)), caller, { params: { execution_id: name } });
    expect(await seen((name) => findExecution(executions, caller, name))).toEqual(want);
    expect(await seen(read(executions))).toEqual(want);
    expect(await seen(read(gone))).toEqual(want);
    const list = createListRoute(depsOf(executions));
    expect(await ask(list, caller, { query: { limit: 50 } })).toEqual(want);
    expect(await ask(list, caller, { query: { limit: 50, archived: true } })).toEqual(want);
  });
});
