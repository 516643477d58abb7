/** A name that Kubernetes accepts for a namespace and within the name of any object. */
export const labelNamePattern = '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$';

const pattern = new RegExp(labelNamePattern);

export const isLabelName = (text: string): boolean => pattern.test(text);
