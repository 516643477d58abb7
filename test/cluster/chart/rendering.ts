import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { KubeObject, Pod } from '../../../lib/kube/index.ts';
import { projectDir } from '../harness/project.ts';
import { programPath } from '../outputs/programs.ts';

const run = promisify(execFile);
const maxBuffer = 32 * 1024 * 1024;

export const chart = join(projectDir, 'charts/windlass');
/** Namespace of the release that the development cluster has. */
export const releaseNamespace = 'windlass-system';

export async function helm(...args: string[]): Promise<string> {
  const { stdout } = await run(await programPath('helm'), args, { maxBuffer });
  return stdout;
}

const renderings = new Map<string, Promise<readonly KubeObject[]>>();

/**
 * The objects that a release with these values would hold, hooks included; `options` go to Helm. The same values are
 * rendered once in a process; each call has objects of its own.
 */
export async function render(
  values: object = {},
  namespace = releaseNamespace,
  options: readonly string[] = [],
): Promise<KubeObject[]> {
  const input = JSON.stringify(values);
  const key = JSON.stringify([input, namespace, options]);
  const rendering = renderings.get(key) ?? rendered(input, ['--namespace', namespace, ...options]);
  renderings.set(key, rendering);
  rendering.catch(() => renderings.delete(key));
  return structuredClone([...(await rendering)]);
}

async function rendered(values: string, options: readonly string[]): Promise<readonly KubeObject[]> {
  const args = ['template', 'windlass', chart, '--values', '-', ...options];
  const child = run(await programPath('helm'), args, { maxBuffer });
  child.child.stdin?.end(values);
  const { stdout } = await child;
  return parseAllDocuments(stdout)
    .map((document) => document.toJS({ maxAliasCount: -1 }) as KubeObject | null)
    .filter((object) => object !== null);
}

/** The one object of this kind and name; throws where there is none, or another one. */
export function find<T extends KubeObject>(
  objects: readonly KubeObject[],
  kind: string,
  name: string,
  inside?: string,
): T {
  const found = objects.filter(
    ({ kind: itsKind, metadata }) =>
      itsKind === kind && metadata.name === name && (inside === undefined || metadata.namespace === inside),
  );
  if (found.length !== 1) throw new Error(`${found.length} objects ${kind} ${name}`);
  return found[0] as T;
}

/** Names of all objects of a kind. */
export const namesOf = (objects: readonly KubeObject[], kind: string): string[] =>
  objects.filter((object) => object.kind === kind).map((object) => object.metadata.name ?? '');

/** A Deployment, or a StatefulSet as far as it is the same. */
export interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly metadata: KubeObject['metadata']; readonly spec: Pod['spec'] };
  };
}

/** Environment of the first container: texts, and references in place of them. */
export function environment(objects: readonly KubeObject[], name: string): Record<string, unknown> {
  const deployment = find<Deployment>(objects, 'Deployment', name);
  const env = deployment.spec.template.spec.containers[0]?.env ?? [];
  return Object.fromEntries(env.map(({ name: variable, value, valueFrom }) => [variable, value ?? valueFrom]));
}

/** The texts of an environment alone, as a process would read them. */
export const texts = (env: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));

/** Variables that the tables under these headings of the chart's README list. */
export function listedVariables(...headings: string[]): string[] {
  const sections = readFileSync(join(chart, 'README.md'), 'utf8').split(/^#{2,3} /m);
  const rows = sections
    .filter((section) => headings.some((heading) => section.startsWith(`${heading}\n`)))
    .flatMap((section) => section.split('\n'));
  return rows.flatMap((row) => /^\| (`[A-Z][^|]*)\|/.exec(row)?.[1]?.match(/[A-Z0-9_]{4,}/g) ?? []).sort();
}
