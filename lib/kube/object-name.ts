/** A name that Kubernetes takes for an object of ours. Other text cannot be part of an address of the API server. */
export const isObjectName = (text: string): boolean => objectName.test(text);

const objectName = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
