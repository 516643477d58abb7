import type { AccessAnswer, AccessQuestion, CallOptions, ServerVersion, TokenAnswer, UserInfo } from './client.ts';
import type { Call, Transport } from './transport.ts';

/** Questions to the API server that are asked by creating an object which is never stored. */

interface SelfSubjectReview {
  readonly status?: { readonly userInfo?: Partial<UserInfo> };
}

interface SelfSubjectAccessReview {
  readonly status?: Partial<AccessAnswer>;
}

/** See `KubeClient.whoAmI`. */
export async function askWhoAmI(transport: Transport, options: CallOptions = {}): Promise<UserInfo> {
  const review = await ask<SelfSubjectReview>(transport, options, {
    resource: 'selfsubjectreviews.authentication.k8s.io',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  });
  const user = review.status?.userInfo;
  return { username: user?.username ?? '', uid: user?.uid, groups: user?.groups ?? [] };
}

/** See `KubeClient.accessReview`. */
export async function askAccess(
  transport: Transport,
  question: AccessQuestion,
  options: CallOptions = {},
): Promise<AccessAnswer> {
  const { verb, namespace, name, subresource } = question;
  const { group, version, plural } = question.resource;
  const resourceAttributes = { verb, namespace, name, subresource, group, version, resource: plural };
  const review = await ask<SelfSubjectAccessReview>(transport, options, {
    resource: 'selfsubjectaccessreviews.authorization.k8s.io',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } },
  });
  return { allowed: review.status?.allowed === true, reason: review.status?.reason };
}

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: {
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}

/** See `KubeClient.reviewToken`. */
export async function askTokenReview(
  transport: Transport,
  token: string,
  audiences: readonly string[],
  options: CallOptions = {},
): Promise<TokenAnswer> {
  const { status } = await ask<TokenReview>(transport, options, {
    resource: 'tokenreviews.authentication.k8s.io',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, audiences } },
  });
  const extra = status?.user?.extra;
  return {
    isAuthenticated: status?.authenticated === true,
    podUid: extra?.['authentication.kubernetes.io/pod-uid']?.[0],
  };
}

/** See `KubeClient.serverVersion`. Vendors append letters to the minor version (`30+`). */
export async function askVersion(transport: Transport, options: CallOptions = {}): Promise<ServerVersion> {
  const path = '/version';
  const { signal, timeoutMs } = options;
  const text = await transport.send({
    verb: 'get',
    resource: 'nonresource',
    object: path,
    method: 'GET',
    path,
    signal,
    timeoutMs,
  });
  const { major, minor, gitVersion } = JSON.parse(text) as { major: string; minor: string; gitVersion: string };
  return { major: Number.parseInt(major, 10), minor: Number.parseInt(minor, 10), gitVersion };
}

async function ask<T>(
  transport: Transport,
  { signal, timeoutMs }: CallOptions,
  call: Pick<Call, 'resource' | 'path' | 'body'>,
): Promise<T> {
  return JSON.parse(await transport.send({ ...call, verb: 'create', method: 'POST', signal, timeoutMs })) as T;
}
