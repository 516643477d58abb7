import { writeAccountKubeconfig } from '../../harness/account-kubeconfig.ts';

/** The kubeconfig of the chart's account for the API: the admission policies trust it to name others as authors. */
export const writeApiKubeconfig = (admin: string, name: string): Promise<string> =>
  writeAccountKubeconfig(admin, 'windlass-api', name);
