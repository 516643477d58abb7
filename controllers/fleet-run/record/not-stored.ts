import type { FleetRunReason } from '../../../crds/conditions.ts';
import { KubeError } from '../../../lib/kube/index.ts';
import type { StatedReason } from '../status.ts';

/** Why a run waits whose targets or outcomes the API server stores nowhere. */
export const notStored = (what: 'targets' | 'outcomes', { serverMessage }: KubeError): StatedReason => ({
  reason: 'RecordNotStored' satisfies FleetRunReason,
  message: `the run waits until its ${what} can be stored: ${serverMessage}`,
});

/** Whether the API server stores nothing here, such as for want of room in a quota. */
export const isNotStored = (error: unknown): error is KubeError => error instanceof KubeError && error.status === 403;
