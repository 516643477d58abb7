import type { Clock } from '../../lib/clock.ts';
import type { Informer } from '../../lib/informer/index.ts';
import type { KubeClient, Pod } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { onGone } from '../runtime/on-gone.ts';
import { type Captures, createCaptures } from './captures.ts';
import { createPodNotes, type PodNotes } from './pod-notes.ts';
import { begunAt } from './pod-waiting.ts';

interface PodReaderDeps {
  readonly kube: Pick<KubeClient, 'readLog' | 'list'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pods: Pick<Informer<Pod>, 'onChange'>;
  /** Called when something new is known of a pod. */
  readonly onNews: (pod: Pod) => void;
  /** Ends everything that is under way. */
  readonly signal: AbortSignal;
}

/** Reader of pods: the output of their command, and the Events of those that wait. Nothing is read before `follow`. */
export interface PodReader extends Pick<Captures, 'outcomeOf' | 'giveBack' | 'forget'>, Pick<PodNotes, 'noteOf'> {
  /** Begins to read, or continues. Call it with each newer version of the pod; `onNews` receives the result. */
  follow(pod: Pod, source: 'log' | 'events'): void;
}

/** Forgets by itself what it knows of a pod that is gone, and the Events of one that runs. */
export function createPodReader({ pods, onNews, ...deps }: PodReaderDeps): PodReader {
  const captures = createCaptures({ ...deps, onKnown: onNews });
  const notes = createPodNotes({ ...deps, onNews });
  pods.onChange(({ after }) => {
    if (after !== undefined && begunAt(after) !== undefined) notes.forget(after.metadata.uid ?? '');
  });
  onGone(pods, (uid) => {
    captures.forget(uid);
    notes.forget(uid);
  });
  return {
    outcomeOf: (pod) => captures.outcomeOf(pod),
    noteOf: (pod) => notes.noteOf(pod),
    giveBack: (uid) => captures.giveBack(uid),
    forget: (uid) => captures.forget(uid),
    follow: (pod, source) => (source === 'log' ? captures.follow(pod) : notes.follow(pod)),
  };
}
