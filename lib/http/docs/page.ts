/**
 * The browsable reference: a component that reads the OpenAPI document and can call the operations. Its lists show method
 * and path, and its forms hold each default and example, so that an operation runs as shown.
 */
export const docsPage = (title: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<script type="module" src="/docs/openapi-explorer.js"></script>
</head>
<body>
<openapi-explorer spec-url="/openapi.json" use-path-in-nav-bar></openapi-explorer>
<noscript>This page needs JavaScript. The document it shows is at <a href="/openapi.json">/openapi.json</a>.</noscript>
</body>
</html>
`;

/** Only scripts of this server run, and they call no other server. The component styles its elements one by one. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
