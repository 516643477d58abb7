import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import { limits } from '../../crds/limits.ts';
import { cutMiddle, cutText } from '../cut-text.ts';
import { checkReferences } from './check-references.ts';
import { createIndexWeight } from './index-weight.ts';
import { type JsonMap, mapOf, asText, valueAt } from './json-parts.ts';
import { openApiLimits } from './limits.ts';
import { type OpenApiIndex, type OpenApiReading, type UpstreamOperation, originOf } from './operation.ts';
import { requiredParameters } from './parameters.ts';
import { parseText } from './parse-text.ts';
import { checkServer, firstServer, type ServerUrl } from './server-url.ts';

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

/**
 * Reads an OpenAPI 3.0 or 3.1 document, JSON or YAML. `serverUrl` takes the place of all servers of the document.
 * Pure, and bounded by `openApiLimits`; a text of megabytes still keeps its thread for seconds.
 */
export function readOpenApi(text: string, serverUrl?: string): OpenApiReading {
  const parsed = parseText(text);
  if ('problems' in parsed) return refused(parsed.problems);
  const document = mapOf(parsed.value);
  if (document === undefined)
    return refused([errorAt([], 'document', 'must be the text of an OpenAPI document, an object in JSON or YAML')]);
  const version = versionProblem(document);
  if (version !== undefined) return refused([version]);
  const reader = new DocumentReader(document, serverUrl);
  reader.read();
  const problems = [...reader.problems, ...checkReferences(document)];
  return problems.length > 0 ? refused(problems) : { problems, index: reader.index() };
}

const tooHeavy =
  `the operation ids, paths and servers take more than ${openApiLimits.indexBytes} bytes of memory; ` +
  'shorten them, or register fewer operations';

const refused = (problems: readonly Problem[]): OpenApiReading => ({
  problems: problems.slice(0, openApiLimits.problems).map(cutProblem),
});

function cutProblem(problem: Problem): Problem {
  const { problemLength: length } = openApiLimits;
  const { path, at, message } = problem;
  const keys = at.map((key) => (typeof key === 'number' ? key : cutText(key, length)));
  return { ...problem, path: cutMiddle(path, length), at: keys, message: cutMiddle(message, length) };
}

function versionProblem(document: JsonMap): Problem | undefined {
  if (document['swagger'] !== undefined) {
    return errorAt(['swagger'], 'version', 'Swagger 2.0 is not read; convert the document to OpenAPI 3');
  }
  const version = asText(document['openapi']);
  if (version !== undefined && /^3\.[01]\.\d{1,9}$/.test(version)) return undefined;
  return errorAt(['openapi'], 'version', 'must be a text as 3.0.3 or 3.1.0: OpenAPI 3.0 and 3.1 are read');
}

class DocumentReader {
  readonly problems: Problem[] = [];
  readonly #document: JsonMap;
  readonly #given: ServerUrl | undefined;
  /** That of the document, for operations that name none. */
  readonly #root: ServerUrl | undefined;
  readonly #operations = new Map<string, UpstreamOperation>();
  readonly #weight = createIndexWeight();
  /** Where each operationId was seen first. */
  readonly #places = new Map<string, string>();

  constructor(document: JsonMap, serverUrl: string | undefined) {
    this.#document = document;
    this.#root = firstServer(document, []);
    this.#given = serverUrl === undefined ? undefined : checkServer(serverUrl, ['spec', 'server_url']);
  }

