import type { KubeClient } from './client.ts';

/** The calls of a client as one plain object, so that a wrapper spreads them and replaces the few that it changes. */
export function callsOf(client: KubeClient): KubeClient {
  return {
    list: (resource, options) => client.list(resource, options),
    listAll: (resource, options) => client.listAll(resource, options),
    watch: (resource, options) => client.watch(resource, options),
    get: (resource, ref, options) => client.get(resource, ref, options),
    readLog: (ref, options) => client.readLog(ref, options),
    whoAmI: (options) => client.whoAmI(options),
    serverVersion: (options) => client.serverVersion(options),
    accessReview: (question, options) => client.accessReview(question, options),
    reviewToken: (token, audiences, options) => client.reviewToken(token, audiences, options),
    getText: (path, options) => client.getText(path, options),
    close: () => client.close(),
    create: (resource, object, options) => client.create(resource, object, options),
    replace: (resource, object, options) => client.replace(resource, object, options),
    replaceStatus: (resource, object, options) => client.replaceStatus(resource, object, options),
    mergePatch: (resource, ref, patch, options) => client.mergePatch(resource, ref, patch, options),
    strategicPatch: (resource, ref, patch, options) => client.strategicPatch(resource, ref, patch, options),
    mergePatchStatus: (resource, ref, patch, options) => client.mergePatchStatus(resource, ref, patch, options),
    jsonPatch: (resource, ref, operations, options) => client.jsonPatch(resource, ref, operations, options),
    jsonPatchStatus: (resource, ref, operations, options) => client.jsonPatchStatus(resource, ref, operations, options),
    apply: (resource, object, options) => client.apply(resource, object, options),
    delete: (resource, ref, options) => client.delete(resource, ref, options),
    deleteCollection: (resource, selection, options) => client.deleteCollection(resource, selection, options),
  };
}
