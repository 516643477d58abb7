import type { KubeList, KubeObject, KubeStatus, ObjectRef } from './objects.ts';
import type { Resource } from './resource.ts';

/** Bounds of one call. A call ends with an AppError of code `timeout` or `cancelled` when they strike. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds from the call to the end of the answer, retries included. Default 30,000. */
  readonly timeoutMs?: number;
  /** Asked before each sending of the request; what it throws ends the call with nothing sent. See `withFence`. */
  readonly guard?: () => void;
}

/** Selection of a list or watch. Without `namespace` a namespaced kind is read across the cluster. */
export interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListOptions extends CallOptions, Selection {
  /** Objects a page. */
  readonly limit?: number;
  /** Longest answer in bytes; a longer one is cut off, and the call ends with AppError `AnswerTooLarge`. */
  readonly answerBytes?: number;
  /** `metadata.continue` of the page before. */
  readonly continue?: string;
  /** Lower bound of freshness; `'0'` may be answered from the server's cache. */
  readonly resourceVersion?: string;
}

export interface WriteOptions extends CallOptions {
  readonly fieldManager?: string;
  /** Validate and answer, store nothing. */
  readonly dryRun?: boolean;
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Take fields over from other managers instead of failing with 409. */
  readonly force?: boolean;
}

type Propagation = 'Background' | 'Foreground' | 'Orphan';

export interface DeleteOptions extends CallOptions {
  /** Delete only this incarnation; another one under the name answers 409. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: Propagation;
  readonly gracePeriodSeconds?: number;
}

export interface WatchOptions extends Selection {
  /** Ends the stream quietly. */
  readonly signal?: AbortSignal;
  readonly resourceVersion?: string;
  readonly allowWatchBookmarks?: boolean;
  /** The server ends the stream after this many seconds. */
  readonly timeoutSeconds?: number;
  /** Asked with the metadata of a large object that was added or changed; true spares its reading (event `KNOWN`). */
  readonly isKnown?: (object: KubeObject) => boolean;
}

/**
 * An object of a stream; a BOOKMARK's object carries nothing but a resourceVersion. KNOWN: added or changed to a version that
 * `isKnown` of the options knows; all that is read of it is its metadata.
 */
export interface ObjectEvent<T extends KubeObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'KNOWN';
  readonly object: T;
}

/** The server gives up on the stream, most often with code 410. */
interface ErrorEvent {
  readonly type: 'ERROR';
  readonly object: KubeStatus;
}

export type WatchEvent<T extends KubeObject> = ObjectEvent<T> | ErrorEvent;

export interface LogOptions {
  /** Ends the stream quietly. */
  readonly signal?: AbortSignal;
  readonly container?: string;
  readonly follow?: boolean;
  /** Milliseconds until the answer begins. The stream itself has no time limit. Default 30,000. */
  readonly timeoutMs?: number;
}

export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
}

export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  readonly gitVersion: string;
}

export interface AccessQuestion {
  readonly verb: string;
  readonly resource: Resource;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

export interface AccessAnswer {
  readonly allowed: boolean;
  readonly reason?: string;
}

/** The answer to a TokenReview. */
export interface TokenAnswer {
  readonly isAuthenticated: boolean;
  /** Pod that a projected token is bound to. */
  readonly podUid?: string | undefined;
}

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'test' | 'move' | 'copy';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** Reading one kind and following its changes: all that a reflector needs. */
export interface ListWatchPort {
  /** One page. */
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>;
  /**
   * The raw stream of one watch request, from `resourceVersion` on. It ends when the server ends it or the signal
   * aborts, and throws when the connection breaks, a line is no JSON, or the answer is no 200. Never reconnects.
   */
  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
}

/**
 * The Kubernetes API. Failed calls throw KubeError (an answer that is no success) or AppError (`timeout`,
 * `cancelled`, `unavailable` when no answer came). Only what cannot be done twice by accident is repeated:
 * 429 with Retry-After on any verb, and GET after a broken connection. A 409 always surfaces.
 */
export interface KubeClient extends ListWatchPort {
  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T>;
  /** All pages as one list. A continue token that expires midway restarts the list once. */
  listAll<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** `apiVersion` and `kind` are filled in. The namespace is the object's own. */
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  /** The whole object; 409 when its `metadata.resourceVersion` is no longer the newest. */
  replace<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  replaceStatus<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  /** RFC 7396. A `metadata.resourceVersion` inside the patch makes it conditional. */
  mergePatch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: object,
    options?: WriteOptions,
  ): Promise<T>;
  /** Merges lists by the keys that Kubernetes gives them, such as owners by uid. Built-in kinds only. */
  strategicPatch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: object,
    options?: WriteOptions,
  ): Promise<T>;
  mergePatchStatus<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: object,
    options?: WriteOptions,
  ): Promise<T>;
  /** RFC 6902. */
  jsonPatch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    operations: readonly JsonPatchOperation[],
    options?: WriteOptions,
  ): Promise<T>;
  jsonPatchStatus<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    operations: readonly JsonPatchOperation[],
    options?: WriteOptions,
  ): Promise<T>;
  /** Server-side apply. */
  apply<T extends KubeObject>(resource: Resource<T>, object: T, options: ApplyOptions): Promise<T>;
  /** True when this call began the deletion, false when there was nothing to delete. */
  delete(resource: Resource, ref: ObjectRef, options?: DeleteOptions): Promise<boolean>;
  deleteCollection(resource: Resource, selection: Selection, options?: DeleteOptions): Promise<void>;
  /** Bytes of a container's log, as they come. */
  readLog(ref: ObjectRef, options?: LogOptions): AsyncIterable<Uint8Array>;
  /** The user as which the server sees us. */
  whoAmI(options?: CallOptions): Promise<UserInfo>;
  serverVersion(options?: CallOptions): Promise<ServerVersion>;
  /** Whether we ourselves may do this. */
  accessReview(question: AccessQuestion, options?: CallOptions): Promise<AccessAnswer>;
  /** The owner of a service account's token, where it is valid for one of these audiences. */
  reviewToken(token: string, audiences: readonly string[], options?: CallOptions): Promise<TokenAnswer>;
  /** The text of any GET path, such as `/readyz`. */
  getText(path: string, options?: CallOptions): Promise<string>;
  /** Closes idle connections and ends those in use. The client is useless afterwards. */
  close(): Promise<void>;
}
