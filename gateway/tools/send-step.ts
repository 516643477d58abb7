import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import { type Credential, noCredential } from '../../lib/credentials/index.ts';
import { hasReason } from '../../lib/errors.ts';
import { type OpenApiIndex, originOf } from '../../lib/openapi-document/index.ts';
import type { SendStep } from '../../lib/tool-chain/run-tool-chain.ts';
import type { AnswerRoom } from '../../lib/tools/web/answer-room.ts';
import { type Upstream, UpstreamError } from '../../lib/upstream/index.ts';

interface Target {
  readonly api: ApiSpec;
  readonly index: OpenApiIndex;
  readonly credential: Credential;
  /** Another credential in the place of one that the API refused. @throws AppError CredentialFailed */
  readonly renew?: () => Promise<Credential>;
  readonly tenant: string;
  readonly responseBytes: number;
  /** Room for large responses. */
  readonly room: AnswerRoom;
}

/**
 * Sends steps to the operations of one API. Base URL and path are joined as they are (spec 3 §2.4). A request behind one whose
 * credential was refused has another credential, where there is one.
 */
export function createSendStep(upstream: Pick<Upstream, 'send'>, target: Target): SendStep {
  const { api, index, tenant, responseBytes, room, renew } = target;
  let { credential } = target;
  let isRefused = false;
  return async ({ operationId, body, signal }) => {
    if (isRefused && renew !== undefined) credential = await renewed(renew);
    isRefused = false;
    const operation = index.operations.get(operationId);
    if (operation === undefined)
      throw new UpstreamError('not_found', `the API has no operation ${operationId}`, 'NotFound');
    const { server, path } = operation;
    const method = operation.method.toUpperCase();
    // An operation may name a server of its own, which the credential is not for.
    const isHome = originOf(server) === index.home;
    // Its bytes alone: of one response at a time there are a text and values.
    const held = room.of({ tenant, cost: responseBytes, perByte: 1, signal });
    const sent = isHome ? credential : noCredential;
    const about = { tenant, server, allowedNetworks: api.spec.allow_internal_addresses ?? [], responseBytes };
    try {
      const { status, body: bytes } = await upstream.send({
        ...about,
        method,
        path: withQuery(path, sent.query),
        headers: { 'content-type': 'application/json', ...sent.headers },
        body,
        grow: held.grow,
        signal,
      });
      isRefused = status === 401 && sent.refused?.() === true;
      return { status, body: bytes, secrets: credential.secrets, hasBody: method !== 'HEAD', held };
    } catch (error) {
      held[Symbol.dispose]();
      throw error;
    }
  };
}

/** Ends the step as an upstream does that is away. */
async function renewed(renew: () => Promise<Credential>): Promise<Credential> {
  try {
    return await renew();
  } catch (error) {
    if (!hasReason(error, 'CredentialFailed')) throw error;
    throw new UpstreamError('unavailable', error.message, 'CredentialFailed');
  }
}

function withQuery(path: string, query: Credential['query']): string {
  if (query === undefined) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${query.name}=${encodeURIComponent(query.value)}`;
}
