import { limits } from '../../../crds/limits.ts';
import type { StateOf } from '../../../crds/schema/state.ts';
import { runAttempts } from '../engine/attempts.ts';
import type { Draft } from '../engine/draft.ts';
import { noOutput, type PlannedMount, type PlanOrFailure } from '../../step-pods/step.ts';
import { containerResult, withTwins, type StateHandler, type VisitUpdate } from '../engine/state-handler.ts';
import { processFailure } from '../engine/process-bounds.ts';
import type { CurrentVisit } from '../engine/reduce.ts';
import { renderText, templateScope } from '../engine/scope.ts';
import { callTool } from './call-tool.ts';
import { commandTimeoutMs, mountableClaim, renderEnv, shellArgv } from './container-run.ts';

/** A shell command in a pod with the workspace; `update_context`, `finalize` and `call_tool` need no process (AMB-075, AMB-076). */
export const system: StateHandler<'System'> = (draft, state, current) => {
  const command = state.command.trim();
  if (command === 'update_context') return succeeded(renderEnv(draft, state.env, templateScope(draft)));
  if (command === 'finalize') return succeeded();
  if (command === 'call_tool') return callTool(draft, state, current);
  return runAttempts(draft, current, state, (visit) => systemPlan(draft, state, visit));
};

/** How a command without a process ends: exit code 0 and no output. */
function succeeded(writes: Readonly<Record<string, string>> = {}): VisitUpdate {
  const entry = withTwins('success', containerResult({ ...noOutput, exitCode: 0 }));
  return { outcome: { entry, exitCode: 0, writes } };
}

function systemPlan(draft: Draft, state: StateOf<'System'>, current: CurrentVisit): PlanOrFailure {
  const scope = templateScope(draft);
  const workdir = state.workdir ?? limits.workdirDefault;
  const mounts: PlannedMount[] = [];
  if (draft.spec.storage?.workspace !== undefined) {
    const claim = mountableClaim(draft.facts.volumes['workspace'], 'workspace');
    if (typeof claim !== 'string') return { failure: claim };
    mounts.push({ claim, mountPath: limits.workdirDefault, readOnly: false });
  }
  const argv = shellArgv(renderText(draft, state.command, scope));
  const env = renderEnv(draft, state.env, scope);
  const failure = processFailure(argv, env);
  if (failure !== undefined) return { failure };
  return {
    imagePullPolicy: 'IfNotPresent',
    argv,
    env,
    workdir,
    mounts,
    timeoutMs: commandTimeoutMs(draft, current, state.timeout ?? limits.stateTimeoutDefault),
  };
}
