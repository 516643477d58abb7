import { runAttempts } from '../engine/attempts.ts';
import { containerPlan } from '../engine/container-plan.ts';
import type { StateHandler } from '../engine/state-handler.ts';

/** One command in a pod, tried again as `retry` says (spec 1 §2.6, kind ContainerRun). */
export const containerRun: StateHandler<'ContainerRun'> = (draft, state, current) =>
  runAttempts(draft, current, state, (visit) => containerPlan(draft, visit, state));
