import { createHash } from 'node:crypto';
import { apiVersion, labels } from '../../crds/labels.ts';
import type { Workflow, WorkflowSpec } from '../../crds/schema/workflow.ts';
import { runner } from '../../lib/tools/pod/run-file-tool.ts';

/** The one state of a helper. */
export const helperState = 'run';

/** Parts of a request to `runner fs`; each is one argument, as long as a process takes. */
const requestParts = 6;

export interface HelperPlan {
  /** Whether it may write. */
  readonly isReader: boolean;
  readonly image: string;
  readonly namespace: string;
  readonly volume: { readonly uid: string; readonly name: string };
  /** Where it sees the volume: there, rules of paths mean what they mean to the caller. */
  readonly folder: string;
}

const parts = Array.from({ length: requestParts }, (_, index) => `part_${index}`);
const command = [runner, 'fs', ...parts.map((name) => `{{input.${name}}}`)];

/** Seconds of the command, and of the state with the start of its pod. */
const seconds = { command: 30, state: 150 };

/**
 * The workflow whose executions are the helper pods of a volume (ADR 0090): capture, limits, quota and network are those of
 * every step. Its name follows from the volume and the content, so that it never changes; the volume's end deletes it.
 */
export function helperWorkflow({ isReader, image, namespace, volume, folder }: HelperPlan): Workflow {
  const content: Omit<WorkflowSpec, 'version'> = {
    description: `Reads and writes files of the volume ${volume.name}, for svc.file tools.`,
    initial_state: helperState,
    storage: { shared_volumes: [{ name: 'files', storage_class: 'persistent', volume_id: volume.uid }] },
    states: {
      [helperState]: {
        kind: 'ContainerRun',
        image,
        command,
        workdir: folder,
        volumes: [{ name: 'files', mount_path: folder, read_only: isReader }],
        resources: { timeout: `${seconds.command}s` },
        timeout: `${seconds.state}s`,
        transitions: [],
      },
    },
  };
  const hash = createHash('sha256')
    .update(JSON.stringify([volume.uid, content]))
    .digest('hex')
    .slice(0, 32);
  return {
    apiVersion,
    kind: 'Workflow',
    metadata: {
      name: `volume-files-${hash}`,
      namespace,
      labels: { [labels.managedBy]: 'windlass' },
      ownerReferences: [{ apiVersion, kind: 'Volume', name: volume.name, uid: volume.uid }],
    },
    spec: { version: '1.0.0', ...content },
  };
}

/** The input of one execution: a request in parts. @throws nothing; undefined where it is too large. */
export function requestInput(chunks: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (chunks.length > requestParts) return undefined;
  return Object.fromEntries(parts.map((name, index) => [name, chunks[index] ?? '']));
}
