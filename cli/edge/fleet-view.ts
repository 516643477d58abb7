import { formatElapsed } from '../duration.ts';
import { fitLine } from '../fit-line.ts';
import { frameMs, frames } from '../spinner.ts';
import { type Line, type Span, span, type Tone } from '../terminal.ts';
import { padText, printable, textWidth } from '../text-width.ts';
import type { FleetState, HostPhase, HostProgress } from './fleet-state.ts';

interface FleetViewSize {
  readonly columns: number;
  readonly rows: number;
}

interface Head {
  /** Text of the tool, such as `cmd.run uptime`. */
  readonly title: string;
  readonly startedAt: number;
}

/**
 * The hosts of a run at the moment `now` (milliseconds since the epoch): a head line, then a line a host, those first
 * that run or failed where not all fit. Pure.
 */
export function fleetView(state: FleetState, head: Head, now: number, { columns, rows }: FleetViewSize): Line[] {
  const hosts = [...state.hosts.values()];
  const room = Math.max(1, rows - 3);
  const shown = hosts.length <= room ? hosts : hosts.toSorted(byInterest).slice(0, room);
  const width = Math.max(0, ...shown.map(({ name }) => textWidth(printable(name))));
  const hidden = hosts.length - shown.length;
  const lines: Line[] = [
    [
      span(printable(head.title), 'bold'),
      span(`  ${countsText(hosts)}  ${formatElapsed(now - head.startedAt)}`, 'dim'),
    ],
    ...shown.map((host) => hostLine(host, now, width)),
    ...(hidden > 0 ? [[span(`  … ${hidden} more hosts`, 'dim')]] : []),
    ...(state.error === undefined ? [] : [[span(printable(`  ${state.error.reason}: ${state.error.message}`), 'bad')]]),
  ];
  return lines.map((line) => fitLine(line, columns));
}

const interest: Readonly<Record<HostPhase, number>> = {
  err: 0,
  timed_out: 0,
  running: 1,
  cancelled: 2,
  waiting: 3,
  not_started: 4,
  ok: 5,
};
const byInterest = (a: HostProgress, b: HostProgress): number => interest[a.phase] - interest[b.phase];

/** `2 ok, 1 err, 3 waiting`: only what there is. */
export function countsText(hosts: readonly HostProgress[]): string {
  const counts = new Map<string, number>();
  for (const { phase } of hosts) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  return [...counts].map(([phase, count]) => `${count} ${words[phase as HostPhase]}`).join(', ') || 'no hosts';
}

const words: Readonly<Record<HostPhase, string>> = {
  waiting: 'waiting',
  running: 'running',
  ok: 'ok',
  err: 'failed',
  timed_out: 'timed out',
  cancelled: 'cancelled',
  not_started: 'not started',
};

const signs: Readonly<Record<HostPhase, readonly [string, Tone]>> = {
  waiting: ['·', 'dim'],
  running: ['', 'busy'],
  ok: ['✔', 'good'],
  err: ['✘', 'bad'],
  timed_out: ['✘', 'bad'],
  cancelled: ['⊘', 'wait'],
  not_started: ['–', 'dim'],
};

function hostLine(host: HostProgress, now: number, width: number): Line {
  const [sign, tone] = signOf(host, now);
  return [
    span('  '),
    span(sign, tone),
    span(` ${padText(printable(host.name), width)}  `),
    span(padText(words[host.phase], 11), tone),
    ...exitSpans(host),
    span(`  ${printable(host.said)}`.trimEnd(), 'dim'),
  ];
}

function signOf({ phase, exitCode = 0 }: HostProgress, now: number): readonly [string, Tone] {
  if (phase === 'running') return [frames[Math.floor(now / frameMs) % frames.length] ?? '', 'busy'];
  return phase === 'ok' && exitCode !== 0 ? ['✘', 'bad'] : signs[phase];
}

function exitSpans({ exitCode, durationMs }: HostProgress): Span[] {
  const exit = exitCode === undefined || exitCode === 0 ? [] : [span(`  exit code ${exitCode}`, 'bad')];
  return durationMs === undefined ? exit : [span(`  ${formatElapsed(durationMs)}`, 'dim'), ...exit];
}
