import { AppError } from '../errors.ts';
import type {
  AccessAnswer,
  AccessQuestion,
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  JsonPatchOperation,
  KubeClient,
  ListOptions,
  LogOptions,
  Selection,
  ServerVersion,
  TokenAnswer,
  UserInfo,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.ts';
import { isAbsent, isGone } from './kube-error.ts';
import { listPages } from './list-pages.ts';
import { acceptOf, patchTypes } from './media-types.ts';
import type { KubeList, KubeObject, ObjectRef } from './objects.ts';
import { apiVersionOf, labelOf, leases, namespaces, pathOf, type Resource } from './resource.ts';
import { askAccess, askTokenReview, askVersion, askWhoAmI } from './reviews.ts';
import { readLogStream, readWatchStream } from './streams.ts';
import { type Call, createTransport, type Transport, type TransportDeps, type TransportOptions } from './transport.ts';

/** The client over HTTP/1.1: one pool of connections for short requests, one for watches and logs. */
export function createKubeClient(deps: TransportDeps, options: TransportOptions = {}): KubeClient {
  return new HttpKubeClient(createTransport(deps, options));
}

/** Parts of a write besides its object: its subresource and method. */
interface Write {
  readonly verb: string;
  readonly method: Call['method'];
  readonly ref: Partial<ObjectRef>;
  readonly subresource?: string;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly force?: boolean;
}

class HttpKubeClient implements KubeClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T> {
    return this.#call<T>(resource, { verb: 'get', method: 'GET', ref }, options);
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const { namespace, labelSelector, fieldSelector, limit, resourceVersion, answerBytes } = options;
    const text = await this.#transport.send({
      ...callBounds(options),
      verb: 'list',
      resource: labelOf(resource),
      object: namespace,
      namespace,
      method: 'GET',
      path: pathOf(resource, { namespace }),
      query: { labelSelector, fieldSelector, limit, continue: options.continue, resourceVersion },
      accept: acceptOf(resource, 'list'),
      answerBytes,
    });
    const list = parseAs<KubeList<T>>(text);
    return { metadata: list.metadata, items: list.items ?? [] };
  }

  async listAll<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    try {
      return await this.#listPages(resource, options);
    } catch (error) {
      if (!isGone(error)) throw error;
      return this.#listPages(resource, options);
    }
  }

  async create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T> {
    const { namespace, name } = object.metadata;
    if (resource.namespaced && !namespace) throw new TypeError(`${resource.kind} ${name ?? ''} needs a namespace`);
    return this.#call<T>(
      resource,
      { verb: 'create', method: 'POST', ref: { namespace }, body: typed(resource, object) },
      options,
    );
  }

  async replace<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T> {
    return this.#call<T>(resource, putOf(resource, object), options);
  }

  async replaceStatus<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T> {
    return this.#call<T>(resource, { ...putOf(resource, object), subresource: 'status' }, options);
  }

  async mergePatch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: object,
    options?: WriteOptions,
  ): Promise<T> {
    return this.#call<T>(resource, patchOf(ref, patch, patchTypes.merge), options);
  }

  async strategicPatch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: object,
    options?: WriteOptions,
  ): Promise<T> {
    return this.#call<T>(resource, patchOf(ref, patch, patchTypes.strategic), options);
  }

  async mergePatchStatus<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: object,
    options?: WriteOptions,
  ): Promise<T> {
    return this.#call<T>(resource, { ...patchOf(ref, patch, patchTypes.merge), subresource: 'status' }, options);
  }

  async jsonPatch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    operations: readonly JsonPatchOperation[],
    options?: WriteOptions,
  ): Promise<T> {
    return this.#call<T>(resource, patchOf(ref, operations, patchTypes.json), options);
  }

  async jsonPatchStatus<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    operations: readonly JsonPatchOperation[],
    options?: WriteOptions,
  ): Promise<T> {
    return this.#call<T>(resource, { ...patchOf(ref, operations, patchTypes.json), subresource: 'status' }, options);
  }

  async apply<T extends KubeObject>(resource: Resource<T>, object: T, options: ApplyOptions): Promise<T> {
    const write = patchOf(refOf(object), typed(resource, object), patchTypes.apply);
    return this.#call<T>(resource, { ...write, verb: 'apply', force: options.force }, options);
  }

  async delete(resource: Resource, ref: ObjectRef, options: DeleteOptions = {}): Promise<boolean> {
    try {
      await this.#call(resource, { verb: 'delete', method: 'DELETE', ref, body: deletionOf(options) }, options);
      return true;
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  }

  async deleteCollection(resource: Resource, selection: Selection, options: DeleteOptions = {}): Promise<void> {
    const { namespace, labelSelector, fieldSelector } = selection;
    await this.#transport.send({
      ...callBounds(options),
      verb: 'deletecollection',
      resource: labelOf(resource),
      object: namespace,
      namespace,
      method: 'DELETE',
      path: pathOf(resource, { namespace }),
      query: { labelSelector, fieldSelector },
      body: deletionOf(options),
    });
  }

  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    return readWatchStream<T>(this.#transport, { resource, label: labelOf(resource) }, options);
  }

  readLog(ref: ObjectRef, options: LogOptions = {}): AsyncIterable<Uint8Array> {
    return readLogStream(this.#transport, ref, options);
  }

  whoAmI(options?: CallOptions): Promise<UserInfo> {
    return askWhoAmI(this.#transport, options);
  }

  serverVersion(options?: CallOptions): Promise<ServerVersion> {
    return askVersion(this.#transport, options);
  }

  accessReview(question: AccessQuestion, options?: CallOptions): Promise<AccessAnswer> {
    return askAccess(this.#transport, question, options);
  }

  reviewToken(token: string, audiences: readonly string[], options?: CallOptions): Promise<TokenAnswer> {
    return askTokenReview(this.#transport, token, audiences, options);
  }

  getText(path: string, options: CallOptions = {}): Promise<string> {
    return this.#transport.send({
      ...callBounds(options),
      verb: 'get',
      resource: 'nonresource',
      object: path,
      method: 'GET',
      path,
    });
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async #listPages<T extends KubeObject>(resource: Resource<T>, options: ListOptions): Promise<KubeList<T>> {
    const items: T[] = [];
    let metadata: KubeList<T>['metadata'] = {};
    for await (const page of listPages<T>((paged) => this.list(resource, paged), options)) {
      items.push(...page.items);
      metadata = page.metadata;
    }
    return { metadata, items };
  }

  async #call<T>(resource: Resource, write: Write, options: WriteOptions = {}): Promise<T> {
    const { verb, method, ref, subresource, body, contentType, force } = write;
    const text = await this.#transport.send({
      ...callBounds(options),
      verb,
      resource: labelOf(resource, subresource),
      object: [ref.namespace, ref.name ?? nameOf(body)].filter(Boolean).join('/'),
      namespace: ref.namespace ?? ownNamespaceOf(resource, ref),
      isBookkeeping: subresource === 'status' || resource.plural === leases.plural,
      method,
      path: pathOf(resource, ref, subresource),
      query: { fieldManager: options.fieldManager, dryRun: options.dryRun ? 'All' : undefined, force },
      body,
      contentType,
      accept: acceptOf(resource, 'object'),
    });
    return parseAs<T>(text);
  }
}

