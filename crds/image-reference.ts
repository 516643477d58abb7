/**
 * A reference of an image as registries and container runtimes read it (github.com/distribution/reference): an optional
 * host, a path in lower case, an optional tag, an optional digest.
 */
const hostPart = '[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?';
const host = `(${hostPart}([.]${hostPart})*|\\[[a-fA-F0-9:]+\\])(:[0-9]+)?`;
const pathPart = '[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*';
const tag = '[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}';
const digest = '[a-zA-Z][a-zA-Z0-9]*([_+.-][a-zA-Z][a-zA-Z0-9]*)*:[0-9a-fA-F]{32,}';

export const imageReferencePattern = `^(${host}/)?${pathPart}(/${pathPart})*(:${tag})?(@${digest})?$`;
