import type { HttpApp } from '../lib/http/index.ts';

/** Header of every answer while no caller is checked (spec 3 §5.3). */
export const bypassHeader = 'X-Seal-Gateway-Auth';

/** The application, whose every answer says that it was given without a check of its caller. */
export function marked(app: HttpApp): HttpApp {
  const headers = { [bypassHeader]: 'disabled' };
  return {
    ...app,
    headers,
    handle(request, response) {
      response.setHeader(bypassHeader, 'disabled');
      return app.handle(request, response);
    },
  };
}
