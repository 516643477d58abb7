import { type Compilable, validateSpec } from '../crds/validators.ts';
import { validateStatus } from './execution/engine/status-problem.ts';

/**
 * The validators that reconciles of these controllers call. A process compiles them before it begins: in a reconcile the
 * first bad Agent of any tenant held the event loop for two compilations.
 */
export const reconcileValidators: readonly Compilable[] = [validateSpec.Workflow, validateSpec.Agent, validateStatus];