  read(): void {
    if (this.#given !== undefined && 'problem' in this.#given) this.problems.push(this.#given.problem);
    if (asText(mapOf(this.#document['info'])?.['title']) === undefined) {
      this.problems.push(errorAt(['info', 'title'], 'info', 'must be a text'));
    }
    const paths = mapOf(this.#document['paths']);
    if (paths === undefined) this.problems.push(errorAt(['paths'], 'paths', 'must be an object with the operations'));
    for (const [path, item] of Object.entries(paths ?? {})) {
      if (!path.startsWith('x-')) this.#readPath(path, item);
      if (this.#isFull()) return;
    }
  }

  index(): OpenApiIndex {
    const root = this.#given ?? this.#root;
    const server = root !== undefined && 'url' in root ? root.url : undefined;
    const home = server === undefined ? this.#onlyOrigin() : originOf(server);
    return {
      openapi: asText(this.#document['openapi']) ?? '',
      title: (asText(mapOf(this.#document['info'])?.['title']) ?? '').slice(0, limits.operationIdLength),
      ...(server !== undefined && { server }),
      ...(home !== undefined && { home }),
      operations: this.#operations,
    };
  }

  #onlyOrigin(): string | undefined {
    const servers = new Set([...this.#operations.values()].map(({ server }) => server));
    const [origin, ...more] = new Set([...servers].map(originOf));
    return more.length === 0 ? origin : undefined;
  }

  #isFull(): boolean {
    if (this.#operations.size > openApiLimits.operations) {
      this.problems.push(errorAt(['paths'], 'operations', `has more than ${openApiLimits.operations} operations`));
    }
    const isHeavy = this.#weight.bytes > openApiLimits.indexBytes;
    if (isHeavy) this.problems.push(errorAt(['paths'], 'too_large', tooHeavy));
    return (
      isHeavy || this.problems.length >= openApiLimits.problems || this.#operations.size > openApiLimits.operations
    );
  }

  #readPath(path: string, given: unknown): void {
    const at: Place = ['paths', path];
    if (!path.startsWith('/') || path.length > openApiLimits.pathLength || /[\s?#\\]/.test(path)) {
      const text = `a path must begin with / and hold no blank, ?, # or \\, with at most ${openApiLimits.pathLength} characters`;
      this.problems.push(errorAt(at, 'path', text));
      return;
    }
    const item = this.#resolved(given, at);
    if (item === undefined) return;
    for (const method of methods) {
      const operation = mapOf(item[method]);
      if (operation !== undefined) this.#readOperation({ path, method, item, operation });
      else if (item[method] !== undefined) {
        this.problems.push(errorAt([...at, method], 'operation', 'must be an object'));
      }
    }
  }

  /** A path item, behind its local references. */
  #resolved(given: unknown, at: Place): JsonMap | undefined {
    let item = mapOf(given);
    for (let hops = 0; item !== undefined; hops += 1) {
      const ref = item['$ref'];
      if (ref === undefined) return item;
      if (typeof ref !== 'string' || !ref.startsWith('#/') || hops === openApiLimits.refHops) break;
      item = mapOf(valueAt(this.#document, ref));
    }
    this.problems.push(errorAt(at, 'path', 'must be an object, or a $ref to one in the document'));
    return undefined;
  }

  #readOperation(found: {
    readonly path: string;
    readonly method: string;
    readonly item: JsonMap;
    readonly operation: JsonMap;
  }): void {
    const { path, method, item, operation } = found;
    const at: Place = ['paths', path, method];
    const id = operation['operationId'];
    if (id === undefined) return;
    const fault = this.#idFault(id, `${method.toUpperCase()} ${path}`);
    if (typeof id !== 'string' || fault !== undefined) {
      this.problems.push(errorAt([...at, 'operationId'], 'operation_id', fault ?? 'must be a text'));
      return;
    }
    const server = this.#given ?? firstServer(operation, at) ?? firstServer(item, ['paths', path]) ?? this.#root;
    if (server === undefined) {
      this.#once(errorAt(['servers'], 'server', 'the document names no server; set spec.server_url'));
    } else if ('problem' in server) this.#once(server.problem);
    else {
      const needs = requiredParameters(this.#document, [item, operation]);
      this.#add(id, { method: method.toUpperCase(), path, server: server.url, needs });
    }
  }

  #add(id: string, { needs = [], ...sent }: UpstreamOperation): void {
    const operation = needs.length === 0 ? sent : { ...sent, needs };
    this.#operations.set(id, operation);
    this.#weight.add(id, operation);
  }

  #idFault(id: unknown, place: string): string | undefined {
    if (typeof id !== 'string' || id === '') return 'must be a text';
    if (id.length > limits.operationIdLength) return `must have at most ${limits.operationIdLength} characters`;
    const before = this.#places.get(id);
    if (before !== undefined) return `'${id}' is the operationId of ${before} already`;
    this.#places.set(id, place);
    return undefined;
  }

  /** The server of the document is the same problem for each of its operations. */
  #once(problem: Problem): void {
    if (!this.problems.some(({ path, message }) => path === problem.path && message === problem.message)) {
      this.problems.push(problem);
    }
  }
}
