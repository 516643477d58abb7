/** Names of labels and of security contexts: letters, digits, and `-_./` between them. */
export const edgeNames = '^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$';
