/**
 * Components whose Events say why a pod does not begin, by the name under which they report. An admission policy keeps
 * the names from other writers in the namespaces of tenants.
 */
export const podReporters = ['kubelet', 'attachdetach-controller'] as const;
