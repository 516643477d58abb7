import { callsOf } from './calls-of.ts';
import type { CallOptions, KubeClient } from './client.ts';

/**
 * The same client, whose writes first ask `guard`, which throws when this process may no longer write. It is asked
 * when the call is made and again with the request next in line on a live connection, repetitions included, directly
 * before the first byte is written. Reads are not asked.
 *
 * No check inside a process can prevent this: stopped between that moment and the kernel taking the bytes, it sends
 * that one request when it wakes. One, because nothing else runs in between. Such a late write must be harmless by
 * itself: status patches carry the resourceVersion they were decided on, creates have deterministic names, deletes
 * carry the uid. To refuse it altogether takes the server, by an admission policy that compares the Lease's holder
 * with the pod that the request's token is bound to.
 */
export function withFence(client: KubeClient, guard: () => void): KubeClient {
  const fenced = <O extends CallOptions>(options: O | undefined): O & CallOptions => {
    const { guard: inner } = options ?? {};
    const both = (): void => {
      guard();
      inner?.();
    };
    return { ...(options as O), guard: both };
  };
  return {
    ...callsOf(client),
    create: (resource, object, options) => client.create(resource, object, fenced(options)),
    replace: (resource, object, options) => client.replace(resource, object, fenced(options)),
    replaceStatus: (resource, object, options) => client.replaceStatus(resource, object, fenced(options)),
    mergePatch: (resource, ref, patch, options) => client.mergePatch(resource, ref, patch, fenced(options)),
    strategicPatch: (resource, ref, patch, options) => client.strategicPatch(resource, ref, patch, fenced(options)),
    mergePatchStatus: (resource, ref, patch, options) => client.mergePatchStatus(resource, ref, patch, fenced(options)),
    jsonPatch: (resource, ref, operations, options) => client.jsonPatch(resource, ref, operations, fenced(options)),
    jsonPatchStatus: (resource, ref, operations, options) =>
      client.jsonPatchStatus(resource, ref, operations, fenced(options)),
    apply: (resource, object, options) => client.apply(resource, object, fenced(options)),
    delete: (resource, ref, options) => client.delete(resource, ref, fenced(options)),
    deleteCollection: (resource, selection, options) => client.deleteCollection(resource, selection, fenced(options)),
  };
}