function callBounds({ signal, timeoutMs, guard }: CallOptions): Pick<Call, 'signal' | 'timeoutMs' | 'guard'> {
  return { signal, timeoutMs, guard };
}

function refOf(object: KubeObject): ObjectRef {
  const { namespace, name } = object.metadata;
  if (name === undefined) throw new TypeError('the object has no metadata.name');
  return { namespace, name };
}

/** A namespace by itself is its tenant's as well. */
function ownNamespaceOf(resource: Resource, { name }: Partial<ObjectRef>): string | undefined {
  return resource.plural === namespaces.plural ? name : undefined;
}

/** The name a create asks for; only for messages. */
function nameOf(body: unknown): string | undefined {
  return (body as Partial<KubeObject> | undefined)?.metadata?.name;
}

function typed(resource: Resource, object: KubeObject): KubeObject {
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}

function putOf(resource: Resource, object: KubeObject): Write {
  return { verb: 'update', method: 'PUT', ref: refOf(object), body: typed(resource, object) };
}

function patchOf(ref: ObjectRef, body: unknown, contentType: string): Write {
  return { verb: 'patch', method: 'PATCH', ref, body, contentType };
}

function deletionOf({ uid, resourceVersion, propagation, gracePeriodSeconds }: DeleteOptions): object {
  const preconditions = uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
  return { kind: 'DeleteOptions', apiVersion: 'v1', preconditions, propagationPolicy: propagation, gracePeriodSeconds };
}

/** The only cast between the wire and our types: the server validates what it stores. */
function parseAs<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new AppError('unavailable', 'the API server did not answer with JSON', {
      reason: 'Garbled',
      cause,
    });
  }
}
