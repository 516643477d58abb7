import type { KubeClient, KubeObject, ObjectRef, Resource, Selection, WatchEvent } from '../../../lib/kube/index.ts';

/** The kind and the part of the cluster that is followed. */
export interface Followed<T extends KubeObject> extends Selection {
  readonly resource: Resource<T>;
}

export interface WaitOptions {
  /** Milliseconds. Default 60,000. */
  readonly timeoutMs?: number;
  /** The awaited state, for the message of the error. */
  readonly what?: string;
}

/** Objects from a list and the watch after it: every object by `namespace/name`, the newest of each. */
export type View<T extends KubeObject> = ReadonlyMap<string, T>;

/**
 * Follows a selection by list and watch, without any sleep, until `done` gives something. `done` is called after the
 * list and after every event. Streams that end are opened again from a new list.
 */
export async function waitForView<T extends KubeObject, R>(
  kube: KubeClient,
  followed: Followed<T>,
  done: (view: View<T>) => R | undefined,
  { timeoutMs = 60_000, what = followed.resource.plural }: WaitOptions = {},
): Promise<R> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const view = new Map<string, T>();
  while (!deadline.aborted) {
    try {
      const found = await followOnce(kube, followed, { view, done, deadline });
      if (found !== undefined) return found;
    } catch (error) {
      // The API server may be down on purpose; a pause keeps this from spinning until it is back.
      if (!deadline.aborted) await pause(200);
      if (deadline.aborted) throw new Error(`gave up after ${timeoutMs} ms: ${what}`, { cause: error });
    }
  }
  throw new Error(`gave up after ${timeoutMs} ms: ${what}; last seen: ${summary(view)}`);
}

interface Following<T extends KubeObject, R> {
  readonly view: Map<string, T>;
  readonly done: (view: View<T>) => R | undefined;
  readonly deadline: AbortSignal;
}

async function followOnce<T extends KubeObject, R>(
  kube: KubeClient,
  { resource, ...selection }: Followed<T>,
  { view, done, deadline }: Following<T, R>,
): Promise<R | undefined> {
  const stop = new AbortController();
  try {
    const list = await kube.listAll(resource, { ...selection, signal: deadline });
    view.clear();
    for (const item of list.items) view.set(keyIn(item), item);
    const atOnce = done(view);
    if (atOnce !== undefined) return atOnce;
    const signal = AbortSignal.any([deadline, stop.signal]);
    const events = kube.watch(resource, { ...selection, resourceVersion: list.metadata.resourceVersion, signal });
    for await (const event of events) {
      if (!applyEvent(view, event)) return undefined;
      const found = done(view);
      if (found !== undefined) return found;
    }
    return undefined;
  } finally {
    stop.abort();
  }
}

/** False when the stream has to be opened anew. */
function applyEvent<T extends KubeObject>(view: Map<string, T>, event: WatchEvent<T>): boolean {
  if (event.type === 'ERROR') return false;
  if (event.type === 'DELETED') view.delete(keyIn(event.object));
  if (event.type === 'ADDED' || event.type === 'MODIFIED') view.set(keyIn(event.object), event.object);
  return true;
}

const keyIn = (object: KubeObject): string => `${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`;

const summary = (view: View<KubeObject>): string =>
  [...view.values()].map((object) => JSON.stringify(object).slice(0, 1_500)).join('\n') || 'nothing';

/** Names one object of a kind. */
interface Target<T extends KubeObject> extends ObjectRef {
  readonly resource: Resource<T>;
}

/** Waits until one object satisfies `done` and gives it back. */
export function waitForObject<T extends KubeObject>(
  kube: KubeClient,
  { resource, namespace, name }: Target<T>,
  done: (object: T) => boolean,
  options: WaitOptions = {},
): Promise<T> {
  const what = options.what ?? `${resource.kind} ${namespace ?? ''}/${name}`;
  const only = (view: View<T>): T | undefined => {
    const object = [...view.values()][0];
    return object !== undefined && done(object) ? object : undefined;
  };
  const followed = { resource, namespace, fieldSelector: `metadata.name=${name}` };
  return waitForView(kube, followed, only, { ...options, what });
}

/** Waits until nothing is left in a selection. */
export function waitForNone<T extends KubeObject>(
  kube: KubeClient,
  followed: Followed<T>,
  options: WaitOptions = {},
): Promise<true> {
  const what = options.what ?? `no ${followed.resource.plural} left in ${followed.namespace ?? 'any namespace'}`;
  return waitForView(kube, followed, (view) => (view.size === 0 ? true : undefined), { ...options, what });
}

/** For faults whose length is their meaning, such as an outage of a minute; never for waiting until something is so. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
