import { defineResource, type KubeClient, type KubeObject } from '../../../lib/kube/index.ts';
import { releaseNamespace } from './rendering.ts';

/** One act that a user may or may not do. */
export interface Access {
  readonly verb: string;
  readonly group?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

const reviews = defineResource<KubeObject & { spec: object; status?: { allowed: boolean } }>({
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
});

/** The API server's verdict on a user with the groups of a service account of the release. */
export function may(kube: KubeClient, user: string, access: Access): Promise<boolean> {
  const own = `system:serviceaccounts:${releaseNamespace}`;
  const groups = ['system:authenticated', 'system:serviceaccounts', own];
  return mayDo(kube, { user, groups }, access);
}

interface Subject {
  readonly user: string;
  readonly groups?: readonly string[];
}

/** The API server's verdict on a user. */
export async function mayDo(kube: KubeClient, subject: Subject, { group = '', ...access }: Access): Promise<boolean> {
  const spec = { ...subject, resourceAttributes: { group, ...access } };
  const { status } = await kube.create(reviews, { metadata: {}, spec });
  return status?.allowed ?? false;
}

/** "verb group/resource/subresource in namespace"; `-` is the whole cluster, `.` the core group. */
export function accessOf(text: string): Access {
  const [verb = '', what = '', , where = '-'] = text.split(' ');
  const [group = '', resource = '', subresource] = what.split('/');
  const scope = where === '-' ? {} : { namespace: where };
  return {
    verb,
    group: group === '.' ? '' : group,
    resource,
    ...(subresource === undefined ? {} : { subresource }),
    ...scope,
  };
}
