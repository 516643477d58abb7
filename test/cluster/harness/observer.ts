import type { KubeClient, KubeObject } from '../../../lib/kube/index.ts';
import type { Followed, View, WaitOptions } from './wait.ts';

/** A selection that is watched from one moment on, for measuring: no list delays the sight of a change. */
export interface Observer<T extends KubeObject> {
  readonly view: View<T>;
  /** MODIFIED events by `namespace/name` since the start. */
  readonly changes: ReadonlyMap<string, number>;
  /** Resolves at the event whose object makes `done` give something; first asked without any. One caller at a time. */
  until<R>(done: (view: View<T>, changed?: T) => R | undefined, options?: WaitOptions): Promise<R>;
  stop(): Promise<void>;
}

/** Lists, then watches until `stop`. A broken stream makes `until` reject: a measurement must not hide it. */
export async function observe<T extends KubeObject>(
  kube: KubeClient,
  { resource, ...selection }: Followed<T>,
): Promise<Observer<T>> {
  const view = new Map<string, T>();
  const changes = new Map<string, number>();
  const stop = new AbortController();
  let check: (changed?: T) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const keyIn = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
  const list = await kube.listAll(resource, selection);
  for (const item of list.items) view.set(keyIn(item), item);
  let resourceVersion = list.metadata.resourceVersion;
  const follow = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const options = { ...selection, resourceVersion, signal: stop.signal, allowWatchBookmarks: true };
      for await (const event of kube.watch(resource, options)) {
        if (event.type === 'ERROR') throw new Error(event.object.message);
        resourceVersion = event.object.metadata.resourceVersion;
        if (event.type === 'BOOKMARK') continue;
        const key = keyIn(event.object);
        if (event.type === 'DELETED') view.delete(key);
        else view.set(key, event.object);
        if (event.type === 'MODIFIED') changes.set(key, (changes.get(key) ?? 0) + 1);
        check(event.object);
      }
    }
  };
  let broken: { readonly error: unknown } | undefined;
  const following = follow().catch((error: unknown) => {
    broken = { error };
    fail(error);
  });
  return {
    view,
    changes,
    until(done, { timeoutMs = 300_000, what = resource.plural } = {}) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => fail(new Error(`gave up after ${timeoutMs} ms: ${what}`)), timeoutMs);
        const settle = (): void => {
          clearTimeout(timer);
          check = () => undefined;
          fail = () => undefined;
        };
        fail = (error) => {
          settle();
          reject(error);
        };
        check = (changed) => {
          try {
            const found = done(view, changed);
            if (found === undefined) return;
            settle();
            resolve(found);
          } catch (error) {
            fail(error);
          }
        };
        if (broken === undefined) check();
        else fail(broken.error);
      });
    },
    async stop() {
      stop.abort();
      await following;
    },
  };
}
