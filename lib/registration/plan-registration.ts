import { annotations } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { workflowUser } from '../workflow-lookup/scope.ts';
import { changedFields } from '../definition/changed-fields.ts';
import { AppError } from '../errors.ts';
import { workflowName } from '../manifest/object-name.ts';
import { sameJson } from '../same-json.ts';
import { nounOf, type Versioned } from './versioned.ts';

/** Result of the registration of a definition. */
export interface Registration<V extends Versioned = Workflow> {
  readonly kind: 'created' | 'updated' | 'unchanged';
  readonly object: V;
}

export interface RegistrationFacts<V extends Versioned = Workflow> {
  /** The object as it is in the cluster, if it is there. */
  readonly existing: V | undefined;
  /** The stored content of the version that is to be registered, if any. */
  readonly stored: V['spec'] | undefined;
  readonly force: boolean;
}

/**
 * The write after which the cluster holds `wanted` in `namespace`. A version that is stored with other content is
 * never replaced without force (spec 1 §2.6 `metadata.version`); throws a conflict then. Labels and annotations that
 * others have put on the object stay.
 */
export function planRegistration<V extends Versioned>(
  wanted: V,
  namespace: string,
  facts: RegistrationFacts<V>,
): Registration<V> {
  const { existing, stored, force } = facts;
  if (existing === undefined) {
    return { kind: 'created', object: { ...wanted, metadata: { ...wanted.metadata, namespace } } };
  }
  assertSameObject(existing, { ...wanted, metadata: { ...wanted.metadata, namespace } });
  const isSame = sameJson(existing.spec, wanted.spec);
  const object = merged(existing, wanted, isSame ? forced(existing) : force);
  if (isSame && sameJson(existing.metadata, object.metadata)) return { kind: 'unchanged', object: existing };
  if (stored !== undefined && !sameJson(stored, wanted.spec) && !force) throw conflict(wanted, stored);
  return { kind: 'updated', object };
}

/** An object name may be derived; the object that has it must be of the owner and name that it was derived from. */
function assertSameObject(existing: Versioned, wanted: Versioned): void {
  const name = workflowName(wanted.metadata);
  if (workflowUser(existing) === workflowUser(wanted) && workflowName(existing.metadata) === name) return;
  const message = `the object ${existing.metadata.name}, which ${nounOf(wanted)} '${name}' would have, is not that ${nounOf(wanted)}; delete it first`;
  throw new AppError('conflict', message, { reason: 'NameTaken' });
}

/** A forced content stays marked until another one comes: the controllers may not have looked at it yet. */
function forced({ metadata }: Versioned): boolean {
  return metadata.annotations?.[annotations.force] === 'true';
}

function merged<V extends Versioned>(existing: V, wanted: V, force: boolean): V {
  const { [annotations.force]: _, [annotations.given]: __, ...others } = existing.metadata.annotations ?? {};
  const all = { ...others, ...wanted.metadata.annotations, ...(force ? { [annotations.force]: 'true' } : {}) };
  const labels = { ...existing.metadata.labels, ...wanted.metadata.labels };
  return {
    ...existing,
    metadata: {
      ...existing.metadata,
      ...(Object.keys(all).length > 0 || existing.metadata.annotations ? { annotations: all } : {}),
      ...(Object.keys(labels).length > 0 || existing.metadata.labels ? { labels } : {}),
    },
    spec: wanted.spec,
  };
}

function conflict({ kind, metadata, spec }: Versioned, stored: Versioned['spec']): AppError {
  const what = `version ${spec.version} of ${nounOf({ kind })} '${workflowName(metadata)}' exists with other content`;
  const message = `${what}: ${changedFields(stored, spec)}`;
  return new AppError('conflict', message, { reason: 'VersionExists' });
}
