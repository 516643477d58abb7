import type { Clock } from '../../../lib/clock.ts';
import type { OutputReader } from '../../../lib/execution/output-reader.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import type { BackendWords } from '../backend.ts';

/** The cluster and namespace that the user's kubeconfig and flags name. */
export interface CliCluster {
  readonly kube: KubeClient;
  readonly outputs: OutputReader;
  readonly namespace: string;
}

export interface KubernetesDeps extends CliCluster {
  readonly clock: Clock;
  readonly words: BackendWords;
}
