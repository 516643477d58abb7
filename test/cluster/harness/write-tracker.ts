import { apiPathOf, type Exchange, isLease, isWrite, verbOf } from './exchange.ts';

/** A write that was made on behalf of one execution. */
export interface AttributedWrite {
  /** The root execution: writes of children count for their starter. */
  readonly execution: string;
  /** The kind of the write: verb, resource, and which part of the execution it is about. */
  readonly kind: string;
}

/** Finds out for which execution a write is made. Stateful: learns pods and children from the writes that make them. */
interface WriteTracker {
  attribute(exchange: Exchange): AttributedWrite | undefined;
}

interface Meta {
  readonly name?: string;
  readonly generateName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[];
}

interface Body {
  readonly metadata?: Meta;
  readonly spec?: { readonly parent?: { readonly name: string } };
  readonly regarding?: { readonly name?: string };
  readonly reason?: string;
}

const slotLabels = ['state', 'visit', 'attempt', 'step'].map((part) => `windlass.dev/${part}`);

export function createWriteTracker(): WriteTracker {
  const rootOfObject = new Map<string, string>();
  const partOfObject = new Map<string, string>();
  const rootOf = (name: string | undefined): string | undefined =>
    name === undefined ? undefined : (rootOfObject.get(name) ?? name);

  /** Which execution's object this is, in the words of the write itself. */
  function ownerOf(body: Body, name: string | undefined): string | undefined {
    const owner = body.metadata?.ownerReferences?.find(({ kind }) => kind === 'WorkflowExecution')?.name;
    const label = body.metadata?.labels?.['windlass.dev/execution'];
    return rootOf(body.spec?.parent?.name ?? body.regarding?.name ?? owner ?? label ?? name);
  }

  function partOf(resource: string, body: Body, name: string): string {
    if (resource === 'events') return body.reason ?? '';
    if (resource === 'workflowexecutions') return rootOfObject.has(name) ? 'child' : 'root';
    const labels = body.metadata?.labels ?? {};
    return slotLabels.map((label) => labels[label] ?? '').join('/');
  }

  function learn(resource: string, body: Body, name: string, root: string): void {
    // Blobs and events have names of their own without references.
    if (resource === 'pods' || resource === 'workflowexecutions') {
      if (name !== root) rootOfObject.set(name, root);
      partOfObject.set(`${resource}/${name}`, partOf(resource, body, name));
    }
  }

  return {
    attribute(exchange) {
      const at = apiPathOf(exchange.path);
      if (at === undefined || !isWrite(exchange) || isLease(exchange)) return undefined;
      const body = bodyOf(exchange);
      const name = at.name ?? body.metadata?.name ?? '';
      const root = ownerOf(at.name === undefined || at.resource === 'events' ? body : {}, name);
      if (root === undefined || root === '') return undefined;
      const isCreate = verbOf(exchange) === 'create';
      if (isCreate) learn(at.resource, body, name, root);
      const part = partOfObject.get(`${at.resource}/${name}`) ?? partOf(at.resource, body, name);
      const kind = [verbOf(exchange), at.resource, at.subresource, part].filter(Boolean).join(' ');
      return { execution: root, kind };
    },
  };
}

function bodyOf(exchange: Exchange): Body {
  try {
    return JSON.parse(exchange.body.toString('utf8')) as Body;
  } catch {
    return {};
  }
}
