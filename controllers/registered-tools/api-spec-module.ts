import type { Condition } from '../../crds/schema/condition.ts';
import type { ApiSpecReason } from '../../crds/conditions.ts';
import { lineOfProblem, type Problem } from '../../crds/problem.ts';
import type { ApiSpec, ApiSpecStatus } from '../../crds/schema/api-spec.ts';
import {
  type ApiDocuments,
  createApiDocuments,
  credentialProblems,
  credentialTargetProblems,
  documentWarnings,
  hasCredentials,
  problemText,
  type UnsentOperations,
  unsentOperations,
} from '../../lib/api-spec/index.ts';
import { AppError, hasReason, WaitError } from '../../lib/errors.ts';
import { apiSpecs } from '../../lib/kinds.ts';
import { createOpenApiReader } from '../../lib/manifest/index.ts';
import { type OpenApiIndex, originOf } from '../../lib/openapi-document/index.ts';
import { visiblePlaces } from '../../lib/tenant/visible-places.ts';
import { defineModule } from '../runtime/module.ts';
import { wakeItself } from '../runtime/wakes.ts';
import { shownWarnings, warningsText } from '../runtime/warnings.ts';
import { writeStatus } from '../runtime/write-status.ts';
import { tenantInformer } from '../tenants.ts';
import { credentialsOf, keptCredentials } from './credentials.ts';
import { apiSpecInformer } from './informers.ts';
import { isCallable, placeVerdict, type ReadyVerdict, readyOf } from './verdict.ts';
import { claimants, inhabitants } from './wakes.ts';
import { workerUrl } from './worker-url.ts';

/** The gateway writes parts of a document behind their object. */
const missingPartsMs = 5_000;

/**
 * Reads the document of each ApiSpec, and says how many operations it has or what is wrong with the ApiSpec. The gateway says
 * whether its credential is there (ADR 0152).
 */
export const apiSpecModule = defineModule({
  kind: 'ApiSpec',
  informers: { specs: apiSpecInformer, tenants: tenantInformer },
  wakes: {
    specs: (change, { specs }) => [...wakeItself(change), ...claimants(change, specs.cache)],
    tenants: (change, { specs }) => inhabitants(change, specs.cache),
  },
  reconcile({ kube, clock, bus, tenants, informers: { specs } }) {
    const reader = createOpenApiReader({ clock, workerUrl: workerUrl() });
    const documents = createApiDocuments({ kube, reader, whole: specs.whole });
    const port = { kube, resource: apiSpecs, cache: specs.cache };
    const now = (): number => clock.now();
    return async (key) => {
      const spec = specs.cache.get(key);
      if (spec === undefined || spec.metadata.deletionTimestamp !== undefined) return;
      const { namespace = '' } = spec.metadata;
      const places = visiblePlaces(namespace);
      const rivals = places.flatMap((place) => specs.cache.byIndex('namespace', place));
      const place = placeVerdict(spec, rivals, isCallable(namespace, tenants));
      const found = place === undefined ? await judgeApiSpec(documents, spec) : { verdict: place };
      const written = await writeStatus(port, spec, statusOf(spec, found, now()));
      if (found.verdict.reason === 'DocumentMissing') throw new WaitError('DocumentMissing', missingPartsMs);
      if (found.verdict.reason !== 'Accepted' || !hasCredentials(spec.spec)) return;
      // Whether the API can be called is written before: the gateway may take long, or not be there.
      const { condition, again } = await credentialsOf({ bus, now }, written);
      await writeStatus(port, written, statusOf(written, found, now(), condition));
      return again;
    };
  },
});

interface Judgement {
  readonly verdict: ReadyVerdict<ApiSpecReason>;
  readonly index?: OpenApiIndex;
  /** None of an object that was refused: its problems say enough. */
  readonly warnings?: readonly Problem[];
}

/** Findings about the fields and the document; temporary errors are thrown. */
export async function judgeApiSpec(documents: Pick<ApiDocuments, 'read'>, spec: ApiSpec): Promise<Judgement> {
  const wrong = credentialProblems(spec.spec);
  if (wrong.length > 0) return { verdict: { reason: 'InvalidDefinition', message: problemText(wrong) } };
  try {
    const { index, problems } = await documents.read(spec);
    if (index === undefined) return { verdict: { reason: 'InvalidDocument', message: problemText(problems) } };
    const homeless = credentialTargetProblems(spec.spec, index);
    if (homeless.length > 0) return { verdict: { reason: 'InvalidDefinition', message: problemText(homeless) }, index };
    const unsent = unsentOperations(index, spec.spec);
    const verdict = { reason: 'Accepted', message: acceptedText(spec, index, unsent) } as const;
    return { verdict, index, warnings: documentWarnings(index, unsent) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (hasReason(error, 'DocumentMissing')) return { verdict: { reason: 'DocumentMissing', message: error.message } };
    if (error.code === 'limit_exceeded') return { verdict: { reason: 'InvalidDocument', message: error.message } };
    throw error;
  }
}

/** Says of how many operations parameters or the credentials are not sent: credentials are for one server. */
function acceptedText({ spec }: ApiSpec, { operations, home }: OpenApiIndex, { count }: UnsentOperations): string {
  const without = count === 0 ? '' : `, ${count} of them without the parameters that they need`;
  const callable = `${operations.size} ${operations.size === 1 ? 'operation' : 'operations'} can be called${without}`;
  if (!hasCredentials(spec)) return callable;
  const away = [...operations.values()].filter(({ server }) => originOf(server) !== home).length;
  return away === 0 ? callable : `${callable}, ${away} of them without the credentials, which are for ${home}`;
}

/** An ApiSpec that cannot be called needs no credential. */
const conditionOf = ({ reason }: Judgement['verdict'], credentials: Condition | undefined): Condition[] =>
  reason === 'Accepted' && credentials !== undefined ? [credentials] : [];

export function statusOf(
  spec: ApiSpec,
  { verdict, index, warnings: found = [] }: Judgement,
  now: number,
  credentials = keptCredentials(spec).condition,
): ApiSpecStatus {
  const warnings = shownWarnings(found.map(lineOfProblem));
  const message = `${verdict.message}${warningsText(warnings)}`;
  return {
    observedGeneration: spec.metadata.generation ?? 0,
    conditions: [readyOf(spec, { ...verdict, message }, now), ...conditionOf(verdict, credentials)],
    ...(index && { title: index.title, openapi: index.openapi, operations: index.operations.size }),
    ...(index?.server !== undefined && { server: index.server }),
    ...(spec.spec.document_parts && { sha256: spec.spec.document_parts.sha256 }),
    ...(warnings.length > 0 && { warnings }),
  };
}
