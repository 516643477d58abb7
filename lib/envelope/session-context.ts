import { similarNamesMax, meantBy } from '../../crds/similar-name.ts';
import { defaultContext, findSecurityContext } from '../agent/security-context.ts';
import { invalidField } from '../http/request-errors.ts';
import { securityContexts } from '../kinds.ts';
import { isObjectName, type KubeClient, listPages, metadataOf } from '../kube/index.ts';

type Contexts = Pick<KubeClient, 'get' | 'list'>;

/**
 * A session, or a token for one, is for a security context that is there: a slip is heard of before the session is used.
 * One that is deleted later is refused at the call. `default` needs no object.
 * @throws HttpError 400 with the name that was probably meant
 */
export async function requireSessionContext(kube: Contexts, name: string, places: readonly string[]): Promise<void> {
  if (name === defaultContext || (await isThere(kube, name, places))) return;
  const meant = meantBy(name, await namesIn(kube, places));
  const problem = `names no security context of the tenant, and no shared one: ${name.slice(0, 128)}${meant}`;
  const end = meant === '' ? '; GET /v1/security-contexts of the tool gateway lists them' : '';
  throw invalidField('body.security_context', `${problem}${end}`);
}

async function isThere(kube: Contexts, name: string, places: readonly string[]): Promise<boolean> {
  return isObjectName(name) && (await findSecurityContext(kube, name, places)) !== undefined;
}

/** As many names as are compared, those of the tenant first. */
async function namesIn(kube: Contexts, places: readonly string[]): Promise<string[]> {
  const names: string[] = [];
  for (const namespace of places) {
    for await (const { items } of listPages((paged) => kube.list(metadataOf(securityContexts), paged), { namespace })) {
      names.push(...items.map(({ metadata }) => metadata.name ?? ''));
      if (names.length >= similarNamesMax) return names;
    }
  }
  return names;
}
