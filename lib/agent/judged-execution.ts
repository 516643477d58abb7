import { labels } from '../../crds/labels.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { shortHash } from '../ids.ts';

/** Uid of the execution whose answer this one judges (ADR 0112): the label is written by our accounts alone. */
export const judgedExecution = (execution: AgentExecution | undefined): string | undefined =>
  execution?.spec.parent === undefined ? execution?.metadata.labels?.[labels.parentUid] : undefined;

/** Name of the execution that judges the answer of an iteration. */
export const judgeExecutionName = (judgedUid: string, iteration: number): string =>
  `judge-${shortHash(judgedUid)}-${iteration}`;
