import type { Visit } from '../../crds/schema/workflow-execution-status.ts';
import type { Terminal } from '../terminal.ts';
import type { Coverage } from './coverage.ts';
import type { RenderedState, Simulated } from './simulation.ts';

type Out = Pick<Terminal, 'out'>;

/** The run for programs. */
export function shown({ status, finalOutput, renderings }: Simulated) {
  const { phase, reason, message, history = [], warnings = [] } = status;
  return { phase, reason, message, history, renderings, final_output: finalOutput, warnings };
}

/** The path, what each state was given, and how the run ended. */
export function reportRun({ out }: Out, { status, finalOutput, renderings }: Simulated): void {
  for (const visit of status.history ?? []) {
    out(visitLine(visit));
    const own = renderings.filter(({ state, visit: number }) => state === visit.state && number === visit.visit);
    for (const line of own.flatMap(renderingLines)) out(`    ${line}`);
  }
  out(endOf(status));
  for (const warning of status.warnings ?? []) out(`warning: ${warning}`);
  if (finalOutput !== null) out(JSON.stringify(finalOutput, undefined, 2));
}

function endOf({ phase, reason = '', message = '' }: Simulated['status']): string {
  return phase === 'completed' && reason === 'Completed' ? phase : `${phase}: ${reason} ${message}`.trimEnd();
}

function visitLine({ state, kind, visit, status, reason, attempts = 1, rule, target, signal }: Visit): string {
  const parts = [
    visit === 1 ? state : `${state} (visit ${visit})`,
    kind,
    signal === undefined ? (reason ?? status) : signal.response,
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(target === undefined ? [] : [`→ ${target} (rule ${rule ?? 0})`]),
  ];
  return parts.join('  ');
}

function renderingLines({ step, command, env = {}, prompt, intent, input }: RenderedState): string[] {
  const name = step === undefined ? '' : `${step}: `;
  return [
    ...(command === undefined ? [] : [`${name}command ${JSON.stringify(command)}`]),
    ...Object.entries(env).map(([key, value]) => `${name}env ${key}=${JSON.stringify(value)}`),
    ...(prompt === undefined ? [] : [`prompt ${JSON.stringify(prompt)}`]),
    ...(intent === undefined ? [] : [`${name}intent ${JSON.stringify(intent)}`]),
    ...(input === undefined ? [] : [`${name}input ${JSON.stringify(input)}`]),
  ];
}

export function reportEnds(
  { out }: Out,
  coverage: Coverage,
  about: { readonly runs: number; readonly seed: number },
): void {
  out(`${about.runs} runs with seed ${about.seed}`);
  const ends = [...coverage.ends].toSorted(([, one], [, other]) => other - one);
  for (const [end, count] of ends) out(`  ${String(count).padStart(String(about.runs).length)}  ${end}`);
}

export function reportCoverage({ out }: Out, coverage: Coverage, runs: number): void {
  const where = runs === 1 ? 'in this run' : 'in any run';
  for (const state of coverage.unreachedStates()) out(`state '${state}' was not entered ${where}`);
  for (const { state, rule, condition, target } of coverage.unmatchedRules()) {
    out(`rule ${rule} of '${state}' (${condition} → ${target}) did not match ${where}`);
  }
}
