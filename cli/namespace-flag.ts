/**
 * ` -n NAMESPACE`, to follow a command that the user is shown: it then works whatever namespace the context of the
 * kubeconfig names. Nothing for an object without a namespace.
 */
export function namespaceFlag({ namespace }: { readonly namespace?: string | undefined }): string {
  return namespace === undefined ? '' : ` -n ${namespace}`;
}
