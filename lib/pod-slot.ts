import { annotations, labels } from '../crds/labels.ts';
import { shortHash } from './ids.ts';
import type { ContainerState, ObjectMeta, Pod } from './kube/index.ts';

/** Which pod of an execution: its state, visit and attempt, and the step of a parallel state. */
export interface PodSlot {
  readonly state: string;
  readonly visit: number;
  readonly attempt: number;
  readonly step?: string;
}

/** The container of every step pod. */
export const stepContainer = 'step';

const longestLabel = 63;
const hashLength = 10;
const validLabel = /^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;

/** A label's value for a name: itself where it is a valid one, otherwise what is valid of it and a hash. */
export function labelValue(name: string): string {
  if (validLabel.test(name)) return name;
  const readable = name.replaceAll(/[^A-Za-z0-9.-]+/g, '-').slice(0, longestLabel - hashLength - 1);
  return `${readable}-${shortHash(name, hashLength)}`.replace(/^[^A-Za-z0-9]+/, '');
}

/** Labels to select a pod by, and annotations with the names as they were written. */
export function slotMetadata({
  state,
  visit,
  attempt,
  step,
}: PodSlot): Required<Pick<ObjectMeta, 'labels' | 'annotations'>> {
  return {
    labels: {
      [labels.state]: labelValue(state),
      [labels.visit]: String(visit),
      [labels.attempt]: String(attempt),
      ...(step === undefined ? {} : { [labels.step]: labelValue(step) }),
    },
    annotations: { [annotations.state]: state, ...(step === undefined ? {} : { [annotations.step]: step }) },
  };
}

/** The slot that a pod's metadata name; undefined for a pod that is no step. */
export function slotOf({ labels: found = {}, annotations: written = {} }: ObjectMeta): PodSlot | undefined {
  const state = written[annotations.state];
  const step = written[annotations.step];
  if (state === undefined) return undefined;
  return {
    state,
    visit: Number(found[labels.visit]),
    attempt: Number(found[labels.attempt]),
    step,
  };
}

/** The state of the container that runs the command. */
export const stepState = (pod: Pod): ContainerState | undefined =>
  pod.status?.containerStatuses?.find(({ name }) => name === stepContainer)?.state;
