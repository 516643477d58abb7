import type { ApiSpecSpec } from '../../crds/schema/api-spec.ts';
import type { OpenApiIndex, UpstreamOperation } from '../openapi-document/index.ts';

type Credentials = Pick<ApiSpecSpec, 'credentials'>;

/**
 * Why the upstream gets an operation without a parameter that it needs, if so: a step sends its path as written, and no
 * query and no header but those of credentials (requirements GW-WF-24, GW-WF-25).
 */
export function unsentPart({ path, needs = [] }: UpstreamOperation, spec: Credentials): string | undefined {
  const brace = path.indexOf('{');
  if (brace !== -1 && path.includes('}', brace)) {
    return (
      `the path ${path} is sent as written, because path parameters are not filled in; ` +
      'name another operation, or write the value into the path of an ApiSpec of your own'
    );
  }
  const sent = sentByCredentials(spec);
  const unsent = needs.filter((parameter) => parameter.toLowerCase() !== sent);
  if (unsent.length === 0) return undefined;
  return `needs the parameter ${unsent.join(', ')}, and a step sends none but those of credentials; name another operation`;
}

function sentByCredentials({ credentials }: Credentials): string | undefined {
  if (credentials === undefined) return undefined;
  if ('header' in credentials) return `header ${credentials.header}`.toLowerCase();
  return 'param' in credentials ? `query ${credentials.param}`.toLowerCase() : undefined;
}

/** How many operations lack a parameter when a step calls them, and the ids of the first. */
export interface UnsentOperations {
  readonly count: number;
  readonly first: readonly string[];
}

export function unsentOperations(
  { operations }: Pick<OpenApiIndex, 'operations'>,
  spec: Credentials,
): UnsentOperations {
  const ids = [...operations].flatMap(([id, operation]) => (unsentPart(operation, spec) === undefined ? [] : [id]));
  return { count: ids.length, first: ids.slice(0, namedMost) };
}

const namedMost = 3;
