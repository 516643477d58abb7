import type { limits } from '../../crds/limits.ts';
import { definition } from './limits/workflow.ts';
import { templates } from './limits/templates.ts';
import { execution } from './limits/execution.ts';
import { agents } from './limits/agent.ts';
import { models } from './limits/models.ts';
import { tools } from './limits/registered-tools.ts';
import { edge } from './limits/edge.ts';
import { requests } from './limits/requests.ts';
import type { LimitGroup } from './limits/row.ts';

/** Every ceiling of ours that a user can meet, by what meets it (requirements AMB-192). */
export const limitGroups: readonly LimitGroup[] = [
  definition,
  templates,
  execution,
  agents,
  models,
  tools,
  edge,
  requests,
];

/**
 * The other keys of `crds/limits.ts`: defaults, which the pages of their fields show; bounds of Kubernetes; and
 * values that move from one place to another without anything being refused.
 */
export const notMet: readonly (keyof typeof limits)[] = [
  'apiDocumentPartBytes',
  'cliToolTimeoutSecondsDefault',
  'gitVolumeMbDefault',
  'transitionsDefault',
  'stateVisitsDefault',
  'stateTimeoutDefault',
  'containerTimeoutDefault',
  'workdirDefault',
  'retryAttemptsDefault',
  'retryBackoffDefault',
  'executionTtlSecondsDefault',
  'judgeTimeoutSecondsDefault',
  'judgePollIntervalMsDefault',
  'judgeWeightDefault',
  'minJudgesDefault',
  'consensusThresholdDefault',
  'agreementFactorDefault',
  'selfConfidenceFactorDefault',
  'confidenceThresholdDefault',
  'pageSizeDefault',
  'objectNameLength',
  'workflowVersionsListed',
  'inlineValueBytes',
  'inlineTotalBytes',
  'inlineFinalOutputBytes',
  'statusBytes',
  'idempotencySeconds',
  'storedJsonParts',
  'memoryBytesMin',
  'expiredVolumeSeconds',
  'queueTimeoutDefault',
  'disruptionRetriesMax',
  'inlineRefsBytes',
  'placeholderWarnings',
  'warningLength',
  'answersListed',
  'answerLength',
  'uidLength',
  'annotationBytes',
  'refsPerValue',
  'successors',
  'warnings',
  'fleetConcurrencyDefault',
  'fleetDeadlineSecsDefault',
  'agentWaitLength',
  'fleetOpenOutcomesLength',
  'fleetRecordParts',
  'fleetRunTtlSecondsDefault',
];
