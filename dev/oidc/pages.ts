/** Pages of the provider: plain, and without anything from elsewhere. `body` is HTML. */
function renderPage(title: string, body: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 22rem; margin: 3rem auto; padding: 0 1rem }
  label { display: block; margin-bottom: 1rem }
  input { display: block; width: 100%; font: inherit; padding: .3rem; box-sizing: border-box }
  button { font: inherit; padding: .3rem 1rem }
  code { font-size: 2rem }
</style>
</head>
<body>
<h1>${title}</h1>
${body}
</body>
</html>
`;
}

export const signInPage = renderPage(
  'Sign in',
  `<p>This provider is for development: it believes whatever you say.</p>
<form method="post">
  <label>Name <input name="user" value="anna" required autofocus></label>
  <label>Tenant <input name="tenant" value="demo"></label>
  <label>Roles <input name="roles" value="" placeholder="svc:operator"></label>
  <button>Continue</button>
</form>`,
);

/** Asks for the code that the device shows. `form` comes from the provider. */
export function codePage(form: string, failed: boolean): string {
  const text = failed ? 'There is no such code, or it is used up.' : 'Which code does your device show?';
  return renderPage('Sign a device in', `<p>${text}</p>${form}<button form="op.deviceInputForm">Continue</button>`);
}

/** Asks whether the code is the one that the device shows. */
export function confirmPage(form: string, code: string): string {
  const buttons = `<button form="op.deviceConfirmForm" autofocus>Yes</button>
<button form="op.deviceConfirmForm" name="abort" value="yes">No</button>`;
  return renderPage(
    'Sign a device in',
    `<p>Does your device show this code?</p><p><code>${code}</code></p>${form}${buttons}`,
  );
}

export const signedInPage = renderPage('Signed in', '<p>Your device is signed in. You may close this page.</p>');
