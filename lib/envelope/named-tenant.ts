import { isJsonObject } from '../json-object.ts';
import { EnvelopeError } from './envelope-error.ts';
import type { SealSession } from './sessions.ts';

/** Names and values of a request, names in lower case. */
type Headers = readonly (readonly [name: string, value: string])[];

/** A tenant that a request names beside its proof, and where. An empty one is none. */
export interface NamedTenant {
  readonly at: string;
  readonly tenant: string;
  /** Ends the advice of a refusal: another remedy. */
  readonly orElse?: string;
}

/** The tenant that headers name; one that is sent several times is none. */
export const namedTenant = (headers: Headers): NamedTenant => ({
  at: 'X-Tenant-Id',
  tenant: headers.flatMap(([name, value]) => (name === 'x-tenant-id' ? value : [])).join(),
});

/**
 * A proved call is for the tenant of its session, which the call may repeat: the first other one that it names refuses it. A call
 * that is meant for another tenant is not made in this one (spec 3 §5.4, ADR 0151). A session of the bypass has no tenant.
 * @throws EnvelopeError `tenant_mismatch`
 */
export function requireNamedTenant(session: SealSession, ...named: readonly NamedTenant[]): void {
  const foreign = session.tenant === '' ? undefined : named.find((one) => isForeign(session, one));
  if (foreign === undefined) return;
  const message = `${foreign.at} names another tenant than the session; leave it out${foreign.orElse ?? ''}`;
  throw new EnvelopeError('tenant_mismatch', message, { session, asserted: foreign.tenant });
}

const isForeign = ({ tenant: own }: SealSession, { tenant }: NamedTenant): boolean => tenant !== '' && tenant !== own;

/**
 * The tenant that arguments name in `tenant_id`. Where the schema of a tool has a property of this name, the argument is the
 * tool's own business and names none.
 */
export function tenantInArguments(args: unknown, schema: unknown): NamedTenant {
  const tenant = isJsonObject(args) && Object.hasOwn(args, 'tenant_id') ? args['tenant_id'] : '';
  const isOfTool = isJsonObject(schema) && isJsonObject(schema['properties']) && 'tenant_id' in schema['properties'];
  const orElse = ", or list it in properties of the tool's input_schema where it is a tenant of the tool";
  return { at: 'arguments.tenant_id', tenant: typeof tenant === 'string' && !isOfTool ? tenant : '', orElse };
}
