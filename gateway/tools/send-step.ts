import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { Credential } from '../../lib/credentials/index.ts';
import { type OpenApiIndex, originOf } from '../../lib/openapi-document/index.ts';
import type { SendStep } from '../../lib/tool-chain/run-tool-chain.ts';
import { type AnswerRoom, memoryOf } from '../../lib/tools/web/answer-room.ts';
import { type Upstream, UpstreamError } from '../../lib/upstream/index.ts';

interface Target {
  readonly api: ApiSpec;
  readonly index: OpenApiIndex;
  readonly credential: Credential;
  readonly tenant: string;
  readonly responseBytes: number;
  /** Room for large responses. */
  readonly room: AnswerRoom;
}

/** Sends steps to the operations of one API. Base URL and path are joined as they are (spec 3 §2.4). */
export function createSendStep(upstream: Pick<Upstream, 'send'>, target: Target): SendStep {
  const { api, index, credential, tenant, responseBytes, room } = target;
  return async ({ operationId, body, signal }) => {
    const operation = index.operations.get(operationId);
    if (operation === undefined)
      throw new UpstreamError('not_found', `the API has no operation ${operationId}`, 'NotFound');
    const { method, server, path } = operation;
    // An operation may name a server of its own, which the credential is not for.
    const isHome = originOf(server) === index.home;
    const held = room.of({ tenant, cost: memoryOf(responseBytes), signal });
    const request = {
      tenant,
      method: method.toUpperCase(),
      server,
      path: isHome ? withQuery(path, credential.query) : path,
      headers: { 'content-type': 'application/json', ...(isHome ? credential.headers : {}) },
      body,
      allowedNetworks: api.spec.allow_internal_addresses ?? [],
      responseBytes,
      grow: held.grow,
      signal,
    };
    try {
      const { status, body: bytes } = await upstream.send(request);
      return { status, body: bytes, secrets: credential.secrets, hasBody: method !== 'HEAD', held };
    } catch (error) {
      held[Symbol.dispose]();
      throw error;
    }
  };
}

function withQuery(path: string, query: Credential['query']): string {
  if (query === undefined) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${query.name}=${encodeURIComponent(query.value)}`;
}
