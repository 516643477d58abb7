import { podReporters } from '../../crds/pod-reporters.ts';
import type { Clock } from '../../lib/clock.ts';
import { cutMiddle } from '../../lib/cut-text.ts';
import { createFairPool, type FairPool, type PoolPart } from '../../lib/fair-pool.ts';
import { type Event, events, type KubeClient, type Pod } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { stepPodLimits } from './limits.ts';

interface PodNotesDeps {
  readonly kube: Pick<KubeClient, 'list'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the Events of a pod say something new. */
  readonly onNews: (pod: Pod) => void;
  readonly signal: AbortSignal;
}

/** Kubernetes' Events on pods that wait: which volume cannot be mounted, which Secret is missing. */
export interface PodNotes {
  /** The newest word, where there is one. */
  noteOf(pod: Pod): string | undefined;
  /** Looks for news of the pod again and again, until it is forgotten. */
  follow(pod: Pod): void;
  /** Forgets a pod that waits no more, or is gone. */
  forget(uid: string): void;
}

interface Entry {
  pod: Pod;
  text?: string;
  /** Looks so far; the pauses between them grow. */
  looks: number;
  readonly stop: AbortController;
}

/**
 * A pod that waits is looked at ever more rarely. Each look lists Events, which the API server reads from its store, so
 * the looks of a namespace take turns: one a second where it is alone.
 */
export function createPodNotes(deps: PodNotesDeps): PodNotes {
  const entries = new Map<string, Entry>();
  const pool = createFairPool({ ...stepPodLimits.notePlaces, clock: deps.clock });
  const begin = (uid: string, pod: Pod): Entry => {
    const entry: Entry = { pod, looks: 0, stop: new AbortController() };
    entries.set(uid, entry);
    void lookAgain(deps, pool, entry);
    return entry;
  };
  return {
    noteOf: ({ metadata: { uid = '' } }) => entries.get(uid)?.text,
    follow(pod) {
      const { uid = '' } = pod.metadata;
      const entry = entries.get(uid) ?? begin(uid, pod);
      entry.pod = pod;
    },
    forget(uid) {
      entries.get(uid)?.stop.abort();
      entries.delete(uid);
    },
  };
}

async function lookAgain(deps: PodNotesDeps, pool: FairPool, entry: Entry): Promise<void> {
  const signal = AbortSignal.any([deps.signal, entry.stop.signal]);
  const { noteAfterMs } = stepPodLimits;
  while (!signal.aborted) {
    const delayMs = noteAfterMs[Math.min(entry.looks, noteAfterMs.length - 1)] ?? 0;
    await deps.clock.sleep(delayMs, signal);
    const place = await turnOf(pool, entry, signal);
    if (place === undefined) continue;
    entry.looks += 1;
    await tryLook(deps, entry, signal);
    void deps.clock.sleep(stepPodLimits.notePlaceMs, deps.signal).then(() => place.leave());
  }
}

/** However long the line is: one that left it would lose its place to those that come later. */
async function turnOf(pool: FairPool, { pod }: Entry, signal: AbortSignal): Promise<PoolPart | undefined> {
  if (signal.aborted) return undefined;
  return pool
    .enter({ tenant: pod.metadata.namespace ?? '', signal, waitMs: stepPodLimits.noteTurnMs })
    .catch(() => undefined);
}

async function tryLook(deps: PodNotesDeps, entry: Entry, signal: AbortSignal): Promise<void> {
  try {
    const text = await look(deps, entry.pod, signal);
    if (signal.aborted || text === undefined || text === entry.text) return;
    entry.text = text;
    deps.onNews(entry.pod);
  } catch (error) {
    if (!signal.aborted) deps.logger.debug({ err: error, pod: entry.pod.metadata.name }, 'events of a pod not read');
  }
}

/** Kept for each reporter by itself: a tenant may write any number of other Events about the pod. */
async function look({ kube }: PodNotesDeps, pod: Pod, signal: AbortSignal): Promise<string | undefined> {
  const { metadata } = pod;
  const found: Event[] = [];
  for (const reporter of reportersOf(pod)) {
    const { items } = await kube.list(events, {
      namespace: metadata.namespace ?? '',
      fieldSelector: `regarding.uid=${metadata.uid ?? ''},reportingController=${reporter}`,
      limit: stepPodLimits.noteEvents,
      answerBytes: stepPodLimits.noteEventsBytes,
      signal,
    });
    found.push(...items);
  }
  return newest(found);
}

const [kubelet] = podReporters;

/** Only volumes from elsewhere are attached to a node; their kind of source is the member beside the name. */
const reportersOf = ({ spec: { volumes = [] } }: Pod): readonly string[] =>
  volumes.some((volume) => !Object.keys(volume).some((key) => localVolumes.has(key))) ? podReporters : [kubelet];

const localVolumes: ReadonlySet<string> = new Set([
  'emptyDir',
  'image',
  'secret',
  'configMap',
  'projected',
  'downwardAPI',
]);

/** Progress that the next word follows at once: to show it is a write of status for nothing. It ends a pull that was shown. */
const passing: ReadonlySet<string> = new Set(['Scheduled', 'Pulled', 'Created', 'Started']);

/** Trouble counts for more than progress; of each kind the newest. */
export function newest(items: readonly Event[]): string | undefined {
  const byTime = [...items].sort((a, b) => timeOf(a) - timeOf(b));
  const event = byTime.findLast(({ type }) => type === 'Warning') ?? byTime.at(-1);
  return event === undefined || passing.has(event.reason)
    ? undefined
    : cutMiddle(`${event.reason ?? ''}: ${event.note ?? ''}`, stepPodLimits.noteLength);
}

/** Events of older components have their times in other fields. */
const timeOf = ({ eventTime, deprecatedLastTimestamp, metadata }: Event): number =>
  Date.parse(deprecatedLastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '') || 0;
